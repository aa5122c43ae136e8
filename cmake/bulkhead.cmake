# SPDX-License-Identifier: Apache-2.0
# Functions and interface targets that every directory of the native build uses: warnings, sanitizers,
# libraries that exist with and without sanitizers, and unit tests. No target of the project is named here.

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON) # asm statements
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE OFF)

add_library(bulkhead_warnings_c INTERFACE)
target_compile_options(bulkhead_warnings_c INTERFACE
    $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Wconversion -Wshadow -Wundef -Wstrict-prototypes
    -Wmissing-prototypes -Wmissing-declarations -Wold-style-definition -Wredundant-decls -Wcast-qual -Wpointer-arith
    -Wwrite-strings -Wimplicit-fallthrough -Wformat=2 -Wdate-time -Wvla -Werror>
    # Those that only gcc has, or has in this strictness.
    $<$<COMPILE_LANG_AND_ID:C,GNU>:-Wcast-align=strict -Wlogical-op -Wduplicated-cond -Wduplicated-branches
    -Wnested-externs>)

add_library(bulkhead_warnings_cxx INTERFACE)
target_compile_options(bulkhead_warnings_cxx INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wconversion -Wshadow -Wnon-virtual-dtor
    -Woverloaded-virtual -Werror>)

# What code without an operating system beneath it is compiled with: freestanding, no FP registers (a trap
# handler must not change them), no unaligned access (device memory before the MMU is on), no libgcc calls.
add_library(bulkhead_bare INTERFACE)
if(BULKHEAD_TARGET)
    target_compile_options(bulkhead_bare INTERFACE
        -ffreestanding -fno-pie -fno-stack-protector -fno-unwind-tables -fno-asynchronous-unwind-tables
        -ffunction-sections -fdata-sections -mgeneral-regs-only -mstrict-align -mno-outline-atomics
        -mfix-cortex-a53-835769 -mfix-cortex-a53-843419)
    target_link_options(bulkhead_bare INTERFACE
        -mfix-cortex-a53-835769 -mfix-cortex-a53-843419
        -nostdlib -static -no-pie -Wl,--gc-sections -Wl,--build-id=none -Wl,--fatal-warnings
        -Wl,-z,noexecstack -Wl,--no-warn-rwx-segments -Wl,-z,max-page-size=4096)
endif()

# For unit tests and the libraries linked in them; never for what runs beside the emulator.
add_library(bulkhead_sanitizers INTERFACE)
if(BULKHEAD_COVERAGE)
    # Lines are counted in place of the sanitizers' checks: each line as it is written.
    target_compile_options(bulkhead_sanitizers INTERFACE --coverage -fprofile-update=atomic -O0 -g1 -UNDEBUG)
    target_link_options(bulkhead_sanitizers INTERFACE --coverage)
else()
    target_compile_options(bulkhead_sanitizers INTERFACE
        -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -g1 -UNDEBUG)
    target_link_options(bulkhead_sanitizers INTERFACE -fsanitize=address,undefined)
endif()
if(BULKHEAD_FUZZ)
    # Comparisons are not traced: inputs are built of steps, and it costs half of the speed.
    target_compile_options(bulkhead_sanitizers INTERFACE
        -fsanitize=fuzzer-no-link -fno-sanitize-coverage=trace-cmp -fno-sanitize=null,alignment,pointer-overflow
        -fsanitize-address-use-after-return=never -fomit-frame-pointer -O2)
    # A long run is counted for a program: the same sources make the same one wherever they are.
    target_compile_options(bulkhead_sanitizers INTERFACE
        -ffile-prefix-map=${PROJECT_SOURCE_DIR}/= -fsanitize-undefined-strip-path-components=-2)
endif()

# For the code of tests, after the sanitizers. Without optimization it compiles in a third of the time. UBSan does not
# look at its pointers, which takes another quarter off: the code under test keeps these checks, and AddressSanitizer
# reports a null pointer as well.
add_library(bulkhead_unoptimized INTERFACE)
target_compile_options(bulkhead_unoptimized INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-O0 -fno-sanitize=null,alignment,object-size,vptr>)

