// SPDX-License-Identifier: Apache-2.0
//
// A client of `server`: sends a request along each flow that begins at its domain (each with a way back),
// when the answer to the previous one has come, and no earlier than a period after the previous one was sent.
// It serves its flows in turns: in each turn at most one answer and one request of each. It checks each byte
// of the answers, and measures from the moment before it first tries to send to the moment at which it has
// the answer as a whole. Packets of other flows that end at its domain are received and counted. Parameters:
// of the flows in order, given by the tool, `flows_out` and, for each n, `out<n>_cid`, `_port`, `_bytes`,
// `_back_bytes`, `_period_ns`; `flows_in` and `in<n>_port`. Further `requests` [0: without end] of each flow,
// `net` [1] and `blocks` [64] as of `server`, `together_ms` [0]: sends the first requests of all flows at
// once, when the counter has reached that time. The report has for each flow how many answers have come, how
// many of them were wrong, how many periods passed without a request because an answer was missing, how many
// attempts to send failed, how many requests were lost with their connection, and the longest time; the age
// of a request without an answer counts. It comes at the end, and while an answer takes longer than a period,
// once in a period.
#include "guests/programs/server_messages.h"
#include "guests/runtime/board.h"
#include "guests/runtime/console.h"
#include "guests/runtime/flow_params.h"
#include "guests/runtime/gic.h"
#include "guests/runtime/memory.h"
#include "guests/runtime/params.h"
#include "guests/runtime/program.h"
#include "guests/runtime/socket_device.h"
#include "guests/runtime/ticks.h"
#include "guests/runtime/timer.h"
#include "guests/socket/socket.h"

#include <arch/sysreg.h>

enum { most_flows = 4, ms_per_s = 1000 };

static struct asked {
    struct socket *socket;
    uint64_t cid;
    uint32_t port;
    uint64_t request_bytes;
    uint64_t answer_bytes;
    uint64_t period;
    uint64_t next; // ticks
    uint8_t *request;
    uint8_t *answer;
    uint64_t got;   // bytes of the answer
    bool tries;     // to send a request that is made
    bool waits;     // for the answer
    uint64_t since; // ticks at the first attempt to send it
    uint64_t requests;
    uint64_t answered;
    uint64_t wrong;
    uint64_t skipped;
    uint64_t failed;
    uint64_t lost;
    uint64_t longest; // ticks
    bool ended;
} asked[most_flows];

static struct {
    struct socket *socket;
    uint32_t port;
    uint64_t bytes;
} received[most_flows];

static struct {
    uint32_t out, in;
    uint64_t requests;
    uint64_t first; // counter value before which no request is sent
    uint64_t retry; // ticks between two attempts to connect, or to send
    uint64_t net;   // number of the flow that uses the card
    uint64_t blocks;
} client;

void program_interrupt(uint32_t intid)
{
    if (intid == board()->virtual_timer_intid)
        timer_stop();
    else
        socket_interrupt(intid);
}

static uint8_t answer_byte(uint32_t n, const struct asked *flow, uint64_t number, uint64_t index)
{
    if (n == client.net)
        return request_byte(number, index);
    return store_byte(number % client.blocks * flow->answer_bytes + index);
}

static bool init_flow(struct asked *flow, uint32_t n, struct memory_area *arena)
{
    flow->cid = flow_param("out", n, "cid");
    flow->port = (uint32_t)flow_param("out", n, "port");
    flow->request_bytes = flow_param("out", n, "bytes");
    flow->answer_bytes = flow_param("out", n, "back_bytes");
    flow->period = flow_param("out", n, "period_ns") * timer_frequency() / 1000000000u;
    flow->request = (uint8_t *)(uintptr_t)arena->start;
    flow->answer = flow->request + flow->request_bytes;
    if (arena->bytes < flow->request_bytes + flow->answer_bytes || flow->answer_bytes == 0)
        return false;
    arena->start += flow->request_bytes + flow->answer_bytes;
    arena->bytes -= flow->request_bytes + flow->answer_bytes;
    return true;
}

static bool init(void)
{
    struct memory_area arena = memory_arena();

    client.out = (uint32_t)param("flows_out", 0);
    client.in = (uint32_t)param("flows_in", 0);
    client.requests = param("requests", 0);
    client.net = param("net", 1);
    client.blocks = param("blocks", 64);
    client.retry = timer_frequency() / ms_per_s;
    client.first = param("together_ms", 0) * timer_frequency() / ms_per_s;
    if (client.out > most_flows || client.in > most_flows || client.blocks == 0 || !socket_init())
        return false;
    gic_enable_private(board()->virtual_timer_intid);
    for (uint32_t n = 0; n < client.out; n++)
        if (!init_flow(&asked[n], n, &arena))
            return false;
    for (uint32_t n = 0; n < client.in; n++)
        received[n].port = (uint32_t)flow_param("in", n, "port");
    return true;
}

static void note_age(struct asked *flow)
{
    uint64_t age = timer_now() - flow->since;

    if (flow->tries || flow->waits)
        flow->longest = age > flow->longest ? age : flow->longest;
}

