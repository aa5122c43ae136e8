// SPDX-License-Identifier: Apache-2.0
//
// A domain with an NVMe disk whose completions come as message interrupts, and which counts them. It has its
// disk read a block in each step, and waits for the interrupt. All events that its ITS can map are mapped,
// each to an LPI of its own. So the program notices an interrupt that its disk has not sent (`foreign`: other
// LPIs, and more messages than commands), and one that does not come within 30 s (`lost`). `refused`
// counts commands that the disk has not done.
//
// Parameters: `config` [0x3F010000]: the function's configuration space; `its` [0x08080000]: the ITS;
// `step_us` [2000]; `steps` [1000].
#include <arch/mmio.h>
#include <arch/mmu.h>
#include <arch/sysreg.h>

#include "guests/messages/its.h"
#include "guests/nvme/controller.h"
#include "guests/runtime/board.h"
#include "guests/runtime/console.h"
#include "guests/runtime/gic.h"
#include "guests/runtime/memory.h"
#include "guests/runtime/params.h"
#include "guests/runtime/pci.h"
#include "guests/runtime/program.h"
#include "guests/runtime/ticks.h"
#include "guests/runtime/timer.h"

enum {
    device_shift = 12, // of a function's place in configuration space
    events = 32,
    admin_message = 0,
    io_message = 1,
    queue_pages = 4,
};

struct pages {
    struct its_memory its;
    uint8_t queues[queue_pages][NVME_PAGE_BYTES];
    uint8_t block[NVME_PAGE_BYTES];
};

static struct nvme_controller disk;
static struct its its;
static struct pages *pages;
static volatile uint32_t arrived[ITS_LPIS];
static volatile uint32_t others; // interrupts that are neither LPIs nor the timer's

void program_interrupt(uint32_t intid)
{
    if (intid == board()->virtual_timer_intid)
        timer_stop();
    else if (intid >= ITS_FIRST_LPI && intid < ITS_FIRST_LPI + ITS_LPIS)
        arrived[intid - ITS_FIRST_LPI]++;
    else
        others++;
}

static bool prepare(uint64_t config)
{
    struct memory_area arena = memory_arena();
    uint64_t start = (arena.start + ITS_PAGE_BYTES - 1) & ~(uint64_t)(ITS_PAGE_BYTES - 1);
    struct nvme_rings rings;
    uint64_t table;

    if (!gic_init() || start + sizeof(*pages) > arena.start + arena.bytes)
        return false;
    gic_enable_private(board()->virtual_timer_intid);
    pages = (struct pages *)(uintptr_t)start;
    its.registers = param("its", 0x08080000);
    its.memory = &pages->its;
    pci_enable(config);
    table = msix_enable(config);
    if (table == 0 || !its_start(&its) ||
        !its_map(&its, (uint32_t)(config >> device_shift) & 0xFF, events, ITS_FIRST_LPI))
        return false;
    msix_set(table, admin_message, its.registers + ITS_TRANSLATER, admin_message);
    msix_set(table, io_message, its.registers + ITS_TRANSLATER, io_message);
    nvme_init(&disk, pci_registers(config), pages->queues, device_patience_s * timer_frequency());
    disk.interrupts = true;
    rings = nvme_own_rings(&disk);
    return nvme_start(&disk, &rings) == nvme_done;
}

static void take_interrupts(void)
{
    cpu_unmask_interrupts();
    cpu_mask_interrupts();
}

// Returns whether the message has come in time.
static bool wait_for_message(uint32_t count)
{
    uint64_t deadline = timer_now() + device_patience_s * timer_frequency();

    while (arrived[io_message] < count && timer_now() < deadline)
        take_interrupts();
    return arrived[io_message] >= count;
}

static uint32_t foreign_interrupts(uint32_t commands)
{
    uint32_t found = others;

    for (uint32_t lpi = io_message + 1; lpi < ITS_LPIS; lpi++)
        found += arrived[lpi];
    return found + (arrived[io_message] > commands ? arrived[io_message] - commands : 0);
}

void program_main(void)
{
    uint64_t steps = param("steps", 1000);
    uint64_t step_ticks = ns_to_ticks(param("step_us", 2000) * 1000, timer_frequency());
    uint32_t refused = 0;
    uint32_t lost = 0;
    uint32_t started;
    uint64_t next;

    if (!prepare(param("config", 0x3F010000))) {
        console_write("messages: there is no NVMe disk with message interrupts\n");
        return;
    }
    console_write("bulkhead: ready\n");
    take_interrupts();
    started = arrived[admin_message];
    next = timer_now();
    for (uint64_t step = 0; step < steps; step++) {
        refused += nvme_transfer(&disk, nvme_read, 0, 1, mmu_physical(pages->block), 0) != nvme_done;
        lost += !wait_for_message((uint32_t)step + 1 - lost);
        next += step_ticks;
        timer_sleep_until(next);
    }
    console_printf(
        "report {\"steps\": %lu, \"arrived\": %u, \"lost\": %u, \"refused\": %u, \"foreign\": %u}\n", steps,
        arrived[io_message], lost, refused,
        foreign_interrupts((uint32_t)steps) + arrived[admin_message] - started);
}
