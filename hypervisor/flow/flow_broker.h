/* SPDX-License-Identifier: Apache-2.0
 *
 * What socket devices (flows.c) and the broker's calls (flow_broker.c) have in common.
 */
#ifndef BULKHEAD_FLOW_BROKER_H
#define BULKHEAD_FLOW_BROKER_H

#include "core/flow_exchange.h"
#include "flow/guest_memory.h"
#include <bulkhead_layout.h>
#include <stdatomic.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

extern struct flows {
    struct flow_exchange exchange;
    struct flow_path paths[BH_MAX_FLOWS];
    struct guest_memory memories[BH_MAX_DOMAINS]; /* by domain */
    _Atomic uint32_t
        stopping; /* domains, 1 << index, whose driver waits until no transfer touches its memory */
} flows;

/* Interrupt lines, requests to other cores, and the broker's waking that a call of the exchange has led to.
 * Without its locks. */
void flows_apply_effects(const struct flow_effects *effects);

/* The rate, the engine, and the memory that the broker is shown. First core, when the devices are there.
 * False: the pool is exhausted. */
bool flow_broker_init(void);

/* There is something new for it to look at. Any core. */
void flow_broker_wake(void);

/* Its VCPU does not run any more. On its core. */
void flow_broker_vcpu_off(void);

/* It is not to run any more. Any core. What it or its engine is at is finished first: until then nobody gets
 * a buffer back that may be touched. */
void flow_broker_stop(void);

#ifdef __cplusplus
}
#endif

#endif
