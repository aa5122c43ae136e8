// SPDX-License-Identifier: Apache-2.0
//
// A memory hog: walks a buffer far larger than any cache on all its VCPUs, each over its own slice, and
// reports its progress. Parameters: `buffer_kib` (0: all the RAM that is left), `passes` over the buffer (0:
// forever), `rest_us` (0: never): sleeps that long after every 64 KiB, which leaves the emulator's host to
// the other domains; `only_write` (0): 1: writes lines without reading them first.
#include "guests/runtime/board.h"
#include "guests/runtime/console.h"
#include "guests/runtime/format.h"
#include "guests/runtime/gic.h"
#include "guests/runtime/lines.h"
#include "guests/runtime/memory.h"
#include "guests/runtime/params.h"
#include "guests/runtime/program.h"
#include "guests/runtime/smp.h"
#include "guests/runtime/ticks.h"
#include "guests/runtime/timer.h"

#include <arch/sysreg.h>
#include <stdbool.h>

enum {
    chunk_bytes = 64 * 1024, // between two readings of the counter
    report_bytes = 160,
};

static struct {
    struct memory_area buffer; // whole lines
    uint64_t line_bytes;
    uint64_t passes;
    uint64_t start_ticks;
    uint64_t frequency;
    uint64_t rest_ticks;
    bool only_write;
    uint32_t cpu_count;                  // 0: the other VCPUs wait
    uint64_t lines_done[BOARD_MAX_CPUS]; // each element is written by its VCPU only
} hog;

static uint64_t all_lines_done(void)
{
    uint64_t sum = 0;

    for (uint32_t cpu = 0; cpu < BOARD_MAX_CPUS; cpu++)
        sum += __atomic_load_n(&hog.lines_done[cpu], __ATOMIC_RELAXED);
    return sum;
}

static void report(uint64_t now)
{
    char buffer[report_bytes];
    struct text text;
    uint64_t lines = all_lines_done();

    text_start(&text, buffer, sizeof(buffer));
    text_append(&text,
                "report {\"passes\": %lu, \"bytes\": %lu, \"elapsed_ns\": %lu, \"buffer_bytes\": %lu}\n",
                lines / (hog.buffer.bytes / hog.line_bytes), lines * hog.line_bytes,
                ticks_to_ns(now - hog.start_ticks, hog.frequency), hog.buffer.bytes);
    console_write(buffer);
}

// The first VCPU reports, at most once a second.
static void report_if_due(uint64_t *next_report)
{
    uint64_t now = timer_now();

    if (now < *next_report)
        return;
    report(now);
    *next_report = timer_now() + hog.frequency;
}

void program_interrupt(uint32_t intid)
{
    if (intid == board()->virtual_timer_intid)
        timer_stop();
}

// Sleeps until the rest is over; the timer's handler only withdraws the interrupt.
static void rest(void)
{
    uint64_t end = timer_now() + hog.rest_ticks;

    if (hog.rest_ticks == 0)
        return;
    timer_set(end);
    cpu_mask_interrupts();
    while (timer_now() < end) {
        cpu_wait_for_interrupt(); // wakes up although interrupts are masked
        cpu_unmask_interrupts();  // the handler runs here
        cpu_mask_interrupts();
    }
    cpu_unmask_interrupts();
}

// Bounds of this VCPU's slice. Slices differ by one line at most.
static void walk_slice(uint32_t cpu)
{
    uint64_t lines = hog.buffer.bytes / hog.line_bytes;
    uint64_t start = hog.buffer.start + lines * cpu / hog.cpu_count * hog.line_bytes;
    uint64_t end = hog.buffer.start + lines * (cpu + 1) / hog.cpu_count * hog.line_bytes;
    uint64_t next_report = hog.start_ticks + hog.frequency;

    for (uint64_t pass = 0; hog.passes == 0 || pass < hog.passes; pass++) {
        for (uint64_t at = start; at < end; at += chunk_bytes) {
            uint64_t bytes = end - at < chunk_bytes ? end - at : chunk_bytes;
            if (hog.only_write)
                lines_write(at, at + bytes, hog.line_bytes);
            else
                lines_touch(at, at + bytes, hog.line_bytes);
            __atomic_store_n(&hog.lines_done[cpu], hog.lines_done[cpu] + bytes / hog.line_bytes,
                             __ATOMIC_RELAXED);
            if (cpu == 0)
                report_if_due(&next_report);
            rest();
        }
    }
}

void program_secondary(uint32_t cpu)
{
    while (__atomic_load_n(&hog.cpu_count, __ATOMIC_ACQUIRE) == 0) {
    }
    if (hog.rest_ticks != 0 && gic_init_secondary())
        gic_enable_private(board()->virtual_timer_intid);
    walk_slice(cpu);
}

void program_main(void)
{
    uint64_t wanted = param("buffer_kib", 0) * 1024;

    hog.line_bytes = lines_bytes();
    hog.buffer = memory_arena();
    if (wanted != 0 && wanted < hog.buffer.bytes)
        hog.buffer.bytes = wanted;
    if (hog.buffer.bytes < hog.line_bytes * BOARD_MAX_CPUS) {
        console_write("hog: no memory to walk\n");
        return;
    }
    hog.passes = param("passes", 0);
    hog.only_write = param("only_write", 0) != 0;
    hog.frequency = timer_frequency();
    hog.rest_ticks = ns_to_ticks(param("rest_us", 0) * 1000, hog.frequency);
    if (hog.rest_ticks != 0) {
        if (!gic_init()) {
            console_write("hog: no usable interrupt controller\n");
            return;
        }
        gic_enable_private(board()->virtual_timer_intid);
        cpu_unmask_interrupts();
    }
    hog.start_ticks = timer_now();
    uint32_t cpu_count = smp_start();
    console_write("bulkhead: ready\n");
    __atomic_store_n(&hog.cpu_count, cpu_count, __ATOMIC_RELEASE);
    walk_slice(0);
    while (all_lines_done() < hog.passes * (hog.buffer.bytes / hog.line_bytes)) {
    }
    report(timer_now());
}
