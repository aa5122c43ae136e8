// SPDX-License-Identifier: Apache-2.0
//
// A domain whose accesses bypass the caches: it maps a part of its memory as Non-cacheable, or as a device,
// and loads or stores there on all its VCPUs. No cache refills a line for that, so a budget of refills does
// not count it (examples/hostile-uncached.yaml). Parameters: `stores` (0: loads), `device` (0:
// Non-cacheable), `cached` (1: mapped as usual, to compare), `area_kib` of all VCPUs, `stride` between two
// accesses, `storm_after_us`: delay before the first access, `report_every_us`.
#include <arch/mmu.h>
#include <arch/sysreg.h>

#include "guests/runtime/board.h"
#include "guests/runtime/console.h"
#include "guests/runtime/format.h"
#include "guests/runtime/gic.h"
#include "guests/runtime/memory.h"
#include "guests/runtime/params.h"
#include "guests/runtime/program.h"
#include "guests/runtime/smp.h"
#include "guests/runtime/ticks.h"
#include "guests/runtime/timer.h"

enum {
    between_looks = 256, // accesses between two readings of the counter
    report_bytes = 120,
    access_bytes = 8,
};

static struct {
    struct memory_area area; // whole blocks
    uint64_t stride;
    uint64_t stores;
    uint64_t storm_from;
    uint64_t start_ticks;
    uint64_t report_ticks;
    uint32_t cpu_count;            // 0: the other VCPUs wait
    uint64_t done[BOARD_MAX_CPUS]; // accesses; each element is written by its VCPU only
} bypass;

void program_interrupt(uint32_t intid)
{
    if (intid == board()->virtual_timer_intid)
        timer_stop();
}

static void report(uint64_t now)
{
    char buffer[report_bytes];
    struct text text;
    uint64_t accesses = 0;

    for (uint32_t cpu = 0; cpu < BOARD_MAX_CPUS; cpu++)
        accesses += __atomic_load_n(&bypass.done[cpu], __ATOMIC_RELAXED);
    text_start(&text, buffer, sizeof(buffer));
    text_append(&text, "report {\"accesses\": %lu, \"elapsed_ns\": %lu}\n", accesses,
                ticks_to_ns(now - bypass.start_ticks, timer_frequency()));
    console_write(buffer);
}

static void one_access(uint64_t address)
{
    volatile uint64_t *word = (volatile uint64_t *)(uintptr_t)address;

    if (bypass.stores != 0)
        *word = address;
    else
        (void)*word;
}

// Each VCPU walks over its part of the area again and again. The first one reports.
static void storm(uint32_t cpu, uint32_t count)
{
    uint64_t bytes = bypass.area.bytes / count / bypass.stride * bypass.stride;
    uint64_t start = bypass.area.start + bytes * cpu;
    uint64_t next_report = timer_now() + bypass.report_ticks;

    for (uint64_t at = start;;) {
        for (uint32_t i = 0; i < between_looks; i++) {
            one_access(at);
            at = at + bypass.stride - start < bytes ? at + bypass.stride : start;
        }
        __atomic_store_n(&bypass.done[cpu], bypass.done[cpu] + between_looks, __ATOMIC_RELAXED);
        if (cpu == 0 && bypass.report_ticks != 0 && timer_now() >= next_report) {
            report(timer_now());
            next_report = timer_now() + bypass.report_ticks;
        }
    }
}

void program_secondary(uint32_t cpu)
{
    uint32_t count;

    while ((count = __atomic_load_n(&bypass.cpu_count, __ATOMIC_ACQUIRE)) == 0) {
    }
    if (!gic_init_secondary())
        return;
    gic_enable_private(board()->virtual_timer_intid);
    timer_sleep_until(bypass.storm_from);
    storm(cpu, count);
}

static bool prepare(void)
{
    uint64_t frequency = timer_frequency();
    uint64_t wanted = param("area_kib", 2048) * 1024 / MEMORY_BLOCK_BYTES * MEMORY_BLOCK_BYTES;
    struct memory_area arena = memory_arena();
    uint64_t start = mmu_physical((const void *)(uintptr_t)arena.start);

    start = mmu_virtual((start + MEMORY_BLOCK_BYTES - 1) / MEMORY_BLOCK_BYTES * MEMORY_BLOCK_BYTES);
    bypass.area = (struct memory_area){start, wanted};
    bypass.stride = param("stride", 64) / access_bytes * access_bytes;
    bypass.stores = param("stores", 0);
    bypass.start_ticks = timer_now();
    bypass.storm_from = bypass.start_ticks + ns_to_ticks(param("storm_after_us", 0) * 1000, frequency);
    bypass.report_ticks = ns_to_ticks(param("report_every_us", 10000) * 1000, frequency);
    if (wanted == 0 || bypass.stride == 0 || start + wanted > arena.start + arena.bytes) {
        console_write("bypass: there is no such area, or no such stride\n");
        return false;
    }
    if (!gic_init()) {
        console_write("bypass: no usable interrupt controller\n");
        return false;
    }
    if (param("cached", 0) == 0 && !mmu_map_past_caches(start, wanted, param("device", 0) != 0)) {
        console_write("bypass: the area cannot be mapped so\n");
        return false;
    }
    gic_enable_private(board()->virtual_timer_intid);
    return true;
}

void program_main(void)
{
    uint32_t count;

    if (!prepare())
        return;
    count = smp_start();
    __atomic_store_n(&bypass.cpu_count, count, __ATOMIC_RELEASE);
    console_printf("bypass: %lu bytes from %lx\n", bypass.area.bytes,
                   mmu_physical((const void *)(uintptr_t)bypass.area.start));
    console_write("bulkhead: ready\n");
    timer_sleep_until(bypass.storm_from);
    storm(0, count);
}
