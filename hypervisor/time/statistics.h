/* SPDX-License-Identifier: Apache-2.0
 *
 * Samples of what a core did in each period, for observers outside the system and for managers (B8): a ring
 * for each core with a budget, in on-chip memory if there is enough, otherwise in the pool. A full ring drops
 * its oldest samples. The core itself writes them; reading takes no lock and does not delay the writer.
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

/* Sets up the rings of all cores on which a VCPU has a budget. Called on the first core, when the domains are
 * set up and before the pool is sealed. Returns false if the pool is exhausted. */
bool statistics_init_all(void);

/* The core's budget period has ended at `now_ticks`. If the budget of the next period is not known yet, as
 * can happen on a regulated core, statistics_next() is called when it is, at the latest before the core ends
 * the next period. Called on the core. */
void statistics_period(struct cpu *cpu, uint64_t now_ticks, bool next_is_known);
void statistics_next(struct cpu *cpu);

/* Writes a sample of a VCPU that shares the core, if a period of its budget has ended since the last call.
 * `now_ticks`: current time. */
void statistics_shared(struct cpu *cpu, struct statistics_seen *seen, const struct status_vcpu *vcpu,
                       uint64_t now_ticks);

/* store(): whether samples are written from now on, on all cores; returns the previous setting. */
bool statistics_store(bool stored);
bool statistics_are_stored(void);

/* For a reader that has seen `*position` samples of a core: returns the next sample and how many were
 * overwritten before it. Returns false if there is none yet. May be called on any core. */
bool statistics_read(const struct cpu *cpu, uint64_t *position, struct status_sample *sample,
                     uint64_t *dropped);

#ifdef __cplusplus
}
#endif

#endif
