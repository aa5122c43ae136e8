// SPDX-License-Identifier: Apache-2.0
//
// A server of a disk and a network card for other domains: answers requests that come along the flows which
// end at its domain (each with a way back). The devices are two channels of a ZynqMP's DMA, which transfer as
// these do: the disk brings a block from a store that only the channel reads into the answer, page by page;
// the card sends the request in packets of at most 1514 bytes and receives them again (a loopback), and what
// was received is the answer. Requests are served one at a time, in turns: in each turn at most one of each
// flow. An answer leaves no earlier than a period of its flow after the answer before it has left. The server
// never waits for a client. The bound of a chain (docs/design/devices.md) rests on these four rules.
//
// Parameters, given by the tool: `flows_in` and, for each n, `in<n>_port`, `_bytes`, `_back_bytes`,
// `_back_period_ns`; `memory_pa`. Further `net` [1]: number of the flow that uses the card, `blocks` [64] of
// the store, `dma` [0xFFA80000], `interrupt` [109]: of the first channel, `delay_us` [0]: works that much
// longer on each request. When all connections have ended it reports of each flow the answers, and the
// longest service: while it writes, it serves nobody.
#include <arch/sysreg.h>

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
#include "guests/runtime/zdma.h"
#include "guests/socket/socket.h"

enum { most_flows = 8, page_bytes = 4096, packet_bytes = 1514, retry_per_s = 1000 };

enum { disk, card, channels };

static struct channel {
    uint64_t registers;
    uint32_t intid;
    volatile uint32_t status; // of the transfer that has ended; 0: none has
} channel[channels];

static struct served {
    struct socket *socket;
    uint32_t port;
    uint64_t request_bytes;
    uint64_t answer_bytes;
    uint64_t period;
    uint8_t *request;
    uint64_t got; // bytes of the request
    uint8_t *answer;
    bool ready;        // the answer is made, and not sent
    uint64_t from;     // ticks before which no answer leaves
    uint64_t number;   // of the packet with the last answer
    bool sent_one;     // `number` has a value
    uint64_t answered; // requests
    uint64_t longest;  // ticks of service
} served[most_flows];

static struct {
    uint32_t flows;
    uint64_t net; // number of the flow that uses the card
    uint64_t memory_pa;
    uint8_t *store;
    uint64_t blocks;
    uint64_t delay; // ticks
    uint32_t errors;
    bool has_news; // a connection has ended since the last report
} server;

void program_interrupt(uint32_t intid)
{
    if (intid == board()->virtual_timer_intid) {
        timer_stop();
        return;
    }
    for (uint32_t i = 0; i < channels; i++)
        if (intid == channel[i].intid) {
            channel[i].status = zdma_take(channel[i].registers);
            return;
        }
    socket_interrupt(intid);
}

static void sleep(void)
{
    cpu_wait_for_interrupt();
    cpu_unmask_interrupts();
    cpu_mask_interrupts();
}

// Waits for the channel's interrupt. Interrupts of the socket that come meanwhile are found by the next
// socket_poll().
static void transfer(struct channel *by, void *to, const void *from, uint64_t bytes)
{
    by->status = 0;
    zdma_start(by->registers, to, from, (uint32_t)bytes, server.memory_pa);
    while (by->status == 0)
        sleep();
    server.errors += by->status != zdma_isr_done;
}

static void transfer_all(struct channel *by, uint8_t *to, const uint8_t *from, uint64_t bytes, uint64_t step)
{
    for (uint64_t at = 0; at < bytes; at += step)
        transfer(by, to + at, from + at, bytes - at < step ? bytes - at : step);
}

static void serve(struct served *flow, uint32_t n)
{
    uint64_t start = timer_now();
    uint64_t block = message_number(flow->request, flow->request_bytes) % server.blocks;
    uint64_t took;

    if (n == server.net)
        transfer_all(&channel[card], flow->answer, flow->request, flow->answer_bytes, packet_bytes);
    else
        transfer_all(&channel[disk], flow->answer, server.store + block * flow->answer_bytes,
                     flow->answer_bytes, page_bytes);
    while (server.delay != 0 && timer_now() - start < server.delay) {
    }
    flow->got = 0;
    flow->ready = true;
    took = timer_now() - start;
    flow->longest = took > flow->longest ? took : flow->longest;
}

static void report_without_connections(void)
{
    for (uint32_t n = 0; n < server.flows; n++)
        if (served[n].socket != NULL)
            return;
    if (!server.has_news)
        return;
    server.has_news = false;
    console_write("report {");
    for (uint32_t n = 0; n < server.flows; n++)
        console_printf("\"answered%u\": %lu, \"longest%u_ns\": %lu, ", n, served[n].answered, n,
                       ticks_to_ns(served[n].longest, timer_frequency()));
    console_printf("\"errors\": %u}\n", server.errors);
}

