// SPDX-License-Identifier: Apache-2.0
//
// The engine of this system, and its current transfer.
#include "guests/programs/broker/engine.h"
#include "guests/programs/broker/broker.h"
#include "guests/runtime/params.h"
#include "guests/runtime/ticks.h"
#include "guests/runtime/timer.h"

static struct {
    const struct engine *driver;
    uint64_t base;
    uint64_t pause; // ticks, where the broker sleeps between two looks
} engine;

bool engine_init(void)
{
    uint64_t kind = param("engine", BH_OWN_ENGINE_NONE);

    engine.driver = kind == BH_OWN_ENGINE_ZDMA  ? &engine_zdma
                    : kind == BH_OWN_ENGINE_EDU ? &engine_edu
                                                : &engine_hypervisor;
    engine.base = param("engine_base", 0);
    if (engine.driver->pause_ns != ENGINE_WAKES)
        engine.pause = ns_to_ticks(engine.driver->pause_ns, timer_frequency());
    return engine.driver->init(param("engine_at", 0));
}

void engine_begin(void)
{
    struct flow_piece piece;
    uint32_t bytes = flow_exchange_piece(&broker.exchange, 0, &piece);

    broker.pages.reply.transfer_since = timer_now();
    engine.driver->begin(&piece, bytes, engine.base);
}

enum engine_state engine_look(uint64_t now, uint64_t *until)
{
    enum engine_state state = engine.driver->look();

    if (state != ENGINE_WORKS)
        broker.pages.reply.transfer_since = 0;
    *until = engine.driver->pause_ns == ENGINE_WAKES ? PACKET_NEVER
             : engine.pause == 0                     ? 0
                                                     : now + engine.pause;
    return state;
}