static void report(void)
{
    console_write("report {");
    for (uint32_t n = 0; n < client.out; n++) {
        note_age(&asked[n]);
        console_printf("\"answered%u\": %lu, \"wrong%u\": %lu, \"skipped%u\": %lu, \"longest%u_ns\": %lu, ",
                       n, asked[n].answered, n, asked[n].wrong, n, asked[n].skipped, n,
                       ticks_to_ns(asked[n].longest, timer_frequency()));
        console_printf("\"failed%u\": %lu, \"lost%u\": %lu, ", n, asked[n].failed, n, asked[n].lost);
    }
    for (uint32_t n = 0; n < client.in; n++)
        console_printf("\"received%u\": %lu, ", n, received[n].bytes);
    console_printf("\"flows\": %u}\n", client.out + client.in);
}

// The answer has come as a whole.
static void finish(struct asked *flow, uint32_t n)
{
    uint64_t took = timer_now() - flow->since;
    bool wrong = false;

    flow->longest = took > flow->longest ? took : flow->longest;
    for (uint64_t i = 0; i < flow->answer_bytes; i++)
        wrong |= flow->answer[i] != answer_byte(n, flow, flow->answered + flow->lost, i);
    flow->wrong += wrong;
    flow->answered++;
    flow->waits = false;
    if (took > flow->period)
        report(); // the run may be over before all answers have come
}

// Returns the time at which it must be called again at the latest.
static uint64_t ask(struct asked *flow)
{
    uint64_t number;

    if (!flow->tries) {
        for (uint64_t i = 0; i < flow->request_bytes; i++)
            flow->request[i] = request_byte(flow->requests, i);
        flow->got = 0;
        flow->tries = true;
        flow->since = timer_now();
    }
    if (!socket_offer(flow->socket, flow->request, flow->request_bytes, &number)) {
        flow->failed++;
        return timer_now() + client.retry;
    }
    flow->requests++;
    flow->tries = false;
    flow->waits = true;
    flow->next = timer_now() + flow->period;
    return flow->next;
}

// What was under way is lost with the connection.
static void forget(struct asked *flow)
{
    uint64_t wait = flow->requests != 0 && flow->period > client.retry ? flow->period : client.retry;

    note_age(flow);
    flow->lost += flow->waits;
    flow->tries = false;
    flow->waits = false;
    socket_forget(flow->socket);
    flow->socket = NULL;
    flow->next = timer_now() + wait;
}

static bool is_connected(struct asked *flow)
{
    if (flow->socket != NULL && socket_has_ended(flow->socket)) {
        forget(flow); // refused, or the server has ended: try again later
        return false;
    }
    if (flow->socket == NULL && timer_now() >= flow->next) {
        flow->socket = socket_ask(flow->cid, flow->port);
        flow->next = timer_now() + client.retry;
    }
    return flow->socket != NULL && socket_is_open(flow->socket);
}

// Returns the time at which it must be called again at the latest.
static uint64_t attend(struct asked *flow, uint32_t n)
{
    if (flow->ended)
        return UINT64_MAX;
    if (!is_connected(flow))
        return flow->socket == NULL ? flow->next : UINT64_MAX;
    if (flow->waits) {
        flow->got += socket_take(flow->socket, flow->answer + flow->got, flow->answer_bytes - flow->got);
        if (flow->got == flow->answer_bytes)
            finish(flow, n);
    }
    if (!flow->waits && client.requests != 0 && flow->answered >= client.requests) {
        flow->ended = true;
        socket_close(flow->socket);
        return UINT64_MAX;
    }
    if (flow->next < client.first)
        flow->next = client.first;
    if (timer_now() < flow->next && !flow->tries)
        return flow->next;
    if (!flow->waits)
        return ask(flow);
    flow->skipped++;
    report();
    flow->next = timer_now() + flow->period;
    return flow->next;
}

static void receive(uint32_t n)
{
    static uint8_t piece[4096];
    size_t bytes;

    if (received[n].socket == NULL)
        received[n].socket = socket_accept_asked(received[n].port);
    if (received[n].socket == NULL)
        return;
    while ((bytes = socket_take(received[n].socket, piece, sizeof(piece))) != 0)
        received[n].bytes += bytes;
    if (socket_has_ended(received[n].socket)) {
        socket_forget(received[n].socket);
        received[n].socket = NULL;
    }
}

static bool has_ended(void)
{
    for (uint32_t n = 0; n < client.out; n++)
        if (!asked[n].ended)
            return false;
    return client.out != 0;
}

void program_main(void)
{
    if (!init()) {
        console_write("client: there is no socket device, too little memory, or a flow without a way back\n");
        return;
    }
    console_write("bulkhead: ready\n");
    while (!has_ended()) {
        uint64_t next = UINT64_MAX;
        bool was_polled = false;

        for (uint32_t n = 0; n < client.in; n++)
            receive(n);
        for (uint32_t n = 0; n < client.out; n++) {
            uint64_t at;

            // What came while another flow was served must not wait until the next turn.
            was_polled |= socket_poll();
            at = attend(&asked[n], n);
            next = at < next ? at : next;
        }
        if (was_polled || socket_poll())
            continue; // what has come meanwhile
        if (next != UINT64_MAX)
            timer_set(next);
        cpu_wait_for_interrupt();
        cpu_unmask_interrupts();
        cpu_mask_interrupts();
        timer_stop();
    }
    report();
}
