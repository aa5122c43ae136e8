# SPDX-License-Identifier: Apache-2.0
# Programs for the simulated machine: C compiled for the build host, whose loads and stores call the machine's
# runtime (machine/program/) and whose basic blocks pay for their instructions (scripts/instrument/).
#
# bulkhead_instrumented(NAME SOURCES file... [PORTABLE file...] [COMMON file...] [INCLUDE dir...] [COMMON_INCLUDE dir...]
#                       [DEFINE macro...] [COMMON_DEFINE macro...] [DATA_OFFSET bytes] [LAYOUT script] [IMAGE file]
#                       [OPTIONS flag...] [LINK_OPTIONS flag...] [LINK_DEPENDS file...])
#
# Makes the target NAME and its file NAME.image, or IMAGE, whose path is the target's property BULKHEAD_IMAGE. The
# entry is `main`. DATA_OFFSET: where the data begin, from the window's first address; unsaid, they follow the text.
# LAYOUT: a linker script that says so itself.
# PORTABLE: those of the sources, as they are named there, that need no INCLUDE and no DEFINE: the same for all programs.
# COMMON: those that are the same for several programs of the caller: they get COMMON_INCLUDE and COMMON_DEFINE only, which
# all others get besides INCLUDE, DEFINE and OPTIONS.
# The functions that a program may call without having them are in machine/program/calls.h.
#
# x86-64 with gcc only: on another host BULKHEAD_HAS_INSTRUMENTED is off and the caller leaves out what needs it.

set(BULKHEAD_HAS_INSTRUMENTED OFF)
if(NOT BULKHEAD_TARGET AND NOT BULKHEAD_FUZZ AND CMAKE_C_COMPILER_ID STREQUAL "GNU"
    AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    set(BULKHEAD_HAS_INSTRUMENTED ON)
endif()

set(BULKHEAD_INSTRUMENTED_FLAGS
    -std=gnu11 -O2 -ffreestanding -fno-builtin -fPIC -fvisibility=hidden -fno-plt
    # Callbacks for accesses; no fences in the code itself, the runtime does atomics.
    -fsanitize=thread --param tsan-instrument-func-entry-exit=0 --param tsan-distinguish-volatile=1 -Wno-tsan
    # A copy of a structure is counted by its callback; as a call of memcpy it would be counted twice.
    -minline-all-stringops -fno-tree-loop-distribute-patterns
    # What the build step needs for its own instructions.
    -ffixed-r10 -ffixed-r11 -mno-red-zone
    -fno-stack-protector -fno-asynchronous-unwind-tables -fcf-protection=none -fno-common)

# Here and not for each program: every build looks at each such list anew.
file(GLOB BULKHEAD_INSTRUMENT CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/scripts/instrument/*.py)

function(bulkhead_instrumented name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "DATA_OFFSET;LAYOUT;IMAGE" "SOURCES;PORTABLE;COMMON;INCLUDE;COMMON_INCLUDE;DEFINE;COMMON_DEFINE;OPTIONS;LINK_OPTIONS;LINK_DEPENDS")
    set(warnings -Wall -Wextra -Wconversion -Wshadow -Werror)
    get_target_property(layout_header_dir bulkhead_layout INTERFACE_INCLUDE_DIRECTORIES)
    set(all_options ${BULKHEAD_INSTRUMENTED_FLAGS} ${warnings} -I${PROJECT_SOURCE_DIR} -I${layout_header_dir})
    list(TRANSFORM arg_INCLUDE PREPEND -I)
    list(TRANSFORM arg_COMMON_INCLUDE PREPEND -I)
    list(TRANSFORM arg_DEFINE PREPEND -D)
    list(TRANSFORM arg_COMMON_DEFINE PREPEND -D)
    set(portable_options ${all_options} ${arg_OPTIONS})
    set(common_options ${all_options} ${arg_COMMON_INCLUDE} ${arg_COMMON_DEFINE})
    set(own_options ${common_options} ${arg_INCLUDE} ${arg_DEFINE} ${arg_OPTIONS})

    set(objects "")
    foreach(source IN LISTS arg_SOURCES)
        set(options ${own_options})
        if(source IN_LIST arg_PORTABLE)
            set(options ${portable_options})
        elseif(source IN_LIST arg_COMMON)
            set(options ${common_options})
        endif()
        # One object for all programs that compile a source alike, in the directory that stands for the options.
        string(MD5 alike "${options}")
        set(directory ${CMAKE_BINARY_DIR}/instrumented/${alike})
        file(MAKE_DIRECTORY ${directory})
        cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
        file(RELATIVE_PATH part ${PROJECT_SOURCE_DIR} ${source})
        string(REGEX REPLACE "[^A-Za-z0-9_.-]" "_" part ${part})
        set(object ${directory}/${part}.o)
        list(APPEND objects ${object})
        get_property(known GLOBAL PROPERTY BULKHEAD_INSTRUMENTED_OBJECTS)
        if(object IN_LIST known)
            continue()
        endif()
        set_property(GLOBAL APPEND PROPERTY BULKHEAD_INSTRUMENTED_OBJECTS ${object})
        add_custom_command(
            OUTPUT ${object}
            COMMAND ${CMAKE_C_COMPILER} ${options} -S -MD -MF ${object}.d -MT ${object}
                -o ${directory}/${part}.compiled.s ${source}
            COMMAND ${BULKHEAD_PYTHON} -S -X pycache_prefix=${PROJECT_SOURCE_DIR}/build/pycache -m instrument.charge
                ${directory}/${part}.compiled.s ${directory}/${part}.charged.s
            COMMAND ${CMAKE_C_COMPILER} -c -o ${object} ${directory}/${part}.charged.s
            WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/scripts # where Python finds the module
            DEPENDS ${source} ${BULKHEAD_INSTRUMENT}
            DEPFILE ${object}.d
            COMMENT "Instrumenting ${part}"
            VERBATIM COMMAND_EXPAND_LISTS)
    endforeach()

    set(layout ${PROJECT_SOURCE_DIR}/machine/program/instrumented.ld)
    if(arg_LAYOUT)
        set(layout ${arg_LAYOUT})
    endif()
    set(link -shared -nostdlib -Wl,-T,${layout} -Wl,--build-id=none -Wl,--hash-style=sysv -Wl,-Bsymbolic
        -Wl,-z,noexecstack -Wl,--no-warn-rwx-segments -Wl,-z,max-page-size=4096 ${arg_LINK_OPTIONS})
    if(arg_DATA_OFFSET)
        list(APPEND link -Wl,--defsym=machine_data_offset=${arg_DATA_OFFSET})
    endif()
    set(image ${CMAKE_CURRENT_BINARY_DIR}/${name}.image)
    if(arg_IMAGE)
        set(image ${arg_IMAGE})
        cmake_path(GET image PARENT_PATH image_directory)
        file(MAKE_DIRECTORY ${image_directory})
    endif()
    add_custom_command(
        OUTPUT ${image}
        COMMAND ${CMAKE_C_COMPILER} ${link} -o ${image} ${objects}
        DEPENDS ${objects} ${layout} ${arg_LINK_DEPENDS}
        COMMENT "Linking ${name}.image"
        VERBATIM COMMAND_EXPAND_LISTS)
    add_custom_target(${name} DEPENDS ${image})
    add_dependencies(${name} bulkhead_layout_header)
    set_target_properties(${name} PROPERTIES BULKHEAD_IMAGE ${image})
    set_property(GLOBAL APPEND PROPERTY BULKHEAD_IMAGES ${name})
endfunction()
