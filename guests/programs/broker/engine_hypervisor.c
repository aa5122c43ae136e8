// SPDX-License-Identifier: Apache-2.0
//
// The engine that belongs to EL2. EL2 checks the addresses of each transfer, enforces the rate by its own
// clock, takes the engine's interrupt, and writes into the door how the transfer has ended.
#include "guests/programs/broker/broker.h"
#include "guests/programs/broker/engine.h"
#include "guests/programs/broker/news.h"

static bool refused; // an error of this program, or of an attacker that controls it

static bool init(uint64_t at)
{
    (void)at;
    return true;
}

static void begin(const struct flow_piece *piece, uint32_t bytes, uint64_t base)
{
    const struct flow_transfer *transfer = &broker.exchange.inflight.transfer;
    uint64_t x[CALL_REGISTERS] = {BH_HYPERCALL_BROKER_COPY, transfer->source, piece->from,
                                  transfer->destination,    piece->to,        bytes};

    (void)base;
    cpu_hypervisor_call_all(x);
    refused = x[0] != 0;
    if (refused)
        return;
    if (x[1] == 0)
        flow_exchange_put_off(&broker.exchange, x[2]);
    else
        broker.exchange.inflight.not_before = x[2];
}

static enum engine_state look(void)
{
    if (refused)
        return ENGINE_FAILED;
    if (!news_engine_has_ended())
        return ENGINE_WORKS;
    return news_engine_has_done() ? ENGINE_DONE : ENGINE_FAILED;
}

const struct engine engine_hypervisor = {
    .init = init, .begin = begin, .look = look, .pause_ns = ENGINE_WAKES};
