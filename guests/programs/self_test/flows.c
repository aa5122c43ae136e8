// SPDX-License-Identifier: Apache-2.0
//
// Measures on a board what `bulkhead bench flows` measures on the simulated machine: the parts of the path of
// packets, and a call of the hypervisor. Prints them as YAML between two marks, for `bulkhead self-test`. A
// manager that receives one flow. The domains of the other flows, and this one, write to memory for the first
// `write_ms`: what is measured then gives the largest times, and what is measured afterwards averages and
// medians. At the end it ends the machine. Parameters: `receive_port` (given by the tool), `core`: the
// board's core that it runs on, `engine` [0]: 1: an engine copies for the broker, `by_interrupt` [0]: 1: the
// broker waits for an interrupt, `isolated` [0]: 1: colors keep EL2 and the broker apart from all domains,
// `write_ms` [200], `quiet_ms` [200], `write_kib` [4096], `times` [40] of the call, `rest_us` [1000] between
// two of them beside writers, `quiet_rest_us` [50] afterwards.
#include <arch/sysreg.h>
#include <stddef.h>

#include "guests/programs/call_times.h"
#include "guests/programs/self_test/path_parts.h"
#include "guests/programs/self_test/self_test.h"
#include "guests/runtime/board.h"
#include "guests/runtime/console.h"
#include "guests/runtime/displacer.h"
#include "guests/runtime/gic.h"
#include "guests/runtime/manager.h"
#include "guests/runtime/params.h"
#include "guests/runtime/program.h"
#include "guests/runtime/socket_device.h"
#include "guests/runtime/start.h"
#include "guests/runtime/ticks.h"
#include "guests/runtime/timer.h"
#include "guests/socket/socket.h"

enum { piece_bytes = 4096 };

static struct {
    uint32_t port;
    struct socket *socket;
    struct displacer displacer;
    volatile bool interrupted; // since it last began to wait
} receiver;

static uint8_t piece[piece_bytes];

void program_interrupt(uint32_t intid)
{
    receiver.interrupted = true;
    if (intid == board()->virtual_timer_intid)
        timer_stop();
    else
        socket_interrupt(intid);
}

static void receive(void)
{
    if (receiver.socket == NULL)
        receiver.socket = socket_accept_asked(receiver.port);
    if (receiver.socket == NULL)
        return;
    while (socket_take(receiver.socket, piece, sizeof(piece)) != 0) {
    }
    if (socket_has_ended(receiver.socket)) {
        socket_forget(receiver.socket);
        receiver.socket = NULL;
    }
}

static void wait(bool writes)
{
    receiver.interrupted = false;
    if (!writes)
        cpu_wait_for_interrupt();
    cpu_unmask_interrupts();
    while (writes && !receiver.interrupted)
        displacer_step(&receiver.displacer);
    cpu_mask_interrupts();
}

static void receive_until(uint64_t end, bool writes)
{
    while (timer_now() < end) {
        (void)socket_poll();
        receive();
        if (socket_poll())
            continue;
        timer_set(end);
        wait(writes);
        timer_stop();
    }
}

static uint64_t ticks_of_ms(uint64_t ms)
{
    return ticks_of_us(ms * 1000);
}

static void print_part(const char *name, const struct path_part *all, const struct path_part *quiet)
{
    uint64_t hz = timer_frequency();
    uint64_t min = ticks_to_ns(all->min, hz);
    uint64_t max = ticks_to_ns(all->max, hz);
    uint64_t avg = ticks_to_ns(quiet->sum / quiet->count, hz);
    uint64_t median = ticks_to_ns(path_part_median(quiet), hz);

    median = median < min ? min : median > max ? max : median;
    report_append("  %s: { min: %lu ns, avg: %lu ns, max: %lu ns, median: %lu ns, count: %lu }\n", name, min,
                  avg, max, median, all->count);
}

static void print_call(const struct call_times *writing, const struct call_times *quiet)
{
    uint64_t hz = timer_frequency();

    report_append(
        "  hypervisor_call: { min: %lu ns, avg: %lu ns, max: %lu ns, median: %lu ns, count: %lu }\n",
        ticks_to_ns(quiet->min < writing->min ? quiet->min : writing->min, hz), ticks_to_ns(quiet->avg, hz),
        ticks_to_ns(quiet->max > writing->max ? quiet->max : writing->max, hz),
        ticks_to_ns(quiet->median, hz), quiet->count + writing->count);
}

// Returns false if a part of the path was not passed in both times. No packet passes EL2's own interrupts.
static bool print_parts(const struct path_parts *writing, const struct path_parts *all)
{
    for (unsigned part = 0; part < BH_PATH_PART_INTERRUPT; part++) {
        struct path_part quiet = path_part_since(&all->parts[part], &writing->parts[part]);

        if (quiet.count == 0 || writing->parts[part].count == 0) {
            console_printf("self-test: no packet passed the part '%s'\n", path_part_names[part]);
            return false;
        }
        print_part(path_part_names[part], &all->parts[part], &quiet);
    }
    return true;
}

static struct path_parts writing, all;

static bool measure(void)
{
    uint64_t core = param("core", 0);
    uint64_t rest = ticks_of_us(param("rest_us", 1000));
    uint64_t times = param("times", 40);
    uint64_t writing_until = start_counter() + ticks_of_ms(param("write_ms", 200));
    struct displacer none = {0};
    bool measured;
    // Before its device is up, so that no notification interrupts a call.
    struct call_times displaced = call_times_measure(times, rest, &receiver.displacer);

    if (timer_now() >= writing_until || !socket_init()) {
        console_write("self-test: there is no socket device, or `write_ms` is too short\n");
        return false;
    }
    gic_enable_private(board()->virtual_timer_intid);
    receive_until(writing_until, true);
    cpu_unmask_interrupts(); // the calls take a millisecond, by which a notification would seem longer
    measured = path_parts_read(core, &writing);
    cpu_mask_interrupts();
    if (!measured) {
        console_write("self-test: the system has no `broker: { stamps: true }`, or this is no manager\n");
        return false;
    }
    receive_until(writing_until + ticks_of_ms(param("quiet_ms", 200)), false);
    (void)path_parts_read(core, &all);
    struct call_times quiet = call_times_measure(times, ticks_of_us(param("quiet_rest_us", 50)), &none);

    report_append("self_test_flows: 1\n");
    report_append(
        "broker: { engine: %s, wait: %s, isolated: %s }\n", param("engine", 0) != 0 ? "zdma" : "cpu-copy",
        param("by_interrupt", 0) != 0 ? "interrupt" : "event", param("isolated", 0) != 0 ? "true" : "false");
    report_append("parts:  # averages and medians without writers, smallest and largest also beside them\n");
    print_call(&displaced, &quiet);
    return print_parts(&writing, &all);
}

void program_main(void)
{
    struct memory_area arena = memory_arena();

    receiver.port = (uint32_t)param("receive_port", 0);
    if (!displacer_init(&receiver.displacer, &arena, param("write_kib", 4096) * 1024)) {
        console_write("self-test: too little memory\n");
        return;
    }
    console_write("bulkhead: ready\n");
    if (measure() && report_print())
        console_write("report {\"measured\": 1}\n");
    (void)manager_end_machine();
    for (;;)
        cpu_wait_for_interrupt();
}
