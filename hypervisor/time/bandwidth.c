/* SPDX-License-Identifier: Apache-2.0
 *
 * The counters run exactly while the VCPU has a budget and something is left of it: EL2 stops them, asks, and
 * does as the answer says.
 */
#include "time/bandwidth.h"
#include "time/bandwidth_update.h"
#include "time/guest_pmu.h"
#include "time/pmu.h"
#include "time/regulation.h"
#include "time/statistics.h"
#include "vm/clock.h"
#include "vm/cpu.h"
#include "vm/domain.h"
#include "vm/system.h"
#include <arch/gic.h>
#include <stddef.h>

_Static_assert(PMU_COUNTERS == RESERVATION_COUNTERS, "a counter for each of a reservation's");

/* What all domains with the flag `reclaim` give away and draw. */
static struct event_pool spare;

uint32_t bandwidth_counts(const struct cpu *cpu)
{
    uint32_t counts = 0;

    for (uint32_t i = 0; i < domain_count(); i++) {
        const struct domain *domain = domain_at(i);

        if (domain_has_flag(domain, BH_DOMAIN_FLAG_BUDGET) && domain_is_on(domain, cpu)) {
            counts |= 1u << domain->config->budget_counts;
        }
    }
    return counts;
}

/* The events of the core's counters. False: the budgets of its VCPUs would need one of them to be of two. */
static bool choose_events(uint32_t counts, uint32_t events[PMU_COUNTERS])
{
    const struct manifest_platform *platform = &system_manifest()->platform;
    uint32_t written = 1u << BH_BUDGET_COUNTS_WRITEBACKS;
    bool both = (counts & (1u << BH_BUDGET_COUNTS_EACH | 1u << BH_BUDGET_COUNTS_SUM)) != 0;
    bool accesses = (counts & 1u << BH_BUDGET_COUNTS_ACCESSES) != 0;

    events[0] = counts == written ? platform->writeback_event : platform->traffic_event;
    events[1] = both ? platform->writeback_event : accesses ? platform->access_event : 0;
    return (counts == written || (counts & written) == 0) && !(both && accesses);
}

bool bandwidth_init(struct cpu *cpu, uint64_t *mdcr)
{
    const struct manifest_header *manifest = system_manifest();
    struct bandwidth *own = &cpu->bandwidth;
    uint32_t events[PMU_COUNTERS] = {0, 0};
    bool given;

    own->limited = bandwidth_counts(cpu) != 0;
    cpu->hold = 0;
    own->member = cpu->pinned != NULL && regulation_has(cpu->index);
    given = guest_pmu_is_on(cpu);
    own->irq = own->limited || given ? manifest_cpus(manifest)[cpu->index].pmu_irq : 0;
    if (own->limited && !choose_events(bandwidth_counts(cpu), events)) {
        return false;
    }
    if (!pmu_init(&own->pmu, events, manifest->platform.overflow_backup_events, given, mdcr)) {
        return false;
    }
    if (own->limited || cpu->shared != NULL) {
        gic_enable(manifest->platform.cnthp_irq, cpu->mpidr);
    }
    if (own->irq != 0) {
        gic_enable(own->irq, cpu->mpidr);
    }
    return true;
}

void bandwidth_share_init(struct domain *domain)
{
    event_pool_init(&domain->share, domain->config->budget_events, 0);
}

