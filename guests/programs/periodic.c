// SPDX-License-Identifier: Apache-2.0
//
// A periodic real-time task that measures itself: how late each release comes after its programmed deadline
// and how long its passes over its working set take. Deadlines are absolute, so lateness never adds up.
// Parameters: `period_us`, `working_set_kib`, `passes` [1] in each period, `iterations` (0: forever),
// `report_every` periods. With `before_us` it also measures two windows separately: the first `before_us`,
// and, after a margin of `margin_us` that belongs to neither, the rest; in each it also counts the exits of
// its core, which show disturbances by reason where times do not. `listening` is the same program with an
// active socket device: no connection request of other domains is accepted. If a flow begins at its domain,
// it sends a packet in each job; the tool gives it `out0_cid`, `out0_port` and `out0_bytes`. With `pace_us`
// it counts the device's interrupts that came sooner than that after the one before.
#include <arch/sysreg.h>

#include "guests/runtime/board.h"
#include "guests/runtime/console.h"
#include "guests/runtime/gic.h"
#include "guests/runtime/lines.h"
#include "guests/runtime/manager.h"
#include "guests/runtime/memory.h"
#include "guests/runtime/params.h"
#include "guests/runtime/program.h"
#ifdef PERIODIC_SOCKET
#include "guests/runtime/flow_params.h"
#include "guests/runtime/socket_device.h"
#endif
#include "guests/runtime/stats.h"
#include "guests/runtime/ticks.h"
#include "guests/runtime/timer.h"
#include "guests/socket/socket.h"

enum {
    ready_after_periods = 10,
    report_bytes = 2400,
    output_per_period = 16, // characters: a report must not delay the next release
};

// Measurements of one window. There is a margin between the two windows.
enum window { window_before, window_margin, window_after, window_count };

struct measured {
    struct stats jitter; // written by the interrupt handler
    struct stats work;
    uint64_t exits_at_start[BH_EXIT_REASON_COUNT];
    uint64_t exits[BH_EXIT_REASON_COUNT]; // since the start of the window, at the last check
    uint64_t releases;                    // exits at that check
};

static struct {
    uint64_t frequency;
    uint64_t before_ticks; // 0: no windows
    uint64_t margin_ticks;
    enum window window; // of the last release that the task took
    struct measured windows[window_count];
    uint64_t period_ticks;
    uint64_t period_us;
    struct memory_area working_set;
    uint64_t passes;
    uint64_t line_bytes;
    struct stats work;
    uint64_t missed;
    uint64_t first_deadline;
    // Written by the interrupt handler, read by the task with interrupts masked:
    volatile uint64_t deadline;
    volatile uint64_t pending; // releases that the task has not taken yet
    uint64_t last_release;
    uint64_t warmup; // releases before the first one that is measured
    struct stats jitter;
} task;

#ifdef PERIODIC_SOCKET
enum { most_state_bytes = 4096 };

// Its first flow.
static struct {
    struct socket *socket;
    uint64_t bytes; // of a packet; 0: no flow begins here
    uint64_t number;
    bool sent_one; // `number` has a value
    uint8_t packet[most_state_bytes];
} state;

// The device's interrupts.
static struct {
    uint64_t pace_ticks; // 0: they are not counted
    uint64_t last;       // counter value at the latest one
    uint64_t early;      // that came sooner than pace_ticks after the one before
} interrupts;

static void note_interrupt(uint64_t now)
{
    interrupts.early += now - interrupts.last < interrupts.pace_ticks;
    interrupts.last = now;
}

static void send_state(void)
{
    (void)socket_poll(); // gives back the buffers of what others have sent
    if (state.bytes == 0)
        return;
    if (state.socket != NULL && socket_has_ended(state.socket)) {
        socket_forget(state.socket); // refused: the receiver does not listen yet
        state.socket = NULL;
        return;
    }
    if (state.socket == NULL)
        state.socket = socket_ask(flow_param("out", 0, "cid"), (uint32_t)flow_param("out", 0, "port"));
    else if (socket_is_open(state.socket) && (!state.sent_one || socket_is_sent(state.number)))
        state.sent_one |= socket_offer(state.socket, state.packet, state.bytes, &state.number);
}
#endif

// The line being sent.
static char output[report_bytes];
static const char *output_next = output;

static enum window window_of(uint64_t deadline)
{
    uint64_t since = deadline - task.first_deadline;

    if (since < task.before_ticks)
        return window_before;
    return since < task.before_ticks + task.margin_ticks ? window_margin : window_after;
}

