/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * `dynamic-delay` (B11): the cores that are not regulated may be delayed for a share of the time,
 * `threshold`. An account grows by that share in each interval, and is charged for the delay that the
 * regulated cores can have caused: an event of the others waits longer by `event_delays` of a core while that
 * core moves as many events as it can. A core may run without a limit in an interval if the resulting delay,
 * assuming that the others continue as they do, is within the account; in all other intervals it has its
 * floor. So regulated cores run while the others compute, and those that delay them least run first.
 * docs/design/bandwidth.md states the guarantee.
 */
#include "core/regulator_policy.h"

#define ACCOUNT_ONE 65536 /* delay that fills a whole interval */
#define SPEED       8     /* if it does not grow, a full account is spent within 1/SPEED of the horizon */
#define MOST_DEBT   ((int64_t)REGULATOR_MAX_HORIZON * ACCOUNT_ONE)

static bool is_regulated(const struct regulator_parameters *parameters, uint32_t core)
{
    return ((parameters->regulated >> core) & 1u) != 0;
}

enum regulator_error regulator_check_delay(const struct regulator_parameters *parameters)
{
    if (parameters->threshold == 0 || parameters->threshold >= UTILIZATION_ONE) {
        return REGULATOR_ERROR_THRESHOLD;
    }
    if (parameters->bandwidth_threshold_events == 0 ||
        parameters->bandwidth_threshold_events > TRAFFIC_MAX_EVENTS) {
        return REGULATOR_ERROR_TRAFFIC;
    }
    if (parameters->horizon_intervals == 0 || parameters->horizon_intervals > REGULATOR_MAX_HORIZON) {
        return REGULATOR_ERROR_HORIZON;
    }
    for (uint32_t i = 0; i < REGULATOR_MAX_CORES; i++) {
        if (is_regulated(parameters, i) && parameters->event_delays[i] == 0) {
            return REGULATOR_ERROR_DELAY;
        }
    }
    return REGULATOR_ERROR_NONE;
}

/* Delay, in 1/65536 interval, of `others` events of the other cores while `core` moves as many events as it
 * can. */
static uint64_t delay_beside(const struct regulator_parameters *parameters, uint32_t core, uint64_t others)
{
    return (others * parameters->event_delays[core]) >> 16;
}

/* The core of a mask that delays the others most; the first of several that delay them equally. */
static uint32_t worst_of(const struct regulator_parameters *parameters, uint32_t cores)
{
    uint32_t worst = 0;
    uint64_t least = 0; /* least delay with which a later core is worse */

    for (uint32_t i = 0; i < REGULATOR_MAX_CORES; i++) {
        if (((cores >> i) & 1u) != 0 && parameters->event_delays[i] >= least) {
            worst = i;
            least = (uint64_t)parameters->event_delays[i] + 1;
        }
    }
    return worst;
}

/* The most that the regulated cores can have delayed the others in this interval, whatever the times of the
 * events. Beside several cores, an event of the others waits no longer than beside the worst of them, because
 * delays are measured this way. A core that moves fewer events than it needs to delay the others all the time
 * delays them for a part of the interval only. The cores that delay most therefore count first, each for its
 * part, until all events of the others are used up. */
static uint64_t delay_of(const struct regulator_parameters *parameters, const struct regulator_sample *sample,
                         uint64_t others)
{
    uint32_t cores = parameters->regulated;
    uint64_t left = UTILIZATION_ONE; /* of the others' events */
    uint64_t sum = 0;

    for (uint32_t count = regulator_count(cores); count != 0 && left != 0; count--) {
        uint32_t core = worst_of(parameters, cores);
        uint64_t whole = delay_beside(parameters, core, others);
        uint64_t part = utilization_fraction(sample->accesses[core], parameters->bandwidth_threshold_events);
        uint64_t most = (left * whole) >> 16;

        cores &= ~(1u << core);
        if (part >= most || whole == 0) {
            return sum + most;
        }
        sum += part;
        left -= (part << 16) / whole;
    }
    return sum;
}