void bandwidth_share_renew(struct domain *domain)
{
    if (domain_has_flag(domain, BH_DOMAIN_FLAG_BUDGET)) {
        event_pool_renew(&domain->share, bandwidth_period_number(domain, clock_now()));
    }
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

/* What it draws from besides its own, if anything: `share`, made for that. */
static struct reclaim *find_pool(const struct vcpu *vcpu, struct reclaim *share)
{
    const struct manifest_domain *config = vcpu->domain->config;
    bool gives = (config->flags & BH_DOMAIN_FLAG_RECLAIM) != 0;

    if (config->budget_chunk_events == 0) {
        return NULL;
    }
    /* What the manifest may say is within what it accepts. */
    (void)reclaim_init(share, gives ? &spare : &vcpu->domain->share, gives ? config->budget_events : 0,
                       config->budget_chunk_events, gives, false);
    return share;
}

void bandwidth_init_budget(const struct vcpu *vcpu, uint64_t start_ticks, struct budget *budget,
                           struct reclaim *share, struct bandwidth_applied *applied)
{
    const struct manifest_domain *config = vcpu->domain->config;
    struct reservation_parameters parameters = {.kind = RESERVATION_ONE};
    struct reclaim *pool;

    *applied = (struct bandwidth_applied){0};
    parameters.counter_bits = pmu_counter_bits();
    if (!domain_has_flag(vcpu->domain, BH_DOMAIN_FLAG_BUDGET)) {
        parameters.limit_events[0] = RESERVATION_UNLIMITED;
        (void)budget_init(budget, &parameters, NULL);
        return;
    }
    pool = find_pool(vcpu, share);
    applied->limit_events = config->budget_events;
    parameters.kind = kind_of(config);
    parameters.limit_events[0] = pool != NULL ? pool->limit_events : config->budget_events;
    parameters.limit_events[1] = config->budget_second_events;
    parameters.slack_events = config->budget_slack_events;
    parameters.grid = (struct period_grid){.start_ticks = start_ticks,
                                           .length_ticks = clock_ticks(config->budget_period_ns)};
    /* What the manifest may say is within what it accepts. */
    (void)budget_init(budget, &parameters, pool);
}

void bandwidth_set_epoch(struct cpu *cpu, uint64_t start_ticks)
{
    struct bandwidth *own = &cpu->bandwidth;

    if (own->limited) {
        bandwidth_init_budget(cpu->vcpu, start_ticks, &own->budget, &own->share, &own->applied);
        if (own->member) {
            (void)regulated_init(&own->regulated, &own->budget, regulation_exchange(), cpu->index);
        }
    }
}

void bandwidth_publish(const struct budget *budget, const struct bandwidth_applied *applied,
                       struct status_budget *to)
{
    const struct reservation_statistics *from = &budget->reservation.statistics;
    const struct reclaim *pool = budget->reclaim;

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
    to->limit_events = applied->limit_events;
    to->period_ticks = budget->reservation.parameters.grid.length_ticks;
    to->changes = applied->sequence;
    if (pool != NULL && pool->gives) {
        to->given_events = pool->total_given_events;
        to->drawn_events = pool->drawn_events;
        to->violations = pool->violations;
        to->shortfall_events = pool->shortfall_events;
    }
}

/* The budget that an interval ends with is what it was regulated by. */
static void note_limit(const struct cpu *cpu)
{
    uint64_t limit = cpu->bandwidth.budget.reservation.parameters.limit_events[0];
    struct status_budget *to = &cpu->status->budget;

    to->limit_min_events =
        to->limit_intervals == 0 || limit < to->limit_min_events ? limit : to->limit_min_events;
    to->limit_max_events = limit > to->limit_max_events ? limit : to->limit_max_events;
    to->limit_sum_events += limit;
    to->limit_intervals++;
}

static void publish(const struct cpu *cpu)
{
    bandwidth_publish(&cpu->bandwidth.budget, &cpu->bandwidth.applied, &cpu->status->budget);
    if (cpu->bandwidth.member) {
        cpu->status->budget.limit_events = cpu->bandwidth.budget.reservation.parameters.limit_events[0];
    }
}

static void act(struct cpu *cpu, struct budget_action action)
{
    cpu->hold = action.runs ? 0 : CPU_HOLD_THROTTLED;
    if (action.runs) {
        pmu_start(&cpu->bandwidth.pmu, action.preload);
    }
}

/* A deadline that has passed meanwhile interrupts at once. */
static void arm_period(const struct cpu *cpu)
{
    clock_set_alarm(CLOCK_ALARM_PERIOD, budget_deadline(&cpu->bandwidth.budget));
}

void bandwidth_start(struct cpu *cpu)
{
    struct bandwidth *own = &cpu->bandwidth;
    uint64_t now;

    if (!own->limited || cpu->shared != NULL) {
        return;
    }
    if (own->member) {
        regulator_exchange_join(regulation_exchange(), cpu->index);
    }
    now = clock_now();
    (void)bandwidth_apply_update(cpu->vcpu->domain, &own->budget, &own->applied, now);
    budget_start(&own->budget, now);
    act(cpu, own->member ? regulated_load(&own->regulated, now) : budget_load(&own->budget, now));
    arm_period(cpu);
}

/* If the others waited for this core alone, they are at the end of their interval, and so is it. */
static void leave_set(struct cpu *cpu)
{
    struct regulator_sample sample;
    uint64_t number;

    if (regulator_exchange_leave(regulation_exchange(), cpu->index, &number)) {
        (void)budget_recharge(&cpu->bandwidth.budget, clock_now());
        regulator_exchange_collect(regulation_exchange(), number, &sample);
        regulation_complete(cpu, &sample);
    }
}

void bandwidth_stop(struct cpu *cpu)
{
    struct bandwidth *own = &cpu->bandwidth;
    uint64_t readings[RESERVATION_COUNTERS];

    if (!own->limited || cpu->shared != NULL) {
        return;
    }
    pmu_stop(&own->pmu, readings);
    budget_save(&own->budget, readings);
    if (own->member && own->budget.reservation.started) {
        leave_set(cpu);
    }
    budget_stop(&own->budget, clock_now());
    cpu->hold = 0;
    clock_set_alarm(CLOCK_ALARM_PERIOD, 0);
    publish(cpu);
}

void bandwidth_charge(struct cpu *cpu, uint64_t lines)
{
    struct bandwidth *own = &cpu->bandwidth;
    uint64_t readings[RESERVATION_COUNTERS];

    /* Instructions, where they stand in, are all counted. */
    if (!own->limited || !own->budget.reservation.started ||
        system_manifest()->platform.overflow_backup_events != 0) {
        return;
    }
    pmu_stop(&own->pmu, readings);
    budget_save(&own->budget, readings);
    reservation_charge(&own->budget.reservation, lines);
    act(cpu, budget_load(&own->budget, clock_now()));
}

bool bandwidth_pause(struct cpu *cpu)
{
    const struct bandwidth *own = &cpu->bandwidth;
    bool counts = own->limited && own->budget.reservation.counting;

    if (counts) {
        pmu_pause(&own->pmu);
    }
    return counts;
}

void bandwidth_resume(struct cpu *cpu, bool paused)
{
    if (paused) {
        pmu_resume(&cpu->bandwidth.pmu);
    }
}

/* An interrupt that came just before bandwidth_stop() starts nothing. */
void bandwidth_overflow(struct cpu *cpu)
{
    struct bandwidth *own = &cpu->bandwidth;
    uint64_t readings[RESERVATION_COUNTERS];

    if (!own->limited || !pmu_has_overflowed(&own->pmu)) { /* a counter of the guest did */
        return;
    }
    pmu_stop(&own->pmu, readings);
    if (!own->budget.reservation.started) {
        return;
    }
    act(cpu, budget_overflow(&own->budget, clock_now(), readings));
    publish(cpu);
}

/* Whether the budget of the next interval is there already: else it comes with the others' request. */
static bool end_interval(struct cpu *cpu, const uint64_t readings[RESERVATION_COUNTERS])
{
    struct bandwidth *own = &cpu->bandwidth;
    struct regulator_sample sample;
    bool last;

    note_limit(cpu);
    last = regulated_timer(&own->regulated, clock_now(), readings, &sample);
    if (last) {
        regulation_complete(cpu, &sample);
    }
    act(cpu, regulated_load(&own->regulated, clock_now()));
    return last;
}

static void end_period(struct cpu *cpu, uint64_t now, const uint64_t readings[RESERVATION_COUNTERS])
{
    struct bandwidth *own = &cpu->bandwidth;

    budget_save(&own->budget, readings);
    (void)bandwidth_apply_update(cpu->vcpu->domain, &own->budget, &own->applied, now);
    act(cpu, budget_timer(&own->budget, now, readings));
}

void bandwidth_period(struct cpu *cpu)
{
    struct bandwidth *own = &cpu->bandwidth;
    uint64_t readings[RESERVATION_COUNTERS];
    uint64_t now = clock_now();
    bool next_is_known = true;

    pmu_stop(&own->pmu, readings);
    if (own->member) {
        next_is_known = end_interval(cpu, readings);
    } else {
        end_period(cpu, now, readings);
    }
    arm_period(cpu);
    publish(cpu);
    statistics_period(cpu, now, next_is_known);
}

void bandwidth_published(struct cpu *cpu)
{
    struct bandwidth *own = &cpu->bandwidth;
    uint64_t readings[RESERVATION_COUNTERS];

    if (!own->member || !own->budget.reservation.started) {
        return;
    }
    pmu_stop(&own->pmu, readings);
    budget_save(&own->budget, readings);
    act(cpu, regulated_load(&own->regulated, clock_now()));
    arm_period(cpu);
    publish(cpu);
    statistics_next(cpu);
}
