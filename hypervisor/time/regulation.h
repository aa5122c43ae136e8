/* SPDX-License-Identifier: Apache-2.0
 *
 * The regulator of the cores' budgets (B5-B7): connects core/regulator.h with the memory controller's
 * counters, the cores, which use it through bandwidth.h, and devices (device_regulators.h). Without a
 * regulator in the manifest, these functions do nothing.
 */
#ifndef BULKHEAD_REGULATION_H
#define BULKHEAD_REGULATION_H

#include "core/regulator_exchange.h"
#include <bulkhead_layout.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cpu;

/* Sets up the regulator. Called on the first core, when EL2's address space is complete and before
 * bandwidth_init() of any core. */
void regulation_init(void);

/* True if the core is a member of the regulator's set. */
bool regulation_has(uint32_t core);

/* The exchange in which members post their samples and from which they take their budgets. */
struct regulator_exchange *regulation_exchange(void);

/* Ends an interval: steps the regulator, publishes the new budgets and interrupts the other members whose
 * budget has changed. `cpu` is the last core to end the interval, and `sample` is the collected sample.
 * Called on that core, whose own budget already belongs to the next interval. */
void regulation_complete(struct cpu *cpu, struct regulator_sample *sample);

/* Result of the latest step: the global budget G of the interval that has begun, what devices have of it, and
 * the load in the interval before. May be called on any core. */
struct regulation_outcome {
    uint64_t global_events;
    uint32_t load; /* in units of 1/65536 */
    uint32_t device_events;
    int32_t carried; /* regulator_carried() */
};

struct regulation_outcome regulation_latest(void);

/* Reads the parameters that were requested last. Returns false if there is no regulator. May be called on any
 * core. */
bool regulation_read(struct manifest_regulation *parameters);

/* Index of the first invalid word of `parameters`, or BH_REGULATION_WORDS if all are valid. There must be a
 * regulator. May be called on any core. */
uint32_t regulation_bad_word(const struct manifest_regulation *parameters);

/* Stages new parameters, which must have passed regulation_bad_word(); they are in force from the next step
 * on. The switch that turns storing of samples on or off takes effect at once. Returns BH_REGULATION_WORDS,
 * or the index of a word that is invalid for this counter frequency; nothing changes then. There must be a
 * regulator. May be called on any core. */
uint32_t regulation_change(const struct manifest_regulation *parameters);

/* The parameters in force, and those that were requested last. Each has the shortest interval for which
 * budgets follow it: the first interval under new parameters can still have the length of the interval
 * before. All zero without a regulator. May be called on any core. */
struct regulation_parameters {
    struct manifest_regulation held;
    struct manifest_regulation latest;
    uint64_t held_interval_ns;
    uint64_t latest_interval_ns;
    bool waits; /* the latest parameters are staged, not in force */
};

void regulation_read_parameters(struct regulation_parameters *parameters);

#ifdef __cplusplus
}
#endif

#endif
