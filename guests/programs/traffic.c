// SPDX-License-Identifier: Apache-2.0
//
// Traffic along all flows that begin or end at its domain: sends one packet in each period of a flow that
// begins here, and receives all packets of a flow that ends here. Parameters: of the flows in order, given by
// the tool, `flows_out` and, for each n, `out<n>_cid`, `_port`, `_bytes`, `_period_ns`; `flows_in` and
// `in<n>_port`. Further `packets` [0: without end] of each flow, `hurry` [1]: sends that many times as often
// as was declared, `ahead` [0]: 1: a packet does not wait until the previous one is sent, which may then be
// overwritten, `after_ms` [0]: starts to send that long after its start, `together_ms` [0]: sends the first
// packets of all connected flows at once, when the counter has reached that time; `write_kib` [0]: while
// there is nothing to do, it writes to that much memory, executes much code, and does not sleep, for
// `write_ms` [0: without end] from its start on; `print` [0]: 1: it prints lines meanwhile, also without
// `write_kib`. At the end, or,
// if there is none, whenever another domain has ended a stream, it reports of each flow the bytes and their
// CRC-32. `traffic_many` has more connections, and time stamps in its packets (time_stamps.h).
#include "core/crc32.h"
#include "guests/programs/displace_code.h"
#include "guests/programs/time_stamps.h"
#include "guests/runtime/board.h"
#include "guests/runtime/console.h"
#include "guests/runtime/displacer.h"
#include "guests/runtime/flow_params.h"
#include "guests/runtime/gic.h"
#include "guests/runtime/memory.h"
#include "guests/runtime/params.h"
#include "guests/runtime/program.h"
#include "guests/runtime/socket_device.h"
#include "guests/runtime/timer.h"
#include "guests/socket/socket.h"

#include <arch/sysreg.h>

// Maximum number of connections (guests/CMakeLists.txt).
#ifndef SOCKET_CONNECTIONS
#define SOCKET_CONNECTIONS 8
#endif

enum { most_flows = SOCKET_CONNECTIONS, piece_bytes = 4096, ms_per_s = 1000 };

static struct outgoing {
    struct socket *socket;
    uint64_t cid;
    uint32_t port;
    uint64_t bytes; // of a packet
    uint64_t period;
    uint64_t next; // ticks
    uint8_t *packet;
    uint64_t number; // of the previous packet
    uint64_t sent;   // packets
    uint32_t crc;
    uint64_t skipped; // releases at which the previous packet was not yet sent, or there was no room
    bool ended;
} outgoing[most_flows];

static struct incoming {
    struct socket *socket;
    uint32_t port;
    struct arrivals arrivals;
    uint64_t received;
    uint32_t crc;
    bool ended;
} incoming[most_flows];

static struct {
    uint32_t out, in;
    uint64_t packets;
    uint64_t retry; // ticks between two attempts to connect
    uint64_t first; // counter value before which no packet is sent
    bool ahead;
    struct displacer displacer;
    uint64_t writes_until; // ticks
    uint64_t steps;        // of writing
    bool prints;
    volatile bool interrupted; // since it last began to wait
} traffic;

static uint8_t piece[piece_bytes];

void program_interrupt(uint32_t intid)
{
    traffic.interrupted = true;
    if (intid == board()->virtual_timer_intid)
        timer_stop();
    else
        socket_interrupt(intid);
}

static bool init_outgoing(struct outgoing *flow, uint32_t n, struct memory_area *arena, uint64_t start)
{
    flow->cid = flow_param("out", n, "cid");
    flow->port = (uint32_t)flow_param("out", n, "port");
    flow->bytes = flow_param("out", n, "bytes");
    flow->period = flow_param("out", n, "period_ns") * timer_frequency() / 1000000000u / param("hurry", 1);
    flow->next = start;
    flow->packet = (uint8_t *)arena->start;
    if (arena->bytes < flow->bytes)
        return false;
    for (uint64_t i = 0; i < flow->bytes; i++)
        flow->packet[i] = (uint8_t)(i * 7 + n);
    arena->start += flow->bytes;
    arena->bytes -= flow->bytes;
    return true;
}

