# SPDX-License-Identifier: Apache-2.0
# Compilers run through ccache where a developer has it (`scripts/setup lint` installs it): a second clone, or a
# branch that was built before, takes its objects from the cache. Paths inside of the checkout are given to ccache
# relative to the build directory, and debug information names them relative to the checkout, so that clones in
# different directories share objects. Without ccache nothing changes.
find_program(BULKHEAD_CCACHE ccache)
if(BULKHEAD_CCACHE AND NOT BULKHEAD_WHEEL)
    set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} ${BULKHEAD_CCACHE})
    foreach(language C CXX ASM)
        set(CMAKE_${language}_COMPILER_LAUNCHER ${launcher})
        add_compile_options($<$<COMPILE_LANGUAGE:${language}>:-fdebug-prefix-map=${PROJECT_SOURCE_DIR}=.>)
    endforeach()
endif()
