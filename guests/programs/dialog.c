// SPDX-License-Identifier: Apache-2.0
//
// Requests and answers along the first flow of its domain, which has a way back. The domain that begins the
// flow sends a request in each period, when the answer to the previous one has come; the domain at its end
// answers. Parameters, given by the tool: `flows_out`, `out0_cid`, `out0_port`, `out0_bytes`,
// `out0_back_bytes` and `out0_period_ns`, or `in0_port`, `in0_bytes` and `in0_back_bytes`. Further `requests`
// [0: without end]. Each request has a number, and the bytes of its answer depend on that number. The
// requester reports how many answers have come, how many were wrong, and the mean and maximum time from
// request to answer.
#include "guests/runtime/board.h"
#include "guests/runtime/console.h"
#include "guests/runtime/gic.h"
#include "guests/runtime/memory.h"
#include "guests/runtime/params.h"
#include "guests/runtime/program.h"
#include "guests/runtime/socket_device.h"
#include "guests/runtime/ticks.h"
#include "guests/runtime/timer.h"
#include "guests/socket/socket.h"

enum { pauses_per_s = 1000, reports_per_s = 100 };

static struct {
    uint8_t *request;
    uint8_t *answer;
    uint64_t request_bytes;
    uint64_t answer_bytes;
    uint64_t answered;
    uint64_t wrong;
    uint64_t total; // ticks, of all answers
    uint64_t most;
} dialog;

void program_interrupt(uint32_t intid)
{
    if (intid == board()->virtual_timer_intid)
        timer_stop();
    socket_interrupt(intid);
}

// Byte `index` of message `number`. A message begins with its number, the low byte first.
static uint8_t byte_of(uint64_t number, uint64_t index)
{
    return index < sizeof(number) ? (uint8_t)(number >> 8 * index) : (uint8_t)(number * 31 + index * 7);
}

static void fill(uint8_t *to, uint64_t bytes, uint64_t number)
{
    for (uint64_t i = 0; i < bytes; i++)
        to[i] = byte_of(number, i);
}

static bool is_of(const uint8_t *at, uint64_t bytes, uint64_t number)
{
    for (uint64_t i = 0; i < bytes; i++)
        if (at[i] != byte_of(number, i))
            return false;
    return true;
}

static bool receive_all(struct socket *socket, uint8_t *to, uint64_t bytes)
{
    uint64_t got = 0;

    while (got < bytes) {
        size_t more = socket_receive(socket, to + got, bytes - got);

        if (more == 0)
            return false;
        got += more;
    }
    return true;
}

static void report(void)
{
    uint64_t mean = dialog.answered == 0 ? 0 : dialog.total / dialog.answered;

    console_printf("report {\"answered\": %lu, \"wrong\": %lu, \"mean_ns\": %lu, \"most_ns\": %lu}\n",
                   dialog.answered, dialog.wrong, ticks_to_ns(mean, timer_frequency()),
                   ticks_to_ns(dialog.most, timer_frequency()));
}

// False: the connection has ended.
static bool ask_one(struct socket *socket, uint64_t number)
{
    uint64_t asked = timer_now();
    uint64_t took;

    fill(dialog.request, dialog.request_bytes, number);
    if (!socket_send(socket, dialog.request, dialog.request_bytes, dialog.request_bytes) ||
        !receive_all(socket, dialog.answer, dialog.answer_bytes))
        return false;
    took = timer_now() - asked;
    dialog.answered++;
    dialog.wrong += !is_of(dialog.answer, dialog.answer_bytes, number * 3 + 1);
    dialog.total += took;
    dialog.most = took > dialog.most ? took : dialog.most;
    return true;
}

static void ask_all(struct socket *socket)
{
    uint64_t period = param("out0_period_ns", 0) * timer_frequency() / 1000000000u;
    uint64_t requests = param("requests", 0);
    uint64_t next = timer_now();
    uint64_t told = next;

    for (uint64_t i = 0; (requests == 0 || i < requests) && ask_one(socket, i); i++) {
        next += period;
        if (timer_now() - told > timer_frequency() / reports_per_s) {
            report(); // a run without end is ended from outside
            told = timer_now();
        }
        timer_sleep_until(next);
    }
}

static void ask(void)
{
    struct socket *socket;

    while ((socket = socket_connect(param("out0_cid", 0), (uint32_t)param("out0_port", 0))) == NULL)
        timer_sleep_until(timer_now() + timer_frequency() / pauses_per_s);
    ask_all(socket);
    socket_close(socket);
    report();
}

static void answer(void)
{
    struct socket *socket = socket_accept((uint32_t)param("in0_port", 0));

    while (receive_all(socket, dialog.request, dialog.request_bytes)) {
        uint64_t number = 0;

        for (uint32_t i = 0; i < sizeof(number) && i < dialog.request_bytes; i++)
            number |= (uint64_t)dialog.request[i] << 8 * i;
        dialog.wrong += !is_of(dialog.request, dialog.request_bytes, number);
        fill(dialog.answer, dialog.answer_bytes, number * 3 + 1);
        if (!socket_send(socket, dialog.answer, dialog.answer_bytes, dialog.answer_bytes))
            break;
    }
    socket_close(socket);
}

void program_main(void)
{
    struct memory_area arena = memory_arena();
    bool asks = param("flows_out", 0) != 0;

    dialog.request_bytes = param(asks ? "out0_bytes" : "in0_bytes", 0);
    dialog.answer_bytes = param(asks ? "out0_back_bytes" : "in0_back_bytes", 0);
    if (!socket_init() || arena.bytes < dialog.request_bytes + dialog.answer_bytes) {
        console_write("dialog: there is no socket device, or no memory\n");
        return;
    }
    dialog.request = (uint8_t *)arena.start;
    dialog.answer = dialog.request + dialog.request_bytes;
    gic_enable_private(board()->virtual_timer_intid);
    console_write("bulkhead: ready\n");
    if (asks)
        ask();
    while (!asks)
        answer();
}