static bool init(void)
{
    struct memory_area arena = memory_arena();
    uint64_t start;

    traffic.out = (uint32_t)param("flows_out", 0);
    traffic.in = (uint32_t)param("flows_in", 0);
    traffic.packets = param("packets", 0);
    traffic.ahead = param("ahead", 0) != 0;
    traffic.retry = timer_frequency() / ms_per_s;
    traffic.first = param("together_ms", 0) * timer_frequency() / ms_per_s;
    if (traffic.out + traffic.in > most_flows) {
        console_printf("traffic: more than %u flows\n", (unsigned)most_flows);
        return false;
    }
    if (!socket_init()) {
        console_write("traffic: there is no socket device\n");
        return false;
    }
    gic_enable_private(board()->virtual_timer_intid);
    start = timer_now() + param("after_ms", 0) * timer_frequency() / ms_per_s;
    for (uint32_t n = 0; n < traffic.out; n++)
        if (!init_outgoing(&outgoing[n], n, &arena, start)) {
            console_write("traffic: too little memory\n");
            return false;
        }
    time_stamps_init();
    traffic.prints = param("print", 0) != 0;
    traffic.writes_until = UINT64_MAX;
    if (param("write_ms", 0) != 0)
        traffic.writes_until = timer_now() + param("write_ms", 0) * timer_frequency() / ms_per_s;
    if (!displacer_init(&traffic.displacer, &arena, param("write_kib", 0) * 1024)) {
        console_write("traffic: too little memory\n");
        return false;
    }
    for (uint32_t n = 0; n < traffic.in; n++) {
        incoming[n].port = (uint32_t)flow_param("in", n, "port");
        time_stamps_expect(&incoming[n].arrivals, n);
    }
    return true;
}

static bool is_sent(const struct outgoing *flow)
{
    return flow->sent == 0 || socket_is_sent(flow->number);
}

// Makes one packet, whose bytes depend on its number.
static void send(struct outgoing *flow)
{
    uint64_t number = flow->sent;

    for (uint32_t i = 0; i < sizeof(number) && i < flow->bytes; i++)
        flow->packet[i] = (uint8_t)(number >> 8 * i);
    // A packet that is still being read keeps its time stamp.
    if (time_stamps_exist && is_sent(flow))
        time_stamps_write(flow->packet, flow->bytes);
    if (!socket_offer(flow->socket, flow->packet, flow->bytes, &flow->number)) {
        flow->skipped++;
        return;
    }
    flow->crc = crc32_update(flow->crc, flow->packet, flow->bytes);
    flow->sent++;
}

static void end(struct outgoing *flow)
{
    flow->ended = true;
    socket_close(flow->socket);
    flow->socket = NULL;
}

// Sends what is due of a flow by `now`; returns the time at which it must be called again at the latest.
static uint64_t attend_outgoing(struct outgoing *flow, uint64_t now)
{
    bool all = traffic.packets != 0 && flow->sent == traffic.packets;

    if (flow->ended || (all && !is_sent(flow)))
        return UINT64_MAX;
    if (all) {
        end(flow);
        return UINT64_MAX;
    }
    if (now < flow->next)
        return flow->next;
    if (flow->socket != NULL && socket_has_ended(flow->socket)) {
        socket_forget(flow->socket); // refused, or the domain has ended: try again later
        flow->socket = NULL;
        flow->next = now + traffic.retry;
        return flow->next;
    }
    if (flow->socket == NULL) {
        flow->socket = socket_ask(flow->cid, flow->port);
        flow->next = now + traffic.retry;
        return flow->next;
    }
    if (!socket_is_open(flow->socket))
        return UINT64_MAX;
    if (now < traffic.first) {
        flow->next = traffic.first;
        return flow->next;
    }
    if (traffic.ahead || is_sent(flow))
        send(flow);
    else
        flow->skipped++;
    flow->next = now - flow->next < flow->period ? flow->next + flow->period : now + flow->period;
    return flow->next;
}

