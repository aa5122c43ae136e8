// SPDX-License-Identifier: Apache-2.0
//
// The engine that belongs to EL2. EL2 checks the addresses of each transfer, enforces the rate by its own
// clock, takes the engine's interrupt, and writes into the door how the transfer has ended.
#include "guests/programs/broker/broker.h"
#include "guests/programs/broker/engine.h"

_Static_assert(ENGINE_WORKS == (int)DOOR_ENGINE_NOTHING && ENGINE_DONE == (int)DOOR_ENGINE_DONE &&
                   ENGINE_FAILED == (int)DOOR_ENGINE_FAILED,
               "the door says what the engine does");

static bool hypervisor_init(uint64_t at)
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
    broker_call_all(x);
    if (x[0] != 0) // an error of this program, or of an attacker that controls it
        broker.pages.door.engine = DOOR_ENGINE_FAILED;
    else if (x[1] == 0)
        flow_exchange_put_off(&broker.exchange, x[2]);
    else
        broker.exchange.inflight.not_before = x[2];
}

static enum engine_state look(void)
{
    uint32_t state = __atomic_load_n(&broker.pages.door.engine, __ATOMIC_ACQUIRE);

    if (state != DOOR_ENGINE_NOTHING)
        broker.pages.door.engine = DOOR_ENGINE_NOTHING;
    return (enum engine_state)state;
}

const struct engine engine_hypervisor = {
    .init = hypervisor_init, .begin = begin, .look = look, .pause_ns = ENGINE_WAKES};
