/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Converts a domain's budget in the manifest to the rates and events that memory_admission.h computes with.
 */
#include "core/admission_tally.h"
#include "core/event_pool.h"
#include "core/wide.h"

#define REFILL_LINES 2u /* per refill: a refill can also write a dirty line back */

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static bool has_flag(const struct manifest_domain *domain, uint32_t flag)
{
    return (domain->flags & flag) != 0;
}

struct tally tally_begin(const struct manifest_header *manifest, const struct admission_state *state)
{
    const struct manifest_bandwidth *stated = &manifest->bandwidth;

    return (struct tally){
        .manifest = manifest,
        .state = state,
        .capacity =
            {
                .curve = manifest_bandwidth_curve(manifest),
                .point_count = manifest->bandwidth_curve.count,
                .row_count = manifest->bandwidth_table.count,
                .table = manifest_bandwidth_table(manifest),
                .shortest_period_ns = stated->shortest_period_ns,
                .event_bytes = stated->event_bytes,
                .broker_bytes_per_s = stated->broker_bytes_per_s,
                .broker_full_bytes_per_s = stated->broker_full_bytes_per_s,
            },
    };
}

uint64_t tally_event_bytes(const struct manifest_header *manifest, const struct manifest_domain *domain)
{
    switch (domain->budget_counts) {
    case BH_BUDGET_COUNTS_REFILLS:
        return (uint64_t)manifest->bandwidth.event_bytes * REFILL_LINES;
    case BH_BUDGET_COUNTS_WRITEBACKS:
        return 0;
    default:
        return manifest->bandwidth.event_bytes;
    }
}

uint32_t tally_holders(const struct manifest_domain *domain)
{
    bool shares = domain->budget_chunk_events != 0 && !has_flag(domain, BH_DOMAIN_FLAG_RECLAIM);

    return shares ? 1 : domain->vcpu_count;
}

uint64_t tally_counted(const struct manifest_header *manifest, uint64_t events)
{
    return events != 0 ? larger(events, manifest->bandwidth.smallest_events) : 0;
}

uint64_t tally_workable(const struct manifest_header *manifest, uint64_t most)
{
    return most >= manifest->bandwidth.smallest_events ? most : 0;
}

/* value * by / divisor, rounded up or down. A result above the largest budget is returned as twice that
 * budget. */
static uint64_t scaled(uint64_t value, uint64_t by, uint64_t divisor, bool up)
{
    uint64_t remainder;
    wide_t quotient = wide_divide(wide_product(value, by), divisor, &remainder);

    quotient += up && remainder != 0;
    return quotient <= EVENT_POOL_MAX_EVENTS ? (uint64_t)quotient : 2 * EVENT_POOL_MAX_EVENTS;
}

/* Number of cache lines that a domain moves if it spends its budgets: lines that caches fetch, and accesses
 * that bypass the caches. `events` is the first budget. */
static uint64_t lines_of(const struct manifest_header *manifest, const struct manifest_domain *domain,
                         uint64_t events)
{
    const struct manifest_bandwidth *stated = &manifest->bandwidth;
    uint64_t accesses = domain->budget_second_events;

    if (domain->budget_counts != BH_BUDGET_COUNTS_ACCESSES) {
        return events + domain->budget_second_events;
    }
    if (stated->access_bytes != 0 && stated->access_bytes < stated->event_bytes) {
        accesses = scaled(accesses, stated->access_bytes, stated->event_bytes, true);
    }
    return stated->accesses_are_all != 0 ? accesses : events + accesses;
}

/* Lines written back that no event of the budget counts. */
static uint64_t written_back(const struct manifest_header *manifest, const struct manifest_domain *domain,
                             uint64_t events)
{
    return domain->budget_counts == BH_BUDGET_COUNTS_ACCESSES && manifest->bandwidth.accesses_are_all == 0
               ? events
               : 0;
}

static uint64_t rate_of(const struct manifest_header *manifest, const struct manifest_domain *domain,
                        const struct budget_parameters *budget)
{
    uint64_t lines =
        lines_of(manifest, domain, budget->events) + written_back(manifest, domain, budget->events);

    return memory_rate(tally_counted(manifest, lines), tally_event_bytes(manifest, domain),
                       tally_holders(domain), budget->period_ns);
}

/* The time in which all cores of the domain have had one period each, if they take turns with one budget. */
static uint64_t periods_of(const struct manifest_domain *domain, uint64_t period_ns)
{
    return period_ns * (domain->vcpu_count / tally_holders(domain));
}

uint64_t tally_interval_events(const struct tally *tally, const struct manifest_domain *domain,
                               const struct budget_parameters *budget)
{
    return domain->vcpu_count * scaled(lines_of(tally->manifest, domain, budget->events),
                                       tally->state->regulation.interval_ns,
                                       periods_of(domain, budget->period_ns), true);
}

uint64_t tally_events_within(const struct tally *tally, const struct manifest_domain *domain, uint64_t room,
                             uint64_t period_ns)
{
    return scaled(room / domain->vcpu_count, periods_of(domain, period_ns),
                  tally->state->regulation.interval_ns, false);
}

/* Adds the rate of a domain whose traffic has a bound. */
static void add_rate(struct tally *tally, const struct manifest_domain *domain, uint64_t rate)
{
    tally->rate = memory_sum(tally->rate, rate);
    if (tally_has_curve(tally)) {
        memory_load_add(&tally->load, &tally->capacity, rate, domain->vcpu_count);
    }
}

void tally_add_domain(struct tally *tally, uint32_t number)
{
    const struct manifest_domain *domain = &manifest_domains(tally->manifest)[number];
    const struct budget_parameters *held = &tally->state->held[number];
    const struct budget_parameters *latest = &tally->state->latest[number];
    bool has_budget = has_flag(domain, BH_DOMAIN_FLAG_BUDGET);

    if (!has_budget || tally_event_bytes(tally->manifest, domain) == 0) {
        tally->is_open = true;
    } else {
        add_rate(tally, domain,
                 larger(rate_of(tally->manifest, domain, held), rate_of(tally->manifest, domain, latest)));
    }
    if (has_budget && tally->state->regulation.members != 0) {
        tally->interval_events +=
            larger(tally_interval_events(tally, domain, held), tally_interval_events(tally, domain, latest));
    }
}

static uint64_t limit_of(const struct tally *tally)
{
    return tally->manifest->bandwidth.limit_bytes_per_s * MEMORY_RATE_UNIT;
}

bool tally_fits(const struct tally *tally)
{
    enum memory_reason reason;

    if (limit_of(tally) != 0 && tally->rate > limit_of(tally)) {
        return false;
    }
    return !tally_has_curve(tally) ||
           (!tally->is_open && memory_broker_room(&tally->capacity, &tally->load, &reason) >=
                                   tally->capacity.broker_bytes_per_s);
}

uint64_t tally_room_below_limit(const struct tally *tally)
{
    return limit_of(tally) != 0 ? memory_left(limit_of(tally), tally->rate) : MEMORY_RATE_MAX;
}

uint64_t tally_room_by_curve(const struct tally *tally, uint32_t cores)
{
    return tally_has_curve(tally) ? memory_room(&tally->capacity, &tally->load, cores) : MEMORY_RATE_MAX;
}
