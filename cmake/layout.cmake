# SPDX-License-Identifier: Apache-2.0
# The binary contract between the Python tool and the hypervisor as a C header: schema/manifest.yaml goes in,
# generated/bulkhead_layout.h comes out. Link `bulkhead_layout` to include it; it is made before anything
# that does is compiled.

set(venv_python ${PROJECT_SOURCE_DIR}/build/venv/bin/python)
if(BULKHEAD_WHEEL)
    set(default_python ${Python_EXECUTABLE}) # the one that the package is built for
elseif(EXISTS ${venv_python})
    set(default_python ${venv_python})
else()
    find_program(default_python python3 REQUIRED)
endif()
set(BULKHEAD_PYTHON ${default_python} CACHE FILEPATH "Python with the project's requirements")

function(bulkhead_layout)
    set(schema ${PROJECT_SOURCE_DIR}/schema/manifest.yaml)
    set(directory ${CMAKE_BINARY_DIR}/generated)
    set(header ${directory}/bulkhead_layout.h)
    file(GLOB_RECURSE generator CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/bulkhead/schema*.py
        ${PROJECT_SOURCE_DIR}/src/bulkhead/schema/*.py)
    file(MAKE_DIRECTORY ${directory})
    add_custom_command(
        OUTPUT ${header}
        # Before what is there: the build of the Python package finds what it requires by it.
        COMMAND ${CMAKE_COMMAND} -E env --modify PYTHONPATH=path_list_prepend:${PROJECT_SOURCE_DIR}/src
            ${BULKHEAD_PYTHON} -m bulkhead.schema header ${schema} ${header}
        DEPENDS ${schema} ${generator}
        COMMENT "Generating bulkhead_layout.h"
        VERBATIM)
    add_custom_target(bulkhead_layout_header DEPENDS ${header})
    add_library(bulkhead_layout INTERFACE)
    target_include_directories(bulkhead_layout INTERFACE ${directory})
    add_dependencies(bulkhead_layout bulkhead_layout_header)
endfunction()

bulkhead_layout()
