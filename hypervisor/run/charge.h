/* SPDX-License-Identifier: Apache-2.0
 *
 * Charges a guest's budget for the work that its core makes EL2 cause on other cores, in events of the
 * budget.
 */
#ifndef BULKHEAD_CHARGE_H
#define BULKHEAD_CHARGE_H

#include "run/shared_core.h"
#include "time/bandwidth.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Charges `events` to the budget of the core's VCPU, if it has one. Called while EL2 handles a trap of it. */
static inline void charge_events(struct cpu *cpu, uint32_t events)
{
    if (cpu->shared != NULL) {
        shared_core_charge(cpu, events);
    } else {
        bandwidth_charge(cpu, events);
    }
}

#ifdef __cplusplus
}
#endif

#endif
