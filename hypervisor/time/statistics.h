/* SPDX-License-Identifier: Apache-2.0
 *
 * Samples of what a core did in each period, for whoever looks from outside or is a manager (B8): a ring for
 * each core with a budget, in on-chip memory or else in the pool, which drops the oldest. Written by the core
 * itself; reading takes no lock and disturbs nobody.
 */
#ifndef BULKHEAD_STATISTICS_H
#define BULKHEAD_STATISTICS_H

#include "time/time_state.h"
#include <bulkhead_layout.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cpu;

struct status_vcpu;

/* Makes the rings of cores of which a VCPU has a budget. First core, when the domains are set up and before
 * the pool is sealed. False: the pool is exhausted. */
bool statistics_init_all(void);

/* A period has ended for the core's budget, at `now_ticks`. If the budget of the next one is not known yet,
 * as that of a regulated core may not be, statistics_next() is called when it is. On the core. */
void statistics_period(struct cpu *cpu, uint64_t now_ticks, bool next_is_known);
void statistics_next(struct cpu *cpu);

/* The same of a VCPU that shares the core, at `now_ticks`, if a period of its budget has ended since the last
 * time. */
void statistics_shared(struct cpu *cpu, struct statistics_seen *seen, const struct status_vcpu *vcpu,
                       uint64_t now_ticks);

/* Whether samples are written from now on, on all cores; before it: whether they were. */
bool statistics_store(bool stored);
bool statistics_are_stored(void);

/* For a reader who has seen `*position` samples of a core: the next one, and how many were overwritten before
 * it. False: there is none now. Any core. */
bool statistics_read(const struct cpu *cpu, uint64_t *position, struct status_sample *sample,
                     uint64_t *dropped);

#ifdef __cplusplus
}
#endif

#endif
