# SPDX-License-Identifier: Apache-2.0
# The components that each board has beside its kernel: memory manager and scheduler, in C systems and as objects. The
# board's CMakeLists.txt includes it behind microkernel_kernel(); it has set MANAGER_HARDWARE (mmu or mpu), the
# addresses of components, and MANAGER_DATA.
microkernel_library()
set(manager_sources apply.c books.c given.c requests.c hardware_${MANAGER_HARDWARE}.c)
list(TRANSFORM manager_sources PREPEND ${microkernel}/manager/)
list(APPEND manager_sources ${kernel_core_sources} ${manager_core_sources})
set(scheduler_sources jobs.c report.c scheduler.c time.c)
list(TRANSFORM scheduler_sources PREPEND ${microkernel}/scheduler/)
microkernel_object(manager SOURCES ${manager_sources})
microkernel_object(scheduler SOURCES ${scheduler_sources})
microkernel_component(manager NUMBER 0 DATA ${MANAGER_DATA} 0x40000 SOURCES ${manager_sources})
microkernel_component(scheduler NUMBER 1 SOURCES ${scheduler_sources})
