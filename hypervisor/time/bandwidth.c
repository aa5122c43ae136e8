/* SPDX-License-Identifier: Apache-2.0
 *
 * The counters run exactly while the VCPU has budget left: EL2 stops them, calls core/budget.h, and does what
 * the returned action says.
 */
#include "time/bandwidth.h"
#include "time/guest_pmu.h"
#include "time/pmu.h"
#include "time/regulation.h"
#include "time/statistics.h"
#include "time/vcpu_budget.h"
#include "vm/clock.h"
#include "vm/cpu.h"
#include "vm/domain.h"
#include "vm/system.h"
#include <arch/gic.h>
#include <stddef.h>

_Static_assert(PMU_COUNTERS == RESERVATION_COUNTERS, "a hardware counter for each counter of a reservation");

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

/* Chooses the events of the core's counters. Returns false if the budgets of its VCPUs would need two
 * different events on one counter. */
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
    if (own->irq != 0) {
        gic_enable(own->irq, cpu->mpidr);
    }
    return true;
}

void bandwidth_set_epoch(struct cpu *cpu, uint64_t start_ticks)
{
    struct bandwidth *own = &cpu->bandwidth;

    if (own->limited) {
        vcpu_budget_init(&own->of_vcpu, &own->budget, cpu->vcpu, start_ticks);
        if (own->member) {
            (void)regulated_init(&own->regulated, &own->budget, regulation_exchange(), cpu->index);
        }
    }
}

/* Records the limit that was in force in the interval that ends. */
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
    vcpu_budget_publish(&cpu->bandwidth.of_vcpu, &cpu->status->budget);
}

/* Loads the budget with the limit that the regulator has published for this interval, if it has. */
static struct budget_action load_regulated(struct bandwidth *own, uint64_t now)
{
    struct budget_action action = regulated_load(&own->regulated, now);

    own->of_vcpu.applied.limit_events = own->budget.reservation.parameters.limit_events[0];
    return action;
}

static void apply_action(struct cpu *cpu, struct budget_action action)
{
    cpu->hold = action.runs ? 0 : CPU_HOLD_THROTTLED;
    if (action.runs) {
        pmu_start(&cpu->bandwidth.pmu, action.preload);
    }
}

/* A deadline that has already passed interrupts at once. */
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
        regulated_join(&own->regulated);
    }
    now = clock_now();
    (void)vcpu_budget_update(&own->of_vcpu, cpu->vcpu->domain, now);
    budget_start(&own->budget, now);
    apply_action(cpu, own->member ? load_regulated(own, now) : budget_load(&own->budget, now));
    arm_period(cpu);
}

/* Leaves the regulator's set. If the other members waited only for this core, the interval ends now, for this
 * core, too. */
static void leave_set(struct cpu *cpu)
{
    struct regulator_sample sample;

    if (regulated_leave(&cpu->bandwidth.regulated, clock_now(), &sample)) {
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
        statistics_next(cpu);
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

    if (!own->limited || !own->budget.reservation.started || !vcpu_budget_counts_lines()) {
        return;
    }
    pmu_stop(&own->pmu, readings);
    budget_save(&own->budget, readings);
    reservation_charge(&own->budget.reservation, lines);
    apply_action(cpu, budget_load(&own->budget, clock_now()));
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

/* An interrupt that arrived just before bandwidth_stop() starts nothing. */
void bandwidth_overflow(struct cpu *cpu)
{
    struct bandwidth *own = &cpu->bandwidth;
    uint64_t readings[RESERVATION_COUNTERS];

    if (!own->limited || !pmu_has_overflowed(&own->pmu)) { /* the overflow is that of a guest's counter */
        return;
    }
    pmu_stop(&own->pmu, readings);
    if (!own->budget.reservation.started) {
        return;
    }
    apply_action(cpu, budget_overflow(&own->budget, clock_now(), readings));
    publish(cpu);
}

/* Ends the interval. Returns true if the budget of the next interval is already known; otherwise the last
 * member's request brings it if it has changed. A sample that waits for it is complete now: the regulator's
 * next step needs this core's post. */
static bool end_interval(struct cpu *cpu, const uint64_t readings[RESERVATION_COUNTERS])
{
    struct bandwidth *own = &cpu->bandwidth;
    struct regulator_sample sample;
    bool last;

    statistics_next(cpu);
    note_limit(cpu);
    last = regulated_timer(&own->regulated, clock_now(), readings, &sample);
    if (last) {
        regulation_complete(cpu, &sample);
    }
    apply_action(cpu, load_regulated(own, clock_now()));
    return last;
}

static void end_period(struct cpu *cpu, uint64_t now, const uint64_t readings[RESERVATION_COUNTERS])
{
    struct bandwidth *own = &cpu->bandwidth;

    budget_save(&own->budget, readings);
    (void)vcpu_budget_update(&own->of_vcpu, cpu->vcpu->domain, now);
    apply_action(cpu, budget_timer(&own->budget, now, readings));
}

/* Not inlined: `bench regulators` tells by this function that an exit is the end of a period. */
__attribute__((noinline)) void bandwidth_period(struct cpu *cpu)
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
    apply_action(cpu, load_regulated(own, clock_now()));
    arm_period(cpu);
    publish(cpu);
    statistics_next(cpu);
}