static void report(void)
{
    console_write("report {");
    for (uint32_t n = 0; n < traffic.out; n++)
        console_printf("\"sent%u\": %lu, \"sent%u_crc\": %u, \"skipped%u\": %lu, ", n,
                       outgoing[n].sent * outgoing[n].bytes, n, outgoing[n].crc, n, outgoing[n].skipped);
    for (uint32_t n = 0; n < traffic.in; n++)
        console_printf("\"received%u\": %lu, \"received%u_crc\": %u, ", n, incoming[n].received, n,
                       incoming[n].crc);
    console_printf("\"flows\": %u}\n", traffic.out + traffic.in);
}

static void attend_incoming(struct incoming *flow)
{
    size_t bytes;

    if (flow->socket == NULL && !flow->ended)
        flow->socket = socket_accept_asked(flow->port);
    if (flow->socket == NULL)
        return;
    while ((bytes = socket_take(flow->socket, piece, sizeof(piece))) != 0) {
        flow->crc = crc32_update(flow->crc, piece, bytes);
        flow->received += bytes;
        time_stamps_take(&flow->arrivals, piece, bytes);
    }
    if (socket_has_ended(flow->socket)) {
        socket_forget(flow->socket);
        flow->socket = NULL;
        flow->arrivals.at = 0;
        flow->arrivals.stamp = 0;
        flow->ended = traffic.packets != 0;
        if (traffic.packets == 0)
            report(); // it runs without end, and one stream has ended
    }
}

static bool has_ended(void)
{
    for (uint32_t n = 0; n < traffic.out; n++)
        if (!outgoing[n].ended)
            return false;
    for (uint32_t n = 0; n < traffic.in; n++)
        if (!incoming[n].ended)
            return false;
    return true;
}

// The time at which something is to be sent next.
static uint64_t attend(void)
{
    uint64_t now = timer_now();
    uint64_t next = UINT64_MAX;
    uint64_t at;

    for (uint32_t n = 0; n < traffic.in; n++)
        attend_incoming(&incoming[n]);
    for (uint32_t n = 0; n < traffic.out; n++) {
        at = attend_outgoing(&outgoing[n], now);
        next = at < next ? at : next;
    }
    at = time_stamps_report(now);
    return at < next ? at : next;
}

// Whether it does something while it waits.
static bool is_busy(void)
{
    return (traffic.displacer.buffer.bytes != 0 || traffic.prints) && timer_now() < traffic.writes_until;
}

// Writes to 64 KiB, step by step, then executes as much code.
static void keep_busy(void)
{
    bool writes = traffic.displacer.buffer.bytes != 0;

    if (writes)
        displacer_step(&traffic.displacer);
    if (++traffic.steps % 16 != 0)
        return;
    if (writes)
        displace_code();
    if (traffic.prints)
        console_write("traffic: has displaced what the caches had\n");
}

// Until an interrupt comes. Interrupts are masked before and after.
static void wait(void)
{
    traffic.interrupted = false;
    cpu_unmask_interrupts();
    while (is_busy() && !traffic.interrupted)
        keep_busy();
    cpu_mask_interrupts();
    if (!traffic.interrupted)
        cpu_wait_for_interrupt();
    cpu_unmask_interrupts();
    cpu_mask_interrupts();
}

static void run(void)
{
    for (;;) {
        uint64_t next;

        (void)socket_poll();
        next = attend();
        if (has_ended())
            return;
        if (socket_poll())
            continue; // what has come meanwhile
        if (next != UINT64_MAX)
            timer_set(next);
        wait();
        timer_stop();
    }
}

void program_main(void)
{
    if (!init())
        return;
    console_write("bulkhead: ready\n");
    run();
    report();
}
