// SPDX-License-Identifier: Apache-2.0
//
// The broker: it alone looks into what domains send each other, and moves it (core/flow_exchange.h). It sees
// the memory of domains with a socket behind BH_BROKER_WINDOW. EL2 tells it through a door what drivers do to
// their devices, and it asks EL2 to interrupt them. A DMA engine may copy for it (engine.h). One loop: news,
// then a transfer, then news. When there is nothing to do it waits until EL2 wakes it, or for a time; or it
// tests a flow that a manager wants to add (admission.h). Parameters: `interrupt` of its line; `event`:
// events wake it instead (WFE), and it takes no interrupt for a packet; `samples` and `samples_bytes`: where
// each delivered packet is recorded, guest-physical; of an engine of its own, `engine` (its kind),
// `engine_at` and `engine_base`. Interrupts stay masked, they only end waiting.
#include "guests/programs/broker/admission.h"
#include "guests/programs/broker/broker.h"
#include "guests/programs/broker/costs.h"
#include "guests/programs/broker/engine.h"
#include "guests/programs/broker/news.h"
#include "guests/programs/broker/samples.h"
#include "guests/programs/broker/wait.h"

#include "guests/runtime/console.h"
#include "guests/runtime/gic.h"
#include "guests/runtime/params.h"
#include "guests/runtime/program.h"
#include "guests/runtime/timer.h"
#include "guests/runtime/window.h"

struct broker broker;

static struct flow_path paths[BH_MAX_FLOWS];

// Passes to EL2 at once what EL2 has to do, since drivers wait for it.
static void tell(void)
{
    struct flow_effects *effects = &broker.effects;

    if ((effects->lines | effects->failed | broker.left) == 0 && effects->counted == 0)
        return;
    for (uint64_t left = effects->counted; left != 0; left &= left - 1) {
        int number = __builtin_ctzll(left);

        broker.pages.reply.statistics[number] = paths[number].statistics;
    }
    broker_call(BH_HYPERCALL_BROKER_TELL, effects->lines, effects->failed, broker.left, effects->counted);
    *effects = (struct flow_effects){0};
    broker.left = 0;
}

static void finish(bool done)
{
    path_open(BH_PATH_PART_FINALIZE);
    if (done)
        flow_exchange_done(&broker.exchange, timer_now(), &broker.effects);
    else
        flow_exchange_fail(&broker.exchange, timer_now(), &broker.effects);
    news_leave();
    tell();
    path_close(BH_PATH_PART_FINALIZE, 0);
}

// Copies the whole transfer, piece by piece.
static void copy(void)
{
    uint32_t bytes = broker.exchange.inflight.transfer.bytes;
    struct flow_piece piece;

    for (uint32_t done = 0; done < bytes;) {
        uint32_t run = flow_exchange_piece(&broker.exchange, done, &piece);

        window_copy(piece.to_physical, piece.from_physical, run);
        done += run;
    }
    finish(true);
}

static void transfer(void)
{
    path_close(BH_PATH_PART_PROGRAM_DMA, 0);
    path_open(BH_PATH_PART_ENGINE);
    if (flow_exchange_copies(&broker.exchange))
        copy();
    else
        engine_begin();
}

// Everything in a step is as of the time of its begin; events that are noted, released or due later are left
// to the next step. Returns the time until which there is nothing to do unless an event comes; 0: there may
// be something to do.
static uint64_t step(void)
{
    uint64_t now = timer_now();
    uint64_t until = PACKET_NEVER;
    enum flow_next next;

    news_take(now);
    if (broker.exchange.inflight.transfers) {
        enum engine_state state = engine_look(now, &until);

        if (state == ENGINE_WORKS) {
            tell();
            return until;
        }
        finish(state == ENGINE_DONE);
    }
    flow_exchange_look(&broker.exchange, now, &broker.effects);
    next = flow_exchange_next(&broker.exchange, now, &until, &broker.effects);
    if (next == FLOW_NEXT_TRANSFER) {
        tell();
        transfer();
        return 0;
    }
    news_leave();
    tell();
    if (next == FLOW_NEXT_AGAIN) {
        path_close(BH_PATH_PART_FINALIZE, 0);
        return 0;
    }
    path_drop(BH_PATH_PART_PROGRAM_DMA);
    path_drop(BH_PATH_PART_FINALIZE);
    return until;
}

uint64_t broker_serve(void)
{
    for (;;) {
        uint64_t until = step();

        if (until != 0 && !broker_is_transferring())
            return until;
        if (until != 0)
            wait_for_news(until);
    }
}

void program_main(void)
{
    bool by_event = param("event", 0) != 0;

    if (!gic_init()) {
        console_write("broker: there is no interrupt controller\n");
        return;
    }
    if (!engine_init()) {
        console_write("broker: its engine is another one\n");
        return;
    }
    wait_init(by_event, (uint32_t)param("interrupt", 0));
    if (broker_call(BH_HYPERCALL_BROKER_OPEN, mmu_physical(&broker.pages), by_event, 0, 0) != 0) {
        console_write("broker: there are no flows\n");
        return;
    }
    news_init(paths);
    samples_init();
    costs_init();
    console_write("bulkhead: ready\n");
    // As after a sleep: what was sent before, while no broker was ready, is not late for that.
    flow_exchange_woke(&broker.exchange, timer_now() - broker.pages.map.look_back_ticks);
    for (;;) {
        uint64_t until = broker_serve();

        if (!admission_work(until))
            wait_for_news(until);
    }
}
