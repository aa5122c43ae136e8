# SPDX-License-Identifier: Apache-2.0
# bulkhead_python_module(TARGET NAME SOURCES … LINK …): a module NAME for the Python that the tool runs in, beside the
# other things of the host build. Without nanobind (no environment yet) there is none.

execute_process(
    COMMAND ${BULKHEAD_PYTHON} -m nanobind --cmake_dir
    OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
    RESULT_VARIABLE BULKHEAD_WITHOUT_NANOBIND)
if(BULKHEAD_WITHOUT_NANOBIND)
    message(STATUS "no nanobind in ${BULKHEAD_PYTHON}: no bindings")
else()
    set(Python_EXECUTABLE ${BULKHEAD_PYTHON})
    find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
    find_package(nanobind CONFIG REQUIRED)
endif()

function(bulkhead_python_module target name)
    if(BULKHEAD_WITHOUT_NANOBIND)
        return()
    endif()
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "SOURCES;LINK")
    nanobind_add_module(${target} NB_STATIC NOMINSIZE NB_SUPPRESS_WARNINGS ${arg_SOURCES})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name})
    # nanobind's own sources, which all modules link: one unit takes a third of the time of one each.
    set_target_properties(nanobind-static PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
    set_property(GLOBAL APPEND PROPERTY BULKHEAD_PYTHON_MODULES ${target})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(${target} PRIVATE ${arg_LINK} bulkhead_warnings_cxx)
endfunction()
