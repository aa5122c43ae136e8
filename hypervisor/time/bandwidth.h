/* SPDX-License-Identifier: Apache-2.0
 *
 * The budget of the only VCPU of a core (vcpu_budget.h): connects it with the core's event counters, its
 * timer and the guest (B1-B5). A core without a budget has no cost. All functions are called on the core
 * itself, with interrupts masked.
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

/* What the budgets of the core's VCPUs count: one bit for each value of budget_counts; 0: no VCPU has a
 * budget. */
uint32_t bandwidth_counts(const struct cpu *cpu);

/* Sets up the core's counters. Called once, before the core's first guest. *mdcr and the result are those of
 * pmu_init(); false also if the VCPUs' budgets need different events on the same counter. */
bool bandwidth_init(struct cpu *cpu, uint64_t *mdcr);

/* Sets the start of the periods, which is the same on all cores. Called once, before the first guest. A core
 * that several VCPUs share calls shared_core_begin() instead. */
void bandwidth_set_epoch(struct cpu *cpu, uint64_t start_ticks);

/* start(): the VCPU is about to be entered for the first time since it was off. stop(): the VCPU goes off. */
void bandwidth_start(struct cpu *cpu);
void bandwidth_stop(struct cpu *cpu);

/* Charges `lines` cache lines that EL2 has moved for the VCPU without the counters seeing them. Called
 * between start and stop. */
void bandwidth_charge(struct cpu *cpu, uint64_t lines);

/* Exclude work that EL2 does for others than the core's VCPU: nothing is counted between the two calls.
 * resume() gets the result of pause(). */
bool bandwidth_pause(struct cpu *cpu);
void bandwidth_resume(struct cpu *cpu, bool paused);

/* Handle the counters' overflow interrupt, the alarm at the end of the period, and the request that the
 * regulator has published budgets. */
void bandwidth_overflow(struct cpu *cpu);
void bandwidth_period(struct cpu *cpu);
void bandwidth_published(struct cpu *cpu);

#ifdef __cplusplus
}
#endif

#endif
