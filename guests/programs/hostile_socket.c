// SPDX-License-Identifier: Apache-2.0
//
// A domain that uses its socket device as no correct driver does, in rounds, for tests of its neighbours'
// flows (tests/hosted/test_flow_bounds.py). It accepts a connection, and from then on notifies the device in
// a loop, with packets that name another sender. In the first half of the round it gives no receive buffer
// back, of which its driver has four; in the second half it does so at once. A malformed packet ends the
// round: the device asks for a reset, and gets it. Parameter: `round_us` [24000]; the tool adds
// `receive_port` of its first flow.
#include <arch/sysreg.h>

#include "guests/runtime/board.h"
#include "guests/runtime/console.h"
#include "guests/runtime/gic.h"
#include "guests/runtime/params.h"
#include "guests/runtime/program.h"
#include "guests/runtime/socket_device.h"
#include "guests/runtime/ticks.h"
#include "guests/runtime/timer.h"
#include "guests/socket/flood.h"
#include "guests/socket/socket.h"
#include "guests/socket/socket_driver.h"

enum { status_needs_reset = 64 };

void program_interrupt(uint32_t intid)
{
    if (intid == board()->virtual_timer_intid)
        timer_stop();
    else
        socket_interrupt(intid);
}

// What has come stays unread.
static void give_buffers(void)
{
    struct queue *queue = &socket_driver.shared->queues[VSOCK_QUEUE_RX];

    while (queue->seen != *index_of_used(queue)) {
        socket_port_barrier();
        make_available(queue, queue->used.ring[queue->seen % entries].head);
        queue->seen++;
    }
    notify(VSOCK_QUEUE_RX);
}

// From now on each packet is shorter than its header.
static void shorten_packets(void)
{
    struct queue *queue = &socket_driver.shared->queues[VSOCK_QUEUE_TX];

    for (uint32_t i = 0; i < entries; i++)
        *(volatile uint32_t *)&queue->descriptors[i].bytes = VSOCK_HEADER_BYTES - 1;
}

static bool has_failed(void)
{
    return (socket_port_read(socket_driver.registers + status_register) & status_needs_reset) != 0;
}

static void do_round(uint64_t ticks)
{
    uint64_t until = timer_now() + ticks / 2;

    socket_prepare_flood();
    while (timer_now() < until)
        socket_flood(true);
    until += ticks / 2;
    while (timer_now() < until) {
        socket_flood(true);
        give_buffers();
    }
    shorten_packets();
    while (!has_failed())
        socket_flood(true);
}

void program_main(void)
{
    const uint64_t ticks = ns_to_ticks(param("round_us", 24000) * 1000, timer_frequency());

    if (!gic_init() || !socket_init()) {
        console_write("hostile_socket: no socket device\n");
        return;
    }
    console_write("bulkhead: ready\n");
    for (;;) {
        (void)socket_accept((uint32_t)param("receive_port", 0));
        while (socket_driver.free_pairs != UINT32_MAX >> (32 - buffers)) // until the answer is sent
            (void)socket_poll();
        do_round(ticks);
        if (!socket_init())
            return;
    }
}