void program_interrupt(uint32_t intid)
{
    uint64_t now = timer_now();

    if (intid != board()->virtual_timer_intid) {
#ifdef PERIODIC_SOCKET
        note_interrupt(now);
        socket_interrupt(intid);
#endif
        return;
    }
    if (task.warmup > 0) {
        task.warmup--;
    } else {
        stats_add(&task.jitter, ticks_to_ns(now - task.deadline, task.frequency));
        stats_add(&task.windows[window_of(task.deadline)].jitter,
                  ticks_to_ns(now - task.deadline, task.frequency));
    }
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

    for (uint64_t pass = 0; pass < task.passes; pass++)
        lines_touch(task.working_set.start, task.working_set.start + task.working_set.bytes, task.line_bytes);
    if (task.jitter.count == 0)
        return;
    uint64_t took = ticks_to_ns(timer_now() - start, task.frequency);
    stats_add(&task.work, took);
    stats_add(&task.windows[task.window].work, took);
}

static void look_at_exits(struct measured *window)
{
    for (uint32_t i = 0; i < BH_EXIT_REASON_COUNT; i++)
        window->exits[i] = own_exits(i) - window->exits_at_start[i];
    window->releases = window->jitter.count;
}

// Called at the first job of a window. Nothing is added to the previous window any more.
static void change_window(enum window to)
{
    look_at_exits(&task.windows[task.window]);
    task.window = to;
    for (uint32_t i = 0; i < BH_EXIT_REASON_COUNT; i++)
        task.windows[to].exits_at_start[i] = own_exits(i);
}

static void append_window(struct text *text, const char *name, const struct measured *window)
{
    text_append(text, ", \"%s\": {\"releases\": %lu, \"jitter_ns\": ", name, window->jitter.count);
    stats_append_summary(&window->jitter, text);
    text_append(text, ", \"work_ns\": ");
    stats_append_summary(&window->work, text);
    text_append(text, ", \"exits_of_releases\": %lu, \"exits\": [", window->releases);
    for (uint32_t i = 0; i < BH_EXIT_REASON_COUNT; i++)
        text_append(text, "%s%lu", i == 0 ? "" : ", ", window->exits[i]);
    text_append(text, "], \"histogram\": ");
    stats_append_histogram(&window->jitter, text);
    text_append(text, "}");
}

static void compose_report(void)
{
    struct text text;

    if (task.before_ticks != 0 && task.window != window_margin)
        look_at_exits(&task.windows[task.window]);
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
    if (task.before_ticks != 0) {
        append_window(&text, "before", &task.windows[window_before]);
        append_window(&text, "after", &task.windows[window_after]);
    }
#ifdef PERIODIC_SOCKET
    if (interrupts.pace_ticks != 0)
        text_append(&text, ", \"early\": %lu", interrupts.early);
#endif
    text_append(&text, "}\r\n");
    cpu_unmask_interrupts();
    output_next = output;
}

// Sends some of the output, if the UART accepts it: one character in any case, more during the first half of
// the period.
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
    task.before_ticks = ns_to_ticks(param("before_us", 0) * 1000, task.frequency);
    task.warmup = param("warmup", 0);
    task.passes = param("passes", 1);
    task.margin_ticks = ns_to_ticks(param("margin_us", 0) * 1000, task.frequency);
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
#ifdef PERIODIC_SOCKET
    if (!socket_init()) {
        console_write("periodic: there is no socket device\n");
        return;
    }
    gic_enable_private(board()->virtual_timer_intid); // the interrupt controller is in its initial state
    interrupts.pace_ticks = ns_to_ticks(param("pace_us", 0) * 1000, task.frequency);
    state.bytes = param("flows_out", 0) == 0 ? 0 : flow_param("out", 0, "bytes");
    if (state.bytes > most_state_bytes) {
        console_write("periodic: packets of its flow are too long\n");
        return;
    }
#endif
    task.first_deadline = timer_now() + task.period_ticks;
    task.deadline = task.first_deadline;
    change_window(window_before);
    timer_set(task.deadline);
    cpu_unmask_interrupts();
    for (uint64_t job = 1; iterations == 0 || job <= iterations; job++) {
        wait_for_release();
        if (task.before_ticks != 0 && window_of(task.deadline - task.period_ticks) != task.window)
            change_window(window_of(task.deadline - task.period_ticks));
        do_work();
#ifdef PERIODIC_SOCKET
        send_state();
#endif
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
