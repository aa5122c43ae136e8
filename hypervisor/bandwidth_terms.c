/* SPDX-License-Identifier: Apache-2.0
 *
 * The lock of a domain's agreement between core/budget_terms.h and whoever calls it.
 */
#include "bandwidth_terms.h"
#include "clock.h"
#include "cpu.h"
#include "domain.h"
#include "regulation.h"

#define NOTICE_NS      20000u /* in which a change reaches all cores: far longer than EL2 needs for the call */
#define DRAWS_OF_SHARE 8u     /* from a budget that VCPUs share, of each in a period: as the planner has it */

/* Of one draw, for a budget that the domain's VCPUs share. */
static uint64_t chunk_of(const struct domain *domain, uint64_t events)
{
    uint64_t chunk = events / ((uint64_t)DRAWS_OF_SHARE * domain->vcpu_count);

    if (domain->config->budget_chunk_events == 0) {
        return 0;
    }
    return chunk != 0 ? chunk : 1;
}

static void init(struct domain *domain, uint64_t start_ticks)
{
    const struct manifest_domain *config = domain->config;
    const struct budget_terms first = {
        .events = config->budget_events,
        .chunk_events = config->budget_chunk_events,
        .grid = {.start_ticks = start_ticks, .length_ticks = clock_ticks(config->budget_period_ns)},
    };

    budget_agreement_init(&domain->agreement.terms, &first);
    domain->agreement.period_ns = config->budget_period_ns;
    atomic_store_explicit(&domain->agreement.sequence, 0, memory_order_relaxed);
}

void bandwidth_terms_init_all(uint64_t start_ticks)
{
    for (uint32_t i = 0; i < domain_count(); i++) {
        init(domain_at(i), start_ticks);
    }
}

struct bandwidth_terms bandwidth_latest_terms(struct domain *domain, uint64_t now_ticks)
{
    struct bandwidth_agreement *agreement = &domain->agreement;
    struct bandwidth_terms answer;
    const struct budget_terms *latest;

    spin_lock(&agreement->lock);
    latest = budget_agreement_latest(&agreement->terms);
    answer = (struct bandwidth_terms){
        .events = latest->events,
        .period_ns = agreement->period_ns,
        .waits = latest->sequence != 0 && now_ticks < latest->grid.start_ticks,
    };
    spin_unlock(&agreement->lock);
    return answer;
}

uint64_t bandwidth_change_terms(struct domain *domain, uint64_t now_ticks, uint64_t events,
                                uint64_t period_ns)
{
    struct bandwidth_agreement *agreement = &domain->agreement;
    uint64_t from;

    spin_lock(&agreement->lock);
    from = budget_agreement_change(&agreement->terms, now_ticks, clock_ticks(NOTICE_NS), events,
                                   chunk_of(domain, events), clock_ticks(period_ns));
    agreement->period_ns = period_ns;
    atomic_store_explicit(&agreement->sequence, budget_agreement_latest(&agreement->terms)->sequence,
                          memory_order_release);
    spin_unlock(&agreement->lock);
    return from;
}

uint64_t bandwidth_period_number(struct domain *domain, uint64_t now_ticks)
{
    struct bandwidth_agreement *agreement = &domain->agreement;
    struct period_grid grid;

    spin_lock(&agreement->lock);
    grid = budget_agreement_at(&agreement->terms, now_ticks)->grid;
    spin_unlock(&agreement->lock);
    return grid.number + (now_ticks - grid.start_ticks) / grid.length_ticks;
}

bool bandwidth_is_changeable(const struct domain *domain)
{
    return domain->config->budget_counts != BH_BUDGET_COUNTS_EACH &&
           (domain->config->flags & BH_DOMAIN_FLAG_RECLAIM) == 0 &&
           !regulation_has(domain->vcpus[0].cpu->index);
}

bool bandwidth_take_terms(struct domain *domain, struct budget *budget, struct bandwidth_taken *taken,
                          uint64_t now_ticks)
{
    struct bandwidth_agreement *agreement = &domain->agreement;
    struct budget_terms terms;

    if (atomic_load_explicit(&agreement->sequence, memory_order_acquire) == taken->terms) {
        return false;
    }
    spin_lock(&agreement->lock);
    terms = *budget_agreement_at(&agreement->terms, now_ticks);
    spin_unlock(&agreement->lock);
    if (terms.sequence == taken->terms) {
        return false;
    }
    taken->terms = terms.sequence;
    taken->limit_events = terms.events;
    budget_take_terms(budget, &terms, now_ticks);
    return true;
}
