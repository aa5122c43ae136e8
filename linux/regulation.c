/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * One regulator for all CPUs. The exchange lets one CPU at a time step it; the lock protects it against
 * parameter changes at the same time, and the mutex serialises those changes.
 */
#include "regulation.h"
#include "core/regulator_policy.h"
#include "utilization_source.h"
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>

static DEFINE_MUTEX(changes);
static DEFINE_RAW_SPINLOCK(lock);

static struct {
    struct settings latest; /* requested last; protected by `changes` */
    struct regulator regulator;
    struct regulator_exchange exchange;
    struct period_grid grid;
    u64 lasts_ns; /* length of the interval that has begun: a change applies to those after it */
    u64 outcome;  /* of the latest step: G in events, above 32 bits of load */
    s32 carried;  /* of the latest step: regulator_carried() */
    bool stores;
} regulation;

static const char *describe(enum regulator_error error)
{
    static const char *const reasons[] = {
        [REGULATOR_ERROR_NONE] = "nothing",
        [REGULATOR_ERROR_POLICY] = "policy",
        [REGULATOR_ERROR_HOLD] = "hold",
        [REGULATOR_ERROR_THRESHOLD] = "threshold is out of range",
        [REGULATOR_ERROR_STEP] = "step is out of range",
        [REGULATOR_ERROR_INTERVAL] = "interval is out of range",
        [REGULATOR_ERROR_CORES] = "a dynamic policy needs regulated CPUs",
        [REGULATOR_ERROR_BUDGET] = "a regulated CPU needs an initial budget",
        [REGULATOR_ERROR_FLOOR] = "a regulated CPU's budget is below the floor",
        [REGULATOR_ERROR_CEILING] =
            "budgets of regulated CPUs are above the ceiling, or what saturation leaves",
        [REGULATOR_ERROR_TRAFFIC] = "bandwidth_threshold_events is out of range",
        [REGULATOR_ERROR_HORIZON] = "horizon_intervals is out of range",
        [REGULATOR_ERROR_DELAY] = "dynamic-delay needs delays_ps of each regulated CPU",
        [REGULATOR_ERROR_SATURATION] = "limits of CPUs that are not regulated reach saturation",
    };

    return reasons[error];
}

/* Checks the settings; fills in the parameters for core/ if they are valid. */
static int check(const struct settings *settings, struct regulator_parameters *parameters)
{
    enum regulator_error error;

    if ((regulator_load_of(settings->policy) & REGULATOR_LOAD_UTILIZATION) != 0 &&
        !utilization_source_is_there()) {
        pr_err("policy %s needs a source of utilization: the parameter utilization= names the "
               "memory controller's counters, and dynamic-bandwidth needs none\n",
               regulator_policy_at(settings->policy)->name);
        return -ENODEV;
    }
    settings_regulator(settings, parameters);
    error = regulator_check(parameters);
    if (error != REGULATOR_ERROR_NONE) {
        pr_info_ratelimited("refused: %s\n", describe(error));
        return -EINVAL;
    }
    return 0;
}

int regulation_init(const struct settings *settings)
{
    struct regulator_parameters parameters;
    int error = check(settings, &parameters);

    if (error != 0) {
        return error;
    }
    regulation.latest = *settings;
    regulator_init(&regulation.regulator, &parameters);
    regulator_exchange_init(&regulation.exchange, 0, 0);
    regulation.grid =
        (struct period_grid){.start_ticks = ktime_get_ns(), .length_ticks = parameters.interval_ticks};
    regulation.lasts_ns = parameters.interval_ticks;
    regulation.stores = parameters.store_samples;
    return 0;
}

struct regulator_exchange *regulation_exchange(void)
{
    return &regulation.exchange;
}

u64 regulation_budget(u32 cpu)
{
    return regulation.regulator.budgets[cpu];
}

struct period_grid regulation_grid(void)
{
    return regulation.grid;
}

/* Fills in the memory's utilization and the traffic of all CPUs in the interval that has ended. */
static void fill_load(struct regulator_sample *sample)
{
    sample->has_utilization = utilization_source_measure(&sample->utilization);
    sample->elapsed_ticks = regulation.lasts_ns;
    regulation.lasts_ns = regulation.regulator.parameters.interval_ticks;
    for (u32 i = 0; i < REGULATOR_MAX_CORES; i++) {
        sample->traffic_events += sample->accesses[i];
    }
}

u32 regulation_complete(struct regulated_core *core, struct regulator_sample *sample)
{
    const struct regulator *regulator = &regulation.regulator;
    u32 changed;

    raw_spin_lock(&lock);
    fill_load(sample);
    changed = regulated_step(core, &regulation.regulator, sample);
    WRITE_ONCE(regulation.outcome,
               regulator->global >> REGULATOR_FRACTION_BITS << 32 | (u64)regulator->last_load);
    WRITE_ONCE(regulation.carried, regulator_carried(regulator));
    WRITE_ONCE(regulation.stores, regulator->parameters.store_samples);
    raw_spin_unlock(&lock);
    return changed;
}

struct regulation_outcome regulation_latest(void)
{
    u64 both = READ_ONCE(regulation.outcome);

    return (struct regulation_outcome){
        .global_events = (u32)(both >> 32),
        .load = (u32)both,
        .carried = READ_ONCE(regulation.carried),
    };
}

bool regulation_stores_samples(void)
{
    return READ_ONCE(regulation.stores);
}

void regulation_settings(struct settings *settings)
{
    mutex_lock(&changes);
    *settings = regulation.latest;
    mutex_unlock(&changes);
}

static int stage(const struct settings *wanted)
{
    struct regulator_parameters parameters;
    unsigned long flags;
    int error = check(wanted, &parameters);

    if (error != 0) {
        return error;
    }
    raw_spin_lock_irqsave(&lock, flags);
    (void)regulator_change(&regulation.regulator, &parameters);
    raw_spin_unlock_irqrestore(&lock, flags);
    regulation.latest = *wanted;
    return 0;
}

int regulation_change(int (*change)(struct settings *settings, void *argument), void *argument)
{
    struct settings wanted;
    int error;

    mutex_lock(&changes);
    wanted = regulation.latest;
    error = change(&wanted, argument);
    if (error == 0) {
        error = stage(&wanted);
    }
    mutex_unlock(&changes);
    return error;
}

void regulation_statistics(struct regulation_statistics *statistics)
{
    const struct regulator *regulator = &regulation.regulator;
    unsigned long flags;

    raw_spin_lock_irqsave(&lock, flags);
    *statistics = (struct regulation_statistics){
        .steps = regulator->statistics,
        .given_up = READ_ONCE(regulation.exchange.given_up),
        .global_events = regulator->global >> REGULATOR_FRACTION_BITS,
        .load = regulator->last_load,
        .waits = regulator->has_staged,
    };
    raw_spin_unlock_irqrestore(&lock, flags);
}
