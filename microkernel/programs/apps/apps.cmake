# SPDX-License-Identifier: Apache-2.0
# Applications (X7): components/NAME.o, each with all that it needs of SQLite, Duktape and the C library, to be linked
# where a system has room for it. Their target is `apps`: nothing else needs the objects, and compiling SQLite takes a
# while.
set(apps ${CMAKE_CURRENT_LIST_DIR})
set(picolibc /usr/lib/picolibc/arm-none-eabi CACHE PATH "Debian's picolibc-arm-none-eabi")
if(NOT TARGET apps)
    add_custom_target(apps)
endif()

# app_sources(NAME RESULT FILE...): the C sources of SQLite or Duktape, fetched and copied to the build tree.
function(app_sources name result)
    set(directory ${CMAKE_BINARY_DIR}/sources/${name})
    list(TRANSFORM ARGN PREPEND ${directory}/ OUTPUT_VARIABLE files)
    set(${result} ${directory} PARENT_SCOPE)
    if(TARGET source_${name})
        return()
    endif()
    add_custom_command(OUTPUT ${files}
        COMMAND ${CMAKE_COMMAND} -E env --modify PYTHONPATH=path_list_prepend:${repository}/src
            ${BULKHEAD_PYTHON} -m bulkhead.env.c_sources ${name} ${directory}
        DEPENDS ${repository}/src/bulkhead/env/c_sources.py ${repository}/packages.lock
        COMMENT "Sources of ${name}" VERBATIM)
    add_custom_target(source_${name} DEPENDS ${files})
endfunction()

# app_foreign(NAME FILE OPTION...): an object of sources that are not ours, without our warnings. With -O2 SQLite takes
# more than twice the time to compile.
function(app_foreign name file)
    cmake_path(GET file PARENT_PATH directory)
    add_library(${BOARD}_foreign_${name} OBJECT EXCLUDE_FROM_ALL ${file})
    set_source_files_properties(${file} PROPERTIES GENERATED ON)
    add_dependencies(${BOARD}_foreign_${name} source_${name})
    target_compile_options(${BOARD}_foreign_${name} PRIVATE ${CPU_FLAGS} -w -isystem ${picolibc}/include -fno-stack-protector
        -fno-unwind-tables -fno-asynchronous-unwind-tables -ffunction-sections -fdata-sections -O1 -g0 ${ARGN})
endfunction()

# app(NAME SOURCES file... [FOREIGN name directory]): components/NAME.o.
function(app name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;FOREIGN")
    list(TRANSFORM arg_SOURCES PREPEND ${apps}/)
    set(objects ${BOARD}_app_${name})
    add_library(${objects} OBJECT ${arg_SOURCES} ${apps}/app.c ${apps}/libc.c)
    if(arg_FOREIGN) # its sources may not be there yet
        set_target_properties(${objects} PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
    microkernel_target(${objects})
    # The C library's headers include <machine/...>, which are not those of our directory of that name.
    get_target_property(ours ${objects} INCLUDE_DIRECTORIES)
    list(TRANSFORM ours PREPEND -iquote)
    set_target_properties(${objects} PROPERTIES INCLUDE_DIRECTORIES "")
    target_compile_options(${objects} PRIVATE ${ours} $<$<COMPILE_LANGUAGE:ASM>:-I${repository}>)
    target_include_directories(${objects} SYSTEM PRIVATE ${picolibc}/include)
    set(inputs $<TARGET_OBJECTS:${objects}>)
    if(arg_FOREIGN)
        list(GET arg_FOREIGN 0 foreign)
        list(GET arg_FOREIGN 1 directory)
        target_include_directories(${objects} SYSTEM PRIVATE ${directory})
        add_dependencies(${objects} source_${foreign})
        list(APPEND inputs $<TARGET_OBJECTS:${BOARD}_foreign_${foreign}>)
    endif()
    execute_process(COMMAND ${CMAKE_C_COMPILER} ${CPU_FLAGS} -print-multi-directory OUTPUT_VARIABLE multilib
        OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/components/${name}.o)
    add_custom_command(OUTPUT ${object}
        # The component's own malloc() comes before the C library's.
        COMMAND ${CMAKE_C_COMPILER} ${CPU_FLAGS} -nostdlib -r -o ${object} ${inputs} $<TARGET_FILE:component_${BOARD}>
            -L${picolibc}/lib/${multilib} -Wl,--start-group -lm -lc -lgcc -Wl,--end-group
        DEPENDS ${objects} ${inputs} component_${BOARD}
        COMMAND_EXPAND_LISTS VERBATIM)
    add_custom_target(${BOARD}_app_object_${name} DEPENDS ${object})
    add_dependencies(apps ${BOARD}_app_object_${name})
endfunction()

app_sources(sqlite sqlite sqlite3.c sqlite3.h)
app_sources(duktape duktape duktape.c duktape.h duk_config.h)
# Without files, threads, time zones and extensions to load; temporary tables in memory.
app_foreign(sqlite ${sqlite}/sqlite3.c -DSQLITE_OS_OTHER=1 -DSQLITE_THREADSAFE=0 -DSQLITE_TEMP_STORE=3 -DSQLITE_OMIT_WAL
    -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_OMIT_LOCALTIME -DSQLITE_OMIT_DEPRECATED -DSQLITE_OMIT_SHARED_CACHE -DSQLITE_DQS=0)
app_foreign(duktape ${duktape}/duktape.c)
app(patterns SOURCES patterns.c)
app(cnn SOURCES cnn.c)
app(sqlite SOURCES sqlite.c sqlite_os.c FOREIGN sqlite ${sqlite})
app(duktape SOURCES duktape.c scripts.S FOREIGN duktape ${duktape})
app(adversary SOURCES adversary.c)
set_source_files_properties(${apps}/scripts.S PROPERTIES OBJECT_DEPENDS "${apps}/mandelbrot.js;${apps}/covariance.js")
