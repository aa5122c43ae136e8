# SPDX-License-Identifier: Apache-2.0
# Functions for what runs on one board: libraries of a processor, components, and systems, which are a kernel with
# the components' code behind it.

set(microkernel ${CMAKE_CURRENT_LIST_DIR})
get_filename_component(repository ${microkernel}/.. ABSOLUTE)
set(kernel_sources boot.c cap.c console.c description.c info.c life.c memory.c report.c syscall.c)
list(TRANSFORM kernel_sources PREPEND ${microkernel}/kernel/)
# What of core/ the kernel has, and what the memory manager has in addition.
set(kernel_core_sources crc32.c mxu.c mxu_eviction.c mxu_frames.c mxu_list.c mxu_mpu.c mxu_paths.c mxu_regions.c mxu_trie.c)
set(manager_core_sources mxu_admission.c mxu_attach.c mxu_crossing.c mxu_memory.c mxu_tables.c mxu_tlb.c)
list(TRANSFORM kernel_core_sources PREPEND ${repository}/core/)
list(TRANSFORM manager_core_sources PREPEND ${repository}/core/)

# microkernel_target(NAME): flags of everything for the board; the caller's directory has set CPU_FLAGS.
function(microkernel_target name)
    target_include_directories(${name} PRIVATE ${repository} ${microkernel}/board/${BOARD} ${microkernel}/arch/${ARCH}/include)
    target_link_libraries(${name} PRIVATE bulkhead_warnings_c)
    target_compile_options(${name} PRIVATE ${CPU_FLAGS} -ffreestanding -fno-stack-protector -fno-unwind-tables
        -fno-asynchronous-unwind-tables -ffunction-sections -fdata-sections
        $<$<COMPILE_LANGUAGE:C>:-fno-tree-loop-distribute-patterns>)
endfunction()

set(link_options -nostdlib -static -Wl,--build-id=none -Wl,--fatal-warnings -Wl,-z,noexecstack -Wl,--no-warn-rwx-segments)
# microkernel_link(NAME SCRIPT ...): what all links have in common.
function(microkernel_link name script)
    target_link_options(${name} PRIVATE ${CPU_FLAGS} ${link_options} -T ${script} ${ARGN})
    target_link_libraries(${name} PRIVATE gcc)
    set_target_properties(${name} PROPERTIES SUFFIX .elf LINK_DEPENDS ${script})
endfunction()

# microkernel_library(): what each component links: start, system calls, rt.h, malloc(). libcomponent.a, with the
# options for compiler and linker as files, is what `bulkhead build` links components of a system file with.
function(microkernel_library)
    add_library(component_${BOARD} STATIC ${microkernel}/lib/start.c ${microkernel}/lib/string.c
        ${microkernel}/lib/parameters.c ${microkernel}/lib/print.c ${microkernel}/lib/rt.c ${microkernel}/lib/malloc.c ${microkernel}/lib/mmap.c)
    microkernel_target(component_${BOARD})
    set_target_properties(component_${BOARD} PROPERTIES OUTPUT_NAME component)
    list(JOIN CPU_FLAGS "\n" flags)
    list(JOIN link_options "\n" links)
    file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/compile.options CONTENT
        "${flags}\n-O2\n-g\n-ffreestanding\n-fno-stack-protector\n-ffunction-sections\n-fdata-sections\n")
    file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/link.options CONTENT "${flags}\n${links}\n")
endfunction()

