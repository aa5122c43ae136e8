# SPDX-License-Identifier: Apache-2.0
# BULKHEAD_COMMIT_FILE: the commit that a package is built from, which an installed tool shows as its own. In a
# checkout git says it; a source distribution, which is no checkout, has the file from where it was made.
set(BULKHEAD_COMMIT_FILE ${PROJECT_SOURCE_DIR}/build/commit)
if(EXISTS ${PROJECT_SOURCE_DIR}/.git OR NOT EXISTS ${BULKHEAD_COMMIT_FILE})
    function(bulkhead_git result)
        execute_process(COMMAND git ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
            OUTPUT_VARIABLE said OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
        set(${result} "${said}" PARENT_SCOPE)
    endfunction()
    set(commit "")
    if(EXISTS ${PROJECT_SOURCE_DIR}/.git)
        bulkhead_git(commit rev-parse --short=12 HEAD)
        bulkhead_git(changes status --porcelain --untracked-files=no)
        if(commit AND changes)
            string(APPEND commit "+changes")
        endif()
    endif()
    if(NOT commit)
        set(commit "unknown")
    endif()
    file(WRITE ${BULKHEAD_COMMIT_FILE} "${commit}\n")
endif()
