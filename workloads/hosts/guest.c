// SPDX-License-Identifier: Apache-2.0
//
// Workloads as a bare-metal guest: parameters from the device tree, all RAM that the image leaves, the
// generic timer's counter. Runs each workload of its catalog, one after the other, on the first VCPU.
#include <arch/sysreg.h>

#include "guests/runtime/console.h"
#include "guests/runtime/memory.h"
#include "guests/runtime/params.h"
#include "guests/runtime/program.h"
#include "guests/runtime/ticks.h"
#include "guests/runtime/timer.h"
#include "workloads/driver.h"
#include "workloads/host.h"

#define CPACR_FPEN (3ull << 20) // FP and SIMD registers do not trap

struct arena host_memory(void)
{
    struct memory_area area = memory_arena();

    return arena_of((void *)(uintptr_t)area.start, area.bytes);
}

uint64_t host_parameter(const char *name, uint64_t fallback)
{
    return param(name, fallback);
}

void host_print(const char *text)
{
    console_write(text);
}

uint64_t host_now_ns(void)
{
    return ticks_to_ns(timer_now(), timer_frequency());
}

void host_iteration_begins(void) {}

void host_iteration_ends(void) {}

void program_main(void)
{
    sysreg_write(CPACR_EL1, CPACR_FPEN);
    cpu_sync_context();
    for (int i = 0; workload_catalog[i] != NULL; i++)
        (void)workload_run(workload_catalog[i]);
}