# microkernel_object(NAME SOURCES file...): components/NAME.o, to be linked where a system has room for it.
function(microkernel_object name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES")
    add_library(${BOARD}_objects_${name} OBJECT ${arg_SOURCES})
    microkernel_target(${BOARD}_objects_${name})
    set(object ${CMAKE_CURRENT_BINARY_DIR}/components/${name}.o)
    add_custom_command(OUTPUT ${object}
        COMMAND ${CMAKE_C_COMPILER} ${CPU_FLAGS} -nostdlib -r -o ${object} $<TARGET_OBJECTS:${BOARD}_objects_${name}>
        DEPENDS ${BOARD}_objects_${name} $<TARGET_OBJECTS:${BOARD}_objects_${name}>
        COMMAND_EXPAND_LISTS VERBATIM)
    add_custom_target(${BOARD}_object_${name} ALL DEPENDS ${object})
endfunction()

# microkernel_component(NAME NUMBER n SOURCES file... [DATA address bytes]): NAME.elf and NAME.bin, at the places
# that the board has for number n in systems that are described in C.
function(microkernel_component name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "NUMBER" "SOURCES;DATA")
    math(EXPR code "${CODE_FIRST} + ${arg_NUMBER} * ${CODE_BYTES}" OUTPUT_FORMAT HEXADECIMAL)
    # Nothing, the stack, data: a stack that overflows does not reach data.
    math(EXPR stack "${DATA_FIRST} + ${arg_NUMBER} * 2 * ${DATA_BYTES} + ${DATA_BYTES} - ${STACK_BYTES}" OUTPUT_FORMAT HEXADECIMAL)
    math(EXPR data "${stack} + ${STACK_BYTES}" OUTPUT_FORMAT HEXADECIMAL)
    set(data_bytes ${DATA_BYTES})
    if(arg_DATA)
        list(GET arg_DATA 0 data)
        list(GET arg_DATA 1 data_bytes)
    endif()
    add_executable(${BOARD}_component_${name} ${arg_SOURCES})
    microkernel_target(${BOARD}_component_${name})
    target_link_libraries(${BOARD}_component_${name} PRIVATE component_${BOARD})
    microkernel_link(${BOARD}_component_${name} ${microkernel}/lib/component.ld -Wl,--gc-sections
        -Wl,--defsym=component_code=${code} -Wl,--defsym=component_code_bytes=${CODE_BYTES}
        -Wl,--defsym=component_data=${data} -Wl,--defsym=component_data_bytes=${data_bytes}
        -Wl,--defsym=component_stack=${stack} -Wl,--defsym=component_stack_bytes=${STACK_BYTES})
    set_target_properties(${BOARD}_component_${name} PROPERTIES OUTPUT_NAME components/${name})
    add_custom_command(OUTPUT ${name}.bin COMMAND ${CMAKE_OBJCOPY} -O binary $<TARGET_FILE:${BOARD}_component_${name}> ${name}.bin
        DEPENDS ${BOARD}_component_${name})
    file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}.S CONTENT
        ".section .component_${name}, \"a\"\n.global component_${name}\ncomponent_${name}:\n.incbin \"${CMAKE_CURRENT_BINARY_DIR}/${name}.bin\"\n")
    set_property(SOURCE ${CMAKE_CURRENT_BINARY_DIR}/${name}.S PROPERTY OBJECT_DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/${name}.bin)
    set(placed_${name} ".component_${name} ${code} : { KEEP(*(.component_${name})) }\n" PARENT_SCOPE)
endfunction()

# microkernel_kernel(SOURCES file...): the objects that all systems of the board link, and kernel.elf, which `bulkhead
# build` puts a description and components behind.
function(microkernel_kernel)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "SOURCES")
    add_library(kernel_${BOARD} OBJECT ${kernel_sources} ${kernel_core_sources} ${arg_SOURCES} ${microkernel}/lib/string.c)
    microkernel_target(kernel_${BOARD})
    add_executable(${BOARD}_kernel $<TARGET_OBJECTS:kernel_${BOARD}>)
    microkernel_link(${BOARD}_kernel ${microkernel}/arch/${ARCH}/kernel.ld ${board_places})
    set_target_properties(${BOARD}_kernel PROPERTIES OUTPUT_NAME kernel)
endfunction()

# microkernel_system(NAME COMPONENTS name...): NAME.elf of microkernel/systems/NAME.c. Its
# components are in the order of their numbers.
function(microkernel_system name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "COMPONENTS")
    add_executable(${BOARD}_${name} ${microkernel}/systems/${name}.c $<TARGET_OBJECTS:kernel_${BOARD}>)
    microkernel_target(${BOARD}_${name})
    set_target_properties(${BOARD}_${name} PROPERTIES OUTPUT_NAME ${name})
    set(placed "")
    foreach(component IN LISTS arg_COMPONENTS)
        target_sources(${BOARD}_${name} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${component}.S)
        string(APPEND placed "${placed_${component}}")
    endforeach()
    file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}.ld CONTENT "SECTIONS\n{\n${placed}}\nINSERT AFTER ${COMPONENTS_AFTER};\n")
    microkernel_link(${BOARD}_${name} ${microkernel}/arch/${ARCH}/kernel.ld ${board_places} -Wl,-T,${CMAKE_CURRENT_BINARY_DIR}/${name}.ld)
    add_custom_command(TARGET ${BOARD}_${name} POST_BUILD
        COMMAND ${BULKHEAD_PYTHON} ${repository}/scripts/seal_system.py $<TARGET_FILE:${BOARD}_${name}> VERBATIM)
endfunction()
