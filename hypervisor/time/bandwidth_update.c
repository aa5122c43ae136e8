/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls core/budget_update.h under the lock of the domain's update.
 */
#include "time/bandwidth_update.h"
#include "core/budget_admission.h"
#include "time/regulation.h"
#include "vm/clock.h"
#include "vm/cpu.h"
#include "vm/domain.h"

#define NOTICE_NS      20000u /* time for a change to reach all cores: far longer than EL2 needs for a call */
#define DRAWS_OF_SHARE 8u     /* draws of each VCPU from a shared budget in a period, as in the planner */

/* Events of one draw from a budget that the domain's VCPUs share; 0 if they share none. */
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
    const struct budget_setting first = {
        .events = config->budget_events,
        .chunk_events = config->budget_chunk_events,
        .grid = {.start_ticks = start_ticks, .length_ticks = clock_ticks(config->budget_period_ns)},
    };

    budget_update_init(&domain->update.budget, &first);
    domain->update.period_ns = config->budget_period_ns;
    domain->update.held_period_ns = config->budget_period_ns;
    atomic_store_explicit(&domain->update.sequence, 0, memory_order_relaxed);
}

void bandwidth_update_init_all(uint64_t start_ticks)
{
    for (uint32_t i = 0; i < domain_count(); i++) {
        init(domain_at(i), start_ticks);
    }
}

struct bandwidth_setting bandwidth_latest_setting(struct domain *domain, uint64_t now_ticks)
{
    struct bandwidth_update *update = &domain->update;
    struct bandwidth_setting answer;
    const struct budget_setting *latest;

    spin_lock(&update->lock);
    latest = budget_update_latest(&update->budget);
    answer = (struct bandwidth_setting){
        .events = latest->events,
        .period_ns = update->period_ns,
        .waits = latest->sequence != 0 && now_ticks < latest->grid.start_ticks,
    };
    spin_unlock(&update->lock);
    return answer;
}

/* True if the latest setting is staged and not yet in force. */
static bool waits(struct bandwidth_update *update, uint64_t now_ticks)
{
    return budget_update_current(&update->budget, now_ticks)->sequence !=
           budget_update_latest(&update->budget)->sequence;
}

void bandwidth_parameters(struct domain *domain, uint64_t now_ticks, struct budget_parameters *held,
                          struct budget_parameters *latest)
{
    struct bandwidth_update *update = &domain->update;

    spin_lock(&update->lock);
    *latest = (struct budget_parameters){budget_update_latest(&update->budget)->events, update->period_ns};
    *held = *latest;
    if (waits(update, now_ticks)) {
        *held = (struct budget_parameters){budget_update_current(&update->budget, now_ticks)->events,
                                           update->held_period_ns};
    }
    spin_unlock(&update->lock);
}

uint64_t bandwidth_request_update(struct domain *domain, uint64_t now_ticks, uint64_t events,
                                  uint64_t period_ns)
{
    struct bandwidth_update *update = &domain->update;
    uint64_t from;

    spin_lock(&update->lock);
    if (!waits(update, now_ticks)) {
        update->held_period_ns = update->period_ns;
    }
    from = budget_update_request(&update->budget, now_ticks, clock_ticks(NOTICE_NS), events,
                                 chunk_of(domain, events), clock_ticks(period_ns));
    update->period_ns = period_ns;
    atomic_store_explicit(&update->sequence, budget_update_latest(&update->budget)->sequence,
                          memory_order_release);
    spin_unlock(&update->lock);
    return from;
}

bool bandwidth_is_changeable(const struct domain *domain)
{
    return domain->config->budget_counts != BH_BUDGET_COUNTS_EACH &&
           domain->config->budget_counts != BH_BUDGET_COUNTS_ACCESSES &&
           (domain->config->flags & BH_DOMAIN_FLAG_RECLAIM) == 0 &&
           !regulation_has(domain->vcpus[0].cpu->index);
}

bool bandwidth_other_setting(struct domain *domain, uint64_t sequence, uint64_t now_ticks,
                             struct budget_setting *setting)
{
    struct bandwidth_update *update = &domain->update;

    if (atomic_load_explicit(&update->sequence, memory_order_acquire) == sequence) {
        return false;
    }
    spin_lock(&update->lock);
    *setting = *budget_update_current(&update->budget, now_ticks);
    spin_unlock(&update->lock);
    return setting->sequence != sequence;
}
