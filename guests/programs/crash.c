// SPDX-License-Identifier: Apache-2.0
//
// Misbehaves in one way, for tests of containment. Parameters: `kind` (below) and `address`, by default one
// that is neither RAM nor a device. An access that stage 2 should stop must pass stage 1: the runtime maps
// all addresses, and the jump's target is made executable.
#include <arch/mmio.h>
#include <arch/mmu.h>
#include <arch/sysreg.h>

#include "guests/runtime/board.h"
#include "guests/runtime/console.h"
#include "guests/runtime/params.h"
#include "guests/runtime/program.h"

#define DEFAULT_ADDRESS 0x2000000000ull // 128 GiB

enum kind {
    wild_read = 0,
    wild_write = 1,
    wild_jump = 2,
    undefined_instruction = 3,
    paired_store_to_uart = 4,
    performance_monitors = 5, // which a domain has only if EL2 leaves it counters
};

#define EVENT_INSTRUCTIONS 0x08u
#define PMCR_ENABLE        1u
#define PMCR_COUNTERS(r)   ((r) >> 11 & 0x1F)

// Uses an event counter, and reports its value.
static void count_instructions(void)
{
    sysreg_write(PMEVTYPER0_EL0, EVENT_INSTRUCTIONS);
    sysreg_write(PMEVCNTR0_EL0, 0);
    sysreg_write(PMCNTENSET_EL0, 1);
    sysreg_write(PMCR_EL0, PMCR_ENABLE);
    cpu_sync_context();
    for (volatile unsigned i = 0; i < 1000; i++) {
    }
    console_printf("crash: %lu counters, %lu instructions\n", PMCR_COUNTERS(sysreg_read(PMCR_EL0)),
                   sysreg_read(PMEVCNTR0_EL0));
}

static void jump(uint64_t address)
{
    mmu_map_executable(address);
    ((void (*)(void))(uintptr_t)address)();
}

void program_main(void)
{
    uint64_t kind = param("kind", wild_read);
    uint64_t address = param("address", DEFAULT_ADDRESS);

    console_write("bulkhead: ready\n");
    switch (kind) {
    case wild_read:
        (void)mmio_read64(address);
        break;
    case wild_write:
        mmio_write32(address, 0);
        break;
    case wild_jump:
        jump(address);
        break;
    case undefined_instruction:
        cpu_undefined_instruction();
        break;
    case paired_store_to_uart:
        mmio_write_pair(board()->uart_base, 'A', 'B');
        break;
    case performance_monitors:
        count_instructions();
        break;
    default:
        console_printf("crash: no such kind: %lu\n", kind);
        return;
    }
    cpu_sync_memory();
    console_write("crash: survived\n");
}