# For the line counts of what a fuzzer's corpus reaches.
add_library(bulkhead_line_counts INTERFACE)
target_compile_options(bulkhead_line_counts INTERFACE -fprofile-instr-generate -fcoverage-mapping -O1)
target_link_options(bulkhead_line_counts INTERFACE -fprofile-instr-generate)

# bulkhead_link(TARGET SCOPE LIBRARY...): links, on a sanitized target, the `_san` variants where they exist.
function(bulkhead_link target scope)
    get_target_property(sanitized ${target} BULKHEAD_SANITIZED)
    foreach(library IN LISTS ARGN)
        if(sanitized AND TARGET ${library}_san)
            target_link_libraries(${target} ${scope} ${library}_san)
        else()
            target_link_libraries(${target} ${scope} ${library})
        endif()
    endforeach()
endfunction()

function(bulkhead_add_variant name sanitized)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "SOURCES;INCLUDE;LINK;DEFINE")
    add_library(${name} STATIC ${arg_SOURCES})
    set_target_properties(${name} PROPERTIES BULKHEAD_SANITIZED ${sanitized})
    if(BULKHEAD_FUZZ AND NOT sanitized)
        target_link_libraries(${name} PRIVATE bulkhead_line_counts)
    endif()
    target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR} ${arg_INCLUDE})
    target_compile_definitions(${name} PUBLIC ${arg_DEFINE})
    target_link_libraries(${name} PRIVATE bulkhead_warnings_c bulkhead_warnings_cxx)
    if(BULKHEAD_TARGET)
        target_link_libraries(${name} PRIVATE bulkhead_bare)
    else()
        # The plain variant ends in plugins: shared objects, whose functions nobody replaces.
        set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
        target_compile_options(${name} PRIVATE -fno-semantic-interposition)
        # Of the two variants those that something links: of the hypervisor it is the sanitized one alone.
        set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
    if(sanitized)
        target_link_libraries(${name} PUBLIC bulkhead_sanitizers)
    endif()
    bulkhead_link(${name} PUBLIC ${arg_LINK})
endfunction()

