# SPDX-License-Identifier: Apache-2.0
# Test components: microkernel_programs(NAME...), numbered from 2 on. Each board lists those that it has.
function(microkernel_programs)
    set(number 2)
    foreach(name IN LISTS ARGN)
        microkernel_component(${name} NUMBER ${number} SOURCES ${microkernel}/programs/${name}.c)
        set(placed_${name} "${placed_${name}}" PARENT_SCOPE)
        math(EXPR number "${number} + 1")
    endforeach()
endfunction()
