// SPDX-License-Identifier: Apache-2.0
//
// State of the broker, shared by its files, and its calls of EL2.
#ifndef BULKHEAD_GUESTS_BROKER_H
#define BULKHEAD_GUESTS_BROKER_H

#include "core/broker_door.h"
#include "core/path_costs.h"
#include "guests/runtime/board.h"
#include "guests/runtime/timer.h"

#include <arch/mmu.h>
#include <arch/sysreg.h>

// The pages shared with EL2 (the door), one for each purpose, as EL2 expects them.
struct broker_pages {
    struct broker_door door __attribute__((aligned(BH_PAGE_BYTES)));
    struct broker_reply reply __attribute__((aligned(BH_PAGE_BYTES)));
    struct broker_map map __attribute__((aligned(BH_PAGE_BYTES)));
};

struct broker {
    struct broker_pages pages;
    struct flow_exchange exchange;
    struct flow_effects effects; // which EL2 has not yet been told of
    uint32_t left; // devices, 1 << index, of which earlier lives are over, which EL2 has not yet been told of
};

extern struct broker broker;

// Whether a transfer is under way, or the rate does not permit the next one yet. The broker waits then, and
// does nothing that could delay what comes next.
static inline bool broker_is_transferring(void)
{
    return broker.exchange.inflight.transfers || timer_now() < broker.exchange.inflight.not_before;
}

// Serves the domains until there is nothing to do and broker_is_transferring() is false. Returns the time
// until which there is nothing to do unless an event comes.
uint64_t broker_serve(void);

// A call of EL2 with all its registers.
void broker_call_all(uint64_t x[CALL_REGISTERS]);

// Returns x0: 0, or a negated hypercall_error.
uint64_t broker_call(uint64_t function, uint64_t x1, uint64_t x2, uint64_t x3, uint64_t x4);

#endif