# bulkhead_import(NAME ...): the library of preset `host`, described as for bulkhead_library.
function(bulkhead_import name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;INCLUDE;LINK;DEFINE")
    cmake_path(RELATIVE_PATH CMAKE_CURRENT_BINARY_DIR BASE_DIRECTORY ${CMAKE_BINARY_DIR} OUTPUT_VARIABLE place)
    add_library(${name} STATIC IMPORTED GLOBAL)
    set_target_properties(${name} PROPERTIES IMPORTED_LOCATION ${PROJECT_SOURCE_DIR}/build/host/${place}/lib${name}.a)
    target_include_directories(${name} INTERFACE ${PROJECT_SOURCE_DIR} ${arg_INCLUDE})
    target_compile_definitions(${name} INTERFACE ${arg_DEFINE})
    target_link_libraries(${name} INTERFACE ${arg_LINK})
endfunction()

# bulkhead_library(NAME SOURCES ... [INCLUDE dir...] [LINK lib...] [DEFINE macro...])
#
# A static library NAME and, in the host build, NAME_san of the same sources with sanitizers. LINK names the
# plain libraries (they must be defined before); includes, definitions and links are public. The repository
# is always an include directory, so headers are included by their path in the tree.
#
# Where BULKHEAD_COMPARED is set (preset `clang`), it names the libraries that are compiled; all others are those of
# preset `host`, which must have been built.
function(bulkhead_library name)
    if(BULKHEAD_COMPARED AND NOT name IN_LIST BULKHEAD_COMPARED)
        bulkhead_import(${name} ${ARGN})
        return()
    endif()
    bulkhead_add_variant(${name} OFF ${ARGN})
    if(NOT BULKHEAD_TARGET)
        bulkhead_add_variant(${name}_san ON ${ARGN})
    endif()
endfunction()

# bulkhead_compile_together(NAME SOURCES file... [AT_A_TIME number] [UNOPTIMIZED]): NAME_san compiles these C++ sources
# of the library NAME a few at a time, because they include the same headers and instantiate the same templates. So
# does NAME where BULKHEAD_COMPARED names it. NAME of preset `host` compiles each of them alone: one that relies on
# what its neighbour includes does not compile there. Do not name sources that NAME joins itself (UNITY_BUILD): nothing
# would compile them alone. UNOPTIMIZED is for what tests execute for a moment: it compiles faster, with all checks.
function(bulkhead_compile_together name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "UNOPTIMIZED" "AT_A_TIME" "SOURCES")
    if(NOT arg_AT_A_TIME)
        set(arg_AT_A_TIME 8)
    endif()
    set(target ${name}_san)
    if(BULKHEAD_COMPARED)
        set(target ${name})
    endif()
    get_target_property(imported ${target} IMPORTED)
    if(imported)
        return()
    endif()
    get_target_property(sources ${target} SOURCES)
    list(REMOVE_ITEM sources ${arg_SOURCES})
    while(arg_SOURCES)
        list(GET arg_SOURCES 0 first)
        string(MAKE_C_IDENTIFIER "${first}" first)
        list(SUBLIST arg_SOURCES 0 ${arg_AT_A_TIME} part)
        list(REMOVE_ITEM arg_SOURCES ${part})
        list(TRANSFORM part REPLACE "(.+)" "#include \"${CMAKE_CURRENT_SOURCE_DIR}/\\1\"\n")
        list(JOIN part "" content)
        set(joined ${CMAKE_CURRENT_BINARY_DIR}/together/${name}_${first}.cxx)
        file(CONFIGURE OUTPUT ${joined} CONTENT "${content}" @ONLY)
        if(arg_UNOPTIMIZED AND NOT BULKHEAD_COMPARED)
            set_source_files_properties(${joined} PROPERTIES COMPILE_OPTIONS -O0)
        endif()
        list(APPEND sources ${joined})
    endwhile()
    set_target_properties(${target} PROPERTIES SOURCES "${sources}")
endfunction()

# bulkhead_test(NAME SOURCES ... [INCLUDE dir...] [LINK lib...] [DEFINE macro...])
#
# One GoogleTest program with sanitizers = one ctest entry. It writes its cases to test-results/NAME.xml
# of the build tree, from which the verdict of `make test` counts them. bulkhead_plain_test(NAME ...): the same
# without sanitizers, for what does not go with them (instrumented programs, whose accesses have an own runtime).
function(bulkhead_test name)
    bulkhead_any_test(${name} ON ${ARGN})
    target_link_libraries(${name} PRIVATE bulkhead_sanitizers bulkhead_unoptimized)
endfunction()

function(bulkhead_plain_test name)
    bulkhead_any_test(${name} OFF ${ARGN})
endfunction()

# bulkhead_tests(NAME ...): objects that several of these programs have in common, as $<TARGET_OBJECTS:NAME>.
function(bulkhead_tests name)
    add_library(${name} OBJECT)
    bulkhead_compile_tests(${name} ON ${ARGN})
    target_link_libraries(${name} PRIVATE bulkhead_sanitizers bulkhead_unoptimized)
endfunction()

function(bulkhead_compile_tests name sanitized)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "SOURCES;INCLUDE;LINK;DEFINE")
    find_package(GTest REQUIRED)
    target_sources(${name} PRIVATE ${arg_SOURCES})
    if(BULKHEAD_TESTS_TOGETHER AND BULKHEAD_TOGETHER)
        set(alone ${arg_SOURCES})
        list(FILTER alone EXCLUDE REGEX "${BULKHEAD_TOGETHER}")
        set_source_files_properties(${alone} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
        set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    endif()
    set_target_properties(${name} PROPERTIES BULKHEAD_SANITIZED ${sanitized})
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${arg_INCLUDE})
    target_compile_definitions(${name} PRIVATE ${arg_DEFINE})
    target_link_libraries(${name} PRIVATE bulkhead_warnings_c bulkhead_warnings_cxx)
    bulkhead_link(${name} PRIVATE ${arg_LINK})
    target_link_libraries(${name} PRIVATE GTest::gtest GTest::gmock GTest::gtest_main)
    bulkhead_test_headers(${sanitized} headers)
    set(c_sources ${arg_SOURCES})
    list(FILTER c_sources INCLUDE REGEX "[.]c$")
    set_source_files_properties(${c_sources} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    target_precompile_headers(${name} REUSE_FROM ${headers})
endfunction()

# bulkhead_test_headers(SANITIZED RESULT): the target whose precompiled headers all tests with, or without, sanitizers share.
function(bulkhead_test_headers sanitized result)
    set(name bulkhead_test_headers_plain)
    if(sanitized)
        set(name bulkhead_test_headers_san)
    endif()
    set(${result} ${name} PARENT_SCOPE)
    if(TARGET ${name})
        return()
    endif()
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/${name}.cpp CONTENT "")
    add_library(${name} OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/generated/${name}.cpp)
    target_link_libraries(${name} PRIVATE bulkhead_warnings_cxx GTest::gtest GTest::gmock)
    if(sanitized)
        target_link_libraries(${name} PRIVATE bulkhead_sanitizers bulkhead_unoptimized)
    endif()
    target_precompile_headers(${name} PRIVATE <gtest/gtest.h> <algorithm> <map> <memory> <random> <string> <vector>)
