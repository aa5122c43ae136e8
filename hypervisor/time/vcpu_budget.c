/* SPDX-License-Identifier: Apache-2.0
 *
 * Connects a budget of core/budget.h with the domain's manifest entry and with changes by managers.
 */
#include "time/vcpu_budget.h"
#include "time/bandwidth_update.h"
#include "time/pmu.h"
#include "vm/clock.h"
#include "vm/domain.h"
#include "vm/system.h"
#include <stddef.h>

/* Pool of spare events, to which all domains with the flag `reclaim` give and from which they draw. */
static struct event_pool spare;

void vcpu_budget_share_init(struct domain *domain)
{
    event_pool_init(&domain->share, domain->config->budget_events, 0);
}

static enum reservation_kind kind_of(const struct manifest_domain *config)
{
    switch (config->budget_counts) {
    case BH_BUDGET_COUNTS_EACH:
    case BH_BUDGET_COUNTS_ACCESSES:
        return RESERVATION_EACH;
    case BH_BUDGET_COUNTS_SUM:
        return RESERVATION_SUM;
    default:
        return RESERVATION_ONE;
    }
}

/* Sets up `share` if the VCPU draws events from a pool in addition to its own budget; otherwise returns
 * NULL. */
static struct reclaim *find_pool(const struct vcpu *vcpu, struct reclaim *share)
{
    const struct manifest_domain *config = vcpu->domain->config;
    bool gives = (config->flags & BH_DOMAIN_FLAG_RECLAIM) != 0;

    if (config->budget_chunk_events == 0) {
        return NULL;
    }
    /* Cannot fail: an accepted manifest has only valid values. */
    (void)reclaim_init(share, gives ? &spare : &vcpu->domain->share, gives ? config->budget_events : 0,
                       config->budget_chunk_events, gives, false);
    return share;
}

void vcpu_budget_init(struct vcpu_budget *own, struct budget *budget, const struct vcpu *vcpu,
                      uint64_t start_ticks)
{
    const struct manifest_domain *config = vcpu->domain->config;
    struct reservation_parameters parameters = {.kind = RESERVATION_ONE};
    struct reclaim *pool;

    own->budget = budget;
    own->applied = (struct bandwidth_applied){0};
    parameters.counter_bits = pmu_counter_bits();
    if (!domain_has_flag(vcpu->domain, BH_DOMAIN_FLAG_BUDGET)) {
        parameters.limit_events[0] = RESERVATION_UNLIMITED;
        (void)budget_init(budget, &parameters, NULL);
        return;
    }
    pool = find_pool(vcpu, &own->share);
    own->applied.limit_events = config->budget_events;
    parameters.kind = kind_of(config);
    parameters.limit_events[0] = pool != NULL ? pool->limit_events : config->budget_events;
    parameters.limit_events[1] = config->budget_second_events;
    parameters.slack_events = config->budget_slack_events;
    parameters.grid = (struct period_grid){.start_ticks = start_ticks,
                                           .length_ticks = clock_ticks(config->budget_period_ns)};
    /* Cannot fail: an accepted manifest has only valid values. */
    (void)budget_init(budget, &parameters, pool);
}

bool vcpu_budget_update(struct vcpu_budget *own, struct domain *domain, uint64_t now_ticks)
{
    struct budget_setting setting;

    if (!bandwidth_other_setting(domain, own->applied.sequence, now_ticks, &setting)) {
        return false;
    }
    own->applied.sequence = setting.sequence;
    own->applied.limit_events = setting.events;
    budget_apply(own->budget, &setting, now_ticks);
    return true;
}

bool vcpu_budget_counts_lines(void)
{
    return system_manifest()->platform.overflow_backup_events == 0;
}

void vcpu_budget_publish(const struct vcpu_budget *own, struct status_budget *to)
{
    const struct reservation *reservation = &own->budget->reservation;
    const struct reservation_statistics *from = &reservation->statistics;
    const struct reclaim *pool = own->budget->reclaim;

    to->events = from->events;
    to->periods = from->periods;
    to->late_periods = from->late_periods;
    to->throttled_periods = from->throttled_periods;
    to->throttled_ticks = from->throttled_ticks;
    to->overshoot_periods = from->overshoot_periods;
    to->overshoot_events = from->overshoot_events;
    to->overshoot_max_events = from->overshoot_max_events;
    to->period_max_events = from->period_max_events;
    to->second_events = from->second_events;
    to->second_max_events = from->second_max_events;
    to->limit_events = own->applied.limit_events;
    to->period_ticks = reservation->parameters.grid.length_ticks;
    to->changes = own->applied.sequence;
    if (pool != NULL && pool->gives) {
        to->given_events = pool->total_given_events;
        to->drawn_events = pool->drawn_events;
        to->violations = pool->violations;
        to->shortfall_events = pool->shortfall_events;
    }
}
