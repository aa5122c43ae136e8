/* SPDX-License-Identifier: Apache-2.0
 *
 * The regulator of the cores' budgets (B5-B7): core/regulator.h between the memory controller's counters and
 * the cores, which reach it through bandwidth.h. Without one in the manifest nothing here does anything.
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

/* First core, with its address space complete, before bandwidth_init() of any. */
void regulation_init(void);

/* Whether the core counts in intervals. */
bool regulation_has(uint32_t core);

/* Where members post and take. */
struct regulator_exchange *regulation_exchange(void);

/* `cpu` was the last one of an interval, whose collected sample this is: steps, publishes, and interrupts the
 * other members. On that core, whose own budget is of the next interval already. */
void regulation_complete(struct cpu *cpu, struct regulator_sample *sample);

/* Of the latest step: G of the interval that has begun, and the load of the one before. Any core. */
struct regulation_outcome {
    uint64_t global_events;
    uint32_t load; /* in 1/65536 */
};

struct regulation_outcome regulation_latest(void);

/* The parameters that were asked for last. False: there is no regulator. Any core. */
bool regulation_read(struct manifest_regulation *parameters);

/* The first word of others that is bad, or BH_REGULATION_WORDS. There is a regulator. Any core. */
uint32_t regulation_bad_word(const struct manifest_regulation *parameters);

/* Others, which regulation_bad_word() finds good, from the next step on; whether samples are stored, from now
 * on. BH_REGULATION_WORDS, or the index of the word that is bad on this clock, and nothing changes. There is
 * a regulator. Any core. */
uint32_t regulation_change(const struct manifest_regulation *parameters);

/* Parameters in force, and those that were asked for last, with the shortest interval for which budgets are
 * by them: the first ones are for one that is still as long as those before. Zero where there is no
 * regulator. Any core. */
struct regulation_parameters {
    struct manifest_regulation held;
    struct manifest_regulation latest;
    uint64_t held_interval_ns;
    uint64_t latest_interval_ns;
    bool waits; /* the latest are not in force */
};

void regulation_read_parameters(struct regulation_parameters *parameters);

#ifdef __cplusplus
}
#endif

#endif