// Sends an answer that is ready, if it may leave; returns the time at which it may.
static uint64_t answer(struct served *flow, uint64_t now)
{
    if (!flow->ready)
        return UINT64_MAX;
    if (now < flow->from)
        return flow->from;
    if (flow->sent_one && !socket_is_sent(flow->number))
        return UINT64_MAX; // the socket's interrupt tells
    if (!socket_offer(flow->socket, flow->answer, flow->answer_bytes, &flow->number))
        return now + timer_frequency() / retry_per_s; // the client has no room
    flow->sent_one = true;
    flow->ready = false;
    flow->answered++;
    flow->from = timer_now() + flow->period; // it has left after `now`: the core may have been stopped
    return UINT64_MAX;
}

// One turn of a flow. The answer is in the device's buffer until it is sent, so the next request is served
// after that.
static uint64_t attend(struct served *flow, uint32_t n)
{
    if (flow->socket == NULL)
        flow->socket = socket_accept_asked(flow->port);
    if (flow->socket == NULL)
        return UINT64_MAX;
    if (socket_has_ended(flow->socket)) {
        socket_forget(flow->socket);
        flow->socket = NULL;
        flow->got = 0;
        flow->ready = false;
        server.has_news = true;
        return UINT64_MAX;
    }
    flow->got += socket_take(flow->socket, flow->request + flow->got, flow->request_bytes - flow->got);
    if (flow->got == flow->request_bytes && !flow->ready && (!flow->sent_one || socket_is_sent(flow->number)))
        serve(flow, n);
    return answer(flow, timer_now());
}

static void *taken(struct memory_area *arena, uint64_t bytes)
{
    void *at = (void *)(uintptr_t)arena->start;

    if (arena->bytes < bytes)
        return NULL;
    arena->start += bytes;
    arena->bytes -= bytes;
    return at;
}

static bool init_flow(struct served *flow, uint32_t n, struct memory_area *arena)
{
    flow->port = (uint32_t)flow_param("in", n, "port");
    flow->request_bytes = flow_param("in", n, "bytes");
    flow->answer_bytes = flow_param("in", n, "back_bytes");
    flow->period = flow_param("in", n, "back_period_ns") * timer_frequency() / 1000000000u;
    flow->request = taken(arena, flow->request_bytes);
    flow->answer = taken(arena, flow->answer_bytes);
    if (n == server.net && flow->answer_bytes > flow->request_bytes)
        return false; // what is sent comes back
    return flow->request != NULL && flow->answer != NULL && flow->answer_bytes != 0;
}

static bool init(void)
{
    struct memory_area arena = memory_arena();
    uint64_t block_bytes = 0;

    server.flows = (uint32_t)param("flows_in", 0);
    server.memory_pa = param("memory_pa", 0);
    server.net = param("net", 1);
    server.blocks = param("blocks", 64);
    server.delay = param("delay_us", 0) * timer_frequency() / 1000000u;
    if (server.flows > most_flows || server.blocks == 0 || !socket_init())
        return false;
    gic_enable_private(board()->virtual_timer_intid);
    for (uint32_t n = 0; n < server.flows; n++) {
        if (!init_flow(&served[n], n, &arena))
            return false;
        if (n != server.net && served[n].answer_bytes > block_bytes)
            block_bytes = served[n].answer_bytes;
    }
    server.store = taken(&arena, server.blocks * block_bytes);
    if (server.store == NULL)
        return false;
    for (uint64_t i = 0; i < server.blocks * block_bytes; i++)
        server.store[i] = store_byte(i);
    for (uint32_t i = 0; i < channels; i++) {
        channel[i].registers = param("dma", 0xFFA80000) + i * zdma_channel_bytes;
        channel[i].intid = (uint32_t)param("interrupt", 109) + i;
        gic_enable_shared(channel[i].intid);
        // A transfer that the domain began before a restart must not pass for one of this life.
        while (zdma_is_busy(channel[i].registers)) {
        }
        zdma_init(channel[i].registers);
    }
    return true;
}

void program_main(void)
{
    if (!init()) {
        console_write(
            "server: there is no socket device, too little memory, or a flow that cannot be served\n");
        return;
    }
    console_write("bulkhead: ready\n");
    for (;;) {
        uint64_t next = UINT64_MAX;
        bool was_polled = false;

        for (uint32_t n = 0; n < server.flows; n++) {
            uint64_t at;

            // What came while another flow was served must not wait until the next turn.
            was_polled |= socket_poll();
            at = attend(&served[n], n);
            next = at < next ? at : next;
        }
        if (was_polled || socket_poll())
            continue; // what has come meanwhile
        report_without_connections();
        if (next != UINT64_MAX)
            timer_set(next);
        sleep();
        timer_stop();
    }
}
