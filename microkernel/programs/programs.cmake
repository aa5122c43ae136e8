# SPDX-License-Identifier: Apache-2.0
# Test components, and the systems that they are in.
function(microkernel_programs)
    set(number 2)
    foreach(name IN LISTS ARGN)
        microkernel_component(${name} NUMBER ${number} SOURCES ${microkernel}/programs/${name}.c)
        set(placed_${name} ${placed_${name}} PARENT_SCOPE)
        math(EXPR number "${number} + 1")
    endforeach()
endfunction()

microkernel_programs(hello victim intruder many asker server client overflow executor owner crossing turns turner)


microkernel_system(first COMPONENTS manager scheduler hello)
microkernel_system(apart COMPONENTS manager scheduler victim intruder overflow executor)
microkernel_system(ranges COMPONENTS manager scheduler many)
microkernel_system(asking COMPONENTS manager scheduler asker)
microkernel_system(calls COMPONENTS manager scheduler server client)
microkernel_system(turns COMPONENTS manager turns turner)
microkernel_system(kinds COMPONENTS owner scheduler hello)
microkernel_system(livelock COMPONENTS crossing scheduler)
