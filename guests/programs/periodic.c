// SPDX-License-Identifier: Apache-2.0
//
// A periodic real-time task that measures itself: how late each release comes after its programmed deadline
// and how long a pass over its working set takes. Deadlines are absolute, so lateness never adds up.
// Parameters: `period_us`, `working_set_kib`, `iterations` (0: forever), `report_every` periods.
#include <arch/sysreg.h>

#include "guests/runtime/board.h"
#include "guests/runtime/console.h"
#include "guests/runtime/gic.h"
#include "guests/runtime/lines.h"
#include "guests/runtime/memory.h"
#include "guests/runtime/params.h"
#include "guests/runtime/program.h"
#include "guests/runtime/stats.h"
#include "guests/runtime/ticks.h"
#include "guests/runtime/timer.h"

enum {
    ready_after_periods = 10,
    report_bytes = 1200,
    output_per_period = 16, // characters: a report must not delay the next release
};

static struct {
    uint64_t frequency;
    uint64_t period_ticks;
    uint64_t period_us;
    struct memory_area working_set;
    uint64_t line_bytes;
    struct stats work;
    uint64_t missed;
    uint64_t first_deadline;
    // Written by the interrupt handler, read by the task with interrupts masked:
    volatile uint64_t deadline;
    volatile uint64_t pending; // releases that the task has not taken yet
    uint64_t last_release;
    struct stats jitter;
} task;

// The line on its way out.
static char output[report_bytes];
static const char *output_next = output;

void program_interrupt(uint32_t intid)
{
    uint64_t now = timer_now();

    if (intid != board()->virtual_timer_intid)
        return;
    stats_add(&task.jitter, ticks_to_ns(now - task.deadline, task.frequency));
    task.last_release = now;
    task.pending = task.pending + 1;
    task.deadline = task.deadline + task.period_ticks;
    timer_set(task.deadline);
}

// Sleeps until the next release. A release that came while the last job still ran has missed its time.
static void wait_for_release(void)
{
    cpu_mask_interrupts();
    while (task.pending == 0) {
        cpu_wait_for_interrupt(); // wakes up although interrupts are masked
        cpu_unmask_interrupts();  // the handler runs here
        cpu_mask_interrupts();
    }
    task.missed += task.pending - 1;
    task.pending = 0;
    cpu_unmask_interrupts();
}

static void do_work(void)
{
    uint64_t start = timer_now();

    lines_touch(task.working_set.start, task.working_set.start + task.working_set.bytes, task.line_bytes);
    stats_add(&task.work, ticks_to_ns(timer_now() - start, task.frequency));
}

static void compose_report(void)
{
    struct text text;

    text_start(&text, output, sizeof(output));
    cpu_mask_interrupts();
    text_append(&text,
                "report {\"releases\": %lu, \"period_us\": %lu, \"working_set_kib\": %lu, \"jitter_ns\": ",
                task.jitter.count, task.period_us, task.working_set.bytes / 1024);
    stats_append_summary(&task.jitter, &text);
    text_append(&text, ", \"elapsed_ns\": %lu, \"work_ns\": ",
                ticks_to_ns(task.last_release - task.first_deadline, task.frequency));
    stats_append_summary(&task.work, &text);
    text_append(&text, ", \"missed\": %lu, \"histogram\": ", task.missed);
    stats_append_histogram(&task.jitter, &text);
    text_append(&text, "}\r\n");
    cpu_unmask_interrupts();
    output_next = output;
}

// Sends some of the output, if the UART takes it: one character in any case, more while the first half of the
// period lasts.
static void send_some(void)
{
    uint64_t latest = task.deadline - task.period_ticks / 2;

    for (int i = 0; i < output_per_period && *output_next != 0 && (i == 0 || timer_now() < latest); i++) {
        if (!console_try_put(*output_next))
            return;
        output_next++;
    }
}

static void send_all(void)
{
    for (; *output_next != 0; output_next++) {
        while (!console_try_put(*output_next)) {
        }
    }
}

static bool prepare(void)
{
    uint64_t wanted = param("working_set_kib", 512) * 1024;

    task.period_us = param("period_us", 1000);
    task.frequency = timer_frequency();
    task.period_ticks = ns_to_ticks(task.period_us * 1000, task.frequency);
    task.line_bytes = lines_bytes();
    task.working_set = memory_arena();
    if (wanted < task.working_set.bytes)
        task.working_set.bytes = wanted / task.line_bytes * task.line_bytes;
    if (task.period_ticks == 0) {
        console_write("periodic: the period is too short\n");
        return false;
    }
    if (!gic_init()) {
        console_write("periodic: no usable interrupt controller\n");
        return false;
    }
    gic_enable_private(board()->virtual_timer_intid);
    return true;
}

void program_main(void)
{
    uint64_t iterations = param("iterations", 0);
    uint64_t report_every = param("report_every", 1000);
    bool ready = false;

    if (!prepare())
        return;
    task.first_deadline = timer_now() + task.period_ticks;
    task.deadline = task.first_deadline;
    timer_set(task.deadline);
    cpu_unmask_interrupts();
    for (uint64_t job = 1; iterations == 0 || job <= iterations; job++) {
        wait_for_release();
        do_work();
        if (*output_next != 0) {
            send_some();
        } else if (!ready && job >= ready_after_periods) {
            output_next = "bulkhead: ready\r\n";
            ready = true;
        } else if (report_every != 0 && job % report_every == 0) {
            compose_report();
        }
    }
    timer_stop();
    send_all();
    compose_report();
    send_all();
}
