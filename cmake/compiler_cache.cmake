# SPDX-License-Identifier: Apache-2.0
# Compilers run through ccache where a developer has it (`scripts/setup lint` installs it): a second clone, or a
# branch that was built before, takes its objects from the cache. Paths inside of the checkout are given to ccache
# relative to the build directory, and debug information names them relative to the checkout, so that clones in
# different directories share objects. Builds that count lines keep the paths of their own checkout, by which the
# counts are read. Without ccache nothing changes.
find_program(BULKHEAD_CCACHE ccache)
if(BULKHEAD_CCACHE AND NOT BULKHEAD_WHEEL)
    set(launcher ${BULKHEAD_CCACHE})
    if(NOT BULKHEAD_FUZZ AND NOT BULKHEAD_COVERAGE)
        list(PREPEND launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR})
        add_compile_options(-fdebug-prefix-map=${PROJECT_SOURCE_DIR}=.)
    endif()
    set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
    set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()