endfunction()

function(bulkhead_any_test name sanitized)
    find_package(GTest REQUIRED)
    add_executable(${name})
    bulkhead_compile_tests(${name} ${sanitized} ${ARGN})
    add_test(NAME ${name}
        COMMAND ${name} --gtest_output=xml:${CMAKE_BINARY_DIR}/test-results/${name}.xml --gtest_brief=1
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES TIMEOUT 300)
endfunction()

# bulkhead_executable(NAME SANITIZED SOURCES ... [INCLUDE dir...] [LINK lib...]): a program of the host's.
function(bulkhead_executable name sanitized)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "SOURCES;INCLUDE;LINK")
    add_executable(${name} ${arg_SOURCES})
    set_target_properties(${name} PROPERTIES BULKHEAD_SANITIZED ${sanitized})
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${arg_INCLUDE})
    target_link_libraries(${name} PRIVATE bulkhead_warnings_c bulkhead_warnings_cxx)
    bulkhead_link(${name} PRIVATE ${arg_LINK})
endfunction()

# bulkhead_fuzzer(NAME ...): a libFuzzer program; bulkhead_coverage(NAME ...): one whose executed lines are counted.
function(bulkhead_fuzzer name)
    bulkhead_executable(${name} ON ${ARGN})
    target_link_libraries(${name} PRIVATE bulkhead_sanitizers)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
endfunction()

function(bulkhead_coverage name)
    find_package(GTest REQUIRED)
    bulkhead_executable(${name} OFF ${ARGN})
    target_link_libraries(${name} PRIVATE bulkhead_line_counts GTest::gtest)
endfunction()

# bulkhead_replay(NAME SEEDS FINDINGS SOURCES ... [INCLUDE dir...] [LINK lib...]): a fuzz target's inputs as tests.
function(bulkhead_replay name seeds findings)
    find_package(GTest REQUIRED)
    bulkhead_executable(${name} ON ${ARGN})
    target_link_libraries(${name} PRIVATE bulkhead_sanitizers bulkhead_unoptimized GTest::gtest)
    add_test(NAME ${name} COMMAND ${name}
        --gtest_output=xml:${CMAKE_BINARY_DIR}/test-results/${name}.xml --gtest_brief=1 ${seeds} ${findings}
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES TIMEOUT 300)
endfunction()

# Adds a directory of the tree if it builds anything.
function(bulkhead_subdirectory directory)
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${directory}/CMakeLists.txt)
        add_subdirectory(${directory})
    endif()
endfunction()
