/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * State that all CPUs share: the regulator and its exchange (core/), the load of the memory, the settings
 * requested last. regulated_cpu.c calls it from interrupts; the files in debugfs change it.
 */
#ifndef BULKHEAD_LINUX_REGULATION_H
#define BULKHEAD_LINUX_REGULATION_H

#include "core/regulated_core.h"
#include "settings.h"

/* Result of the latest step. */
struct regulation_outcome {
    u32 global_events;
    u32 load;    /* in 1/65536 */
    s32 carried; /* regulator_carried() */
};

/* Initializes with these settings. -EINVAL if they are invalid; -ENODEV for `dynamic` without a source of
 * utilization. */
int regulation_init(const struct settings *settings);

struct regulator_exchange *regulation_exchange(void);

/* The present budget of a CPU, and the grid of the intervals: a CPU's initial values. */
u64 regulation_budget(u32 cpu);
struct period_grid regulation_grid(void);

/* The CPU of `core` has completed an interval: steps the regulator and publishes the budgets. Called with
 * interrupts off. Returns the mask of CPUs whose budget has changed: the caller interrupts these. */
u32 regulation_complete(struct regulated_core *core, struct regulator_sample *sample);

struct regulation_outcome regulation_latest(void);
bool regulation_stores_samples(void);

/* The settings requested last. May sleep. */
void regulation_settings(struct settings *settings);

/* Changes settings together, from the next interval on. `change` gets the latest settings and `argument`, and
 * returns 0, or an error, which is returned with nothing changed. -EINVAL if the settings contradict each
 * other, -ENODEV as above. May sleep. */
int regulation_change(int (*change)(struct settings *settings, void *argument), void *argument);

/* Present statistics. */
struct regulation_statistics {
    struct regulator_statistics steps;
    u64 given_up;
    u64 global_events;
    u32 load;
    bool waits; /* a requested change is not in force yet */
};
void regulation_statistics(struct regulation_statistics *statistics);

#endif