static int64_t share_of(const struct regulator_parameters *parameters)
{
    return parameters->threshold < UTILIZATION_ONE ? parameters->threshold : UTILIZATION_ONE - 1;
}

static uint32_t horizon_of(const struct regulator_parameters *parameters)
{
    uint32_t horizon = parameters->horizon_intervals;

    return horizon == 0 ? 1 : horizon < REGULATOR_MAX_HORIZON ? horizon : REGULATOR_MAX_HORIZON;
}

/* Delay in intervals without a sample: all of the time, if any core had more than its floor. */
static uint64_t delay_unseen(const struct regulator *regulator)
{
    const struct regulator_parameters *parameters = &regulator->parameters;
    uint64_t unseen = regulator->gap < REGULATOR_MAX_HORIZON ? regulator->gap : REGULATOR_MAX_HORIZON;

    for (uint32_t i = 0; i < REGULATOR_MAX_CORES; i++) {
        if (is_regulated(parameters, i) && regulator->budgets[i] > parameters->floor_events) {
            return unseen * ACCOUNT_ONE;
        }
    }
    return 0;
}

/* Charges the account. It begins half full, and a change of parameters may have reduced its limit. */
static void settle_account(struct regulator *regulator, uint64_t delay)
{
    int64_t share = share_of(&regulator->parameters);
    int64_t most = share * horizon_of(&regulator->parameters);
    int64_t paid = delay < (uint64_t)MOST_DEBT ? (int64_t)delay : MOST_DEBT;
    int64_t before = regulator->has_sample ? regulator->account : most / 2;
    int64_t left = (before < most ? before : most) + share - paid;

    regulator->account = left > most ? most : left < -MOST_DEBT ? -MOST_DEBT : left;
    regulator->has_sample = true;
}

/* The regulated cores that run without a limit in the next interval: those that delay the others least. None
 * while the account is overdrawn, even if the others have no events, because they may have events in the next
 * interval. */
static uint32_t choose_free(const struct regulator *regulator, uint64_t others)
{
    const struct regulator_parameters *parameters = &regulator->parameters;
    uint32_t free = 0;
    uint64_t allowed;

    if (regulator->account <= 0) {
        return 0;
    }
    allowed = (uint64_t)regulator->account * SPEED / horizon_of(parameters);
    for (uint32_t i = 0; i < REGULATOR_MAX_CORES; i++) {
        if (is_regulated(parameters, i) && delay_beside(parameters, i, others) <= allowed) {
            free |= 1u << i;
        }
    }
    return free;
}

/* A free core gets an equal part of what the ceiling leaves; the other regulated cores get their floors. */
static void set_budgets(struct regulator *regulator, uint32_t free)
{
    static const uint32_t alike[REGULATOR_MAX_CORES];
    const struct regulator_parameters *parameters = &regulator->parameters;
    uint32_t held = parameters->regulated & ~free;
    uint64_t floors = parameters->floor_events * regulator_count(held);

    for (uint32_t i = 0; i < REGULATOR_MAX_CORES; i++) {
        if (((held >> i) & 1u) != 0) {
            regulator->budgets[i] = parameters->floor_events;
        }
    }
    regulator_share(regulator_ceiling(parameters) - floors, parameters->floor_events, free, alike,
                    regulator->budgets);
    regulator->global = (free != 0 ? regulator_ceiling(parameters) : floors) << REGULATOR_FRACTION_BITS;
}

static void step(struct regulator *regulator, const struct regulator_sample *sample)
{
    uint64_t others = regulator_events_of_others(&regulator->parameters, sample);
    uint64_t delay = delay_of(&regulator->parameters, sample, others);

    regulator->last_load = delay < UTILIZATION_MAX ? (uint32_t)delay : UTILIZATION_MAX;
    settle_account(regulator, delay + delay_unseen(regulator));
    set_budgets(regulator, choose_free(regulator, others));
}

const struct regulator_policy regulator_delay = {"dynamic-delay", step};
