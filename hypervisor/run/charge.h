/* SPDX-License-Identifier: Apache-2.0
 *
 * What the guest of this core makes EL2 do to other cores, in events of the guest's budget.
 */
#ifndef BULKHEAD_CHARGE_H
#define BULKHEAD_CHARGE_H

#include "run/shared_core.h"
#include "time/bandwidth.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Charges the budget of the core's VCPU, if it has one. During a trap of it. */
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
