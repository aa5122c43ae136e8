/* SPDX-License-Identifier: Apache-2.0
 *
 * The budget of the only VCPU of a core (vcpu_budget.h) between the core's event counters, its timer and the
 * guest (B1-B5). A core without one costs nothing. All on the core itself, with interrupts masked.
 */
#ifndef BULKHEAD_BANDWIDTH_H
#define BULKHEAD_BANDWIDTH_H

#include "time/time_state.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cpu;

/* What budgets of the core's VCPUs are of, a bit for each budget_counts; 0: none has one. */
uint32_t bandwidth_counts(const struct cpu *cpu);

/* Takes the core's counters: once, before its first guest. *mdcr as of pmu_init(). False: as there. */
bool bandwidth_init(struct cpu *cpu, uint64_t *mdcr);

/* Periods of all cores begin at `start_ticks`; where VCPUs share one: shared_core_begin(). Once, before the
 * first guest. */
void bandwidth_set_epoch(struct cpu *cpu, uint64_t start_ticks);

/* The VCPU is about to be entered for the first time since it was off; it is being put away. */
void bandwidth_start(struct cpu *cpu);
void bandwidth_stop(struct cpu *cpu);

/* EL2 has moved so many lines for it past what the counters see. Between start and stop. */
void bandwidth_charge(struct cpu *cpu, uint64_t lines);

/* What EL2 does between the two is for somebody else than the core's VCPU: it is not counted. The second gets
 * what the first has returned. */
bool bandwidth_pause(struct cpu *cpu);
void bandwidth_resume(struct cpu *cpu, bool paused);

/* The counter's interrupt; the alarm of the period; the regulator has published budgets. */
void bandwidth_overflow(struct cpu *cpu);
void bandwidth_period(struct cpu *cpu);
void bandwidth_published(struct cpu *cpu);

#ifdef __cplusplus
}
#endif

#endif
