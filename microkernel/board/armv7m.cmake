# SPDX-License-Identifier: Apache-2.0
# What all boards with a Cortex-M7 build; the caller's directory has set BOARD and the places. The floating-point unit
# is off, so that a switch need not save its registers.
set(ARCH armv7m)
set(CPU_FLAGS -mcpu=cortex-m7 -mthumb -mfloat-abi=soft)
set(MANAGER_HARDWARE mpu)
set(COMPONENTS_AFTER .text) # in the kernel's linker script

# Functions of a refill begin at a cache line, wherever other code ends: the bound of a refill counts cache lines.
set_source_files_properties(${repository}/core/mxu_regions.c PROPERTIES COMPILE_OPTIONS -falign-functions=32)

set(arch ${microkernel}/arch/armv7m)
microkernel_kernel(SOURCES ${arch}/entry.S ${microkernel}/arch/armv7/halt.c ${arch}/access.c ${arch}/arch.c ${arch}/caches.c ${arch}/space.c board.c)
include(${microkernel}/board/components.cmake)
include(${microkernel}/programs/programs.cmake)
microkernel_programs(hello victim intruder many asker server client overflow executor owner crossing turns turner)

microkernel_component(heap NUMBER 14 SOURCES ${microkernel}/programs/heap.c)
microkernel_component(mapper NUMBER 15 SOURCES ${microkernel}/programs/mapper.c)

include(${microkernel}/systems/systems.cmake)
microkernel_system(livelock COMPONENTS crossing scheduler)
