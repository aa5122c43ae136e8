// SPDX-License-Identifier: Apache-2.0
//
// The smallest guest: reports what it found on its board and powers off. `reset` = 1 requests a reset
// instead.
#include "guests/runtime/board.h"
#include "guests/runtime/console.h"
#include "guests/runtime/memory.h"
#include "guests/runtime/params.h"
#include "guests/runtime/program.h"
#include "guests/runtime/psci.h"

void program_main(void)
{
    uint32_t psci = psci_version();

    console_write("bulkhead: ready\n");
    console_printf("hello: %u cpus, %lu KiB of memory to use, psci %u.%u\n", board()->cpu_count,
                   memory_arena().bytes / 1024, psci >> 16, psci & 0xFFFF);
    if (param("reset", 0) != 0)
        psci_system_reset();
}
