/* SPDX-License-Identifier: Apache-2.0
 *
 * VCPUs that share a core. Every exit that may change who runs ends in shared_core_settle(), which checks
 * everything that can have changed: power, interrupts, time. So no event is lost that occurs while another
 * one is handled. The event counter is stopped meanwhile: events of that work are charged to no VCPU.
 *
 * Longer work of EL2 for a domain is a job of one of its VCPUs (T2), such as the restart of the domain. The
 * scheduler dispatches the VCPU by its priority and on its budget as if its guest ran, but EL2 does steps of
 * the job instead of entering the guest; the core's registers keep the values of the VCPU to which they
 * belong.
 */
#include "run/shared_core.h"
#include "core/release_delay.h"
#include "core/vcpu_sched.h"
#include "flow/flows.h"
#include "iommu/smmu.h"
#include "mpam/mpam_labels.h"
#include "run/crash.h"
#include "run/domain_life.h"
#include "run/guest_context.h"
#include "run/guest_state.h"
#include "run/irq.h"
#include "run/vcpu_run.h"
#include "time/guest_pmu.h"
#include "time/pmu.h"
#include "time/statistics.h"
#include "time/vcpu_budget.h"
#include "vgic/vgic.h"
#include "vm/clock.h"
#include "vm/domain.h"
#include "vm/system.h"
#include <arch/barrier.h>
#include <arch/gic.h>
#include <arch/sysreg.h>
#include <stddef.h>

struct shared_vcpu {
    struct sched_vcpu sched;
    struct vcpu_budget budget; /* uses the scheduler's budget, sched.budget */
    struct vcpu *vcpu;
    struct status_vcpu *status;
    struct period_grid grid; /* periods of its budget; length 0: no budget */
    uint64_t hcr;            /* HCR_EL2 while it runs */
    uint64_t first_period;   /* number of the period in which its current life began, or the last one ended */
    uint64_t earlier_due;    /* number of periods in its earlier lives and with earlier grids */
    struct statistics_seen seen;
    uint64_t blocked_ticks; /* when its last wait for an interrupt began */
    struct release_delay release;
    bool begun; /* it has had a life */
    bool fresh; /* it starts at its next dispatch: there is no saved context */
    /* it has ended itself, and is switched off when the other VCPUs that are due have had their turn */
    bool ends;
    bool gave_way;    /* it has given way to an interrupt since its job's last step */
    bool restarts;    /* its job is the restart of its domain: the guest does not run */
    bool dozes;       /* it waits for an interrupt and has been woken for a job */
    bool will_repeat; /* it waits until it may repeat an access: may_repeat() */
    /* an interrupt, too, ends its wait to repeat an access, because none was pending when the wait began */
    bool hears;
    struct guest_context context;
};

struct shared_core {
    struct sched_core sched;
    struct shared_vcpu *vcpus[SCHED_MAX_VCPUS];
    uint32_t count;
    struct shared_vcpu *running;  /* the VCPU that was chosen last; NULL: the core idles */
    struct shared_vcpu *resident; /* the VCPU whose registers are in the core; NULL: none */
    uint32_t timers_enabled;      /* private interrupts that the last resident VCPU has left enabled */
    bool counts;                  /* the core has an event counter for budgets */
    /* when the running VCPU was chosen: the switch to it is charged to its time */
    uint64_t decided_ticks;
    uint64_t entered_ticks;   /* the same while the VCPU runs; 0: EL2 does other work */
    uint64_t left_ticks;      /* when the running VCPU was last left */
    bool blocks;              /* the running VCPU waits for an interrupt */
    bool decides_for_running; /* work since the running VCPU was left is charged to its time */
};

_Static_assert(sizeof(struct shared_vcpu) <= BH_PAGE_BYTES, "each structure must fit in a frame of the pool");
_Static_assert(sizeof(struct shared_core) <= BH_PAGE_BYTES, "each structure must fit in a frame of the pool");
_Static_assert(SCHED_MAX_VCPUS >= BH_MAX_DOMAINS, "a domain has one VCPU on a core");

static void *new_frame(void)
{
    paddr_t frame;

    return pool_allocate(system_pool(), &frame) ? pool_pointer(system_pool(), frame) : NULL;
}

static bool add(struct cpu *cpu, struct vcpu *vcpu)
{
    struct shared_core *own = cpu->shared;
    const struct domain *domain = vcpu->domain;
    struct shared_vcpu *one = new_frame();

    if (one == NULL || own->count == SCHED_MAX_VCPUS) {
        return false;
    }
    one->vcpu = vcpu;
    one->sched.priority = domain->config->priority;
    one->status = &cpu->status->shared[own->count];
    *one->status = (struct status_vcpu){
        .domain = domain->index, .vcpu = vcpu->index, .priority = domain->config->priority};
    own->vcpus[own->count++] = one;
    cpu->status->shared_count = own->count;
    return true;
}

bool shared_core_add(struct cpu *cpu, struct vcpu *vcpu)
{
    if (cpu->shared == NULL) {
        struct vcpu *first = cpu->vcpu;

        cpu->shared = new_frame();
        cpu->pinned = NULL;
        cpu->status->domain = BH_ALL_DOMAINS;
        if (cpu->shared == NULL || !add(cpu, first)) {
            return false;
        }
    }
    return add(cpu, vcpu);
}

static void reserve_cpu_time(struct shared_vcpu *one, uint64_t start_ticks)
{
    const struct manifest_domain *config = one->vcpu->domain->config;

    if (config->cpu_period_ns != 0) {
        sched_reserve_cpu_time(&one->sched, clock_ticks(config->cpu_budget_ns),
                               (struct period_grid){.start_ticks = start_ticks,
                                                    .length_ticks = clock_ticks(config->cpu_period_ns)});
    }
}

void shared_core_begin(struct cpu *cpu, uint64_t start_ticks)
{
    const struct manifest_hypervisor *config = &system_manifest()->hypervisor;
    struct shared_core *own = cpu->shared;

    cpu->vcpu = NULL; /* no VCPU's registers are in the core */
    own->counts = cpu->bandwidth.limited;
    sched_init(&own->sched,
               config->scheduler == BH_SCHEDULER_ROUND_ROBIN ? SCHED_ROUND_ROBIN : SCHED_FIXED_PRIORITY,
               clock_ticks(config->slice_ns));
    for (uint32_t i = 0; i < own->count; i++) {
        struct shared_vcpu *one = own->vcpus[i];

        one->hcr = guest_hcr(one->vcpu->domain, true);
        release_init(&one->release);
        vcpu_budget_init(&one->budget, &one->sched.budget, one->vcpu, start_ticks);
        one->grid = one->sched.budget.reservation.parameters.grid;
        (void)sched_add(&own->sched, &one->sched);
        reserve_cpu_time(one, start_ticks);
    }
}

static void account(struct cpu *cpu)
{
    struct shared_core *own = cpu->shared;
    uint64_t readings[RESERVATION_COUNTERS] = {0};

    if (own->entered_ticks == 0) {
        return;
    }
    if (own->counts) {
        pmu_stop(&cpu->bandwidth.pmu, readings);
    }
    own->left_ticks = clock_now();
    sched_account(&own->sched, readings, own->left_ticks - own->entered_ticks);
    own->entered_ticks = 0;
}

void shared_core_reschedule(struct cpu *cpu)
{
    account(cpu);
    cpu->shared->decides_for_running = false;
    cpu->hold |= CPU_HOLD_RESCHEDULE;
}

void shared_core_overflow(struct cpu *cpu)
{
    if (cpu->shared->counts && pmu_has_overflowed(&cpu->bandwidth.pmu)) {
        shared_core_reschedule(cpu);
    }
}

void shared_core_charge(struct cpu *cpu, uint64_t events)
{
    struct shared_core *own = cpu->shared;

    if (events != 0 && own->counts && vcpu_budget_counts_lines()) {
        shared_core_reschedule(cpu);
        own->decides_for_running = true;
        reservation_charge(&own->running->sched.budget.reservation, events);
    }
}

void shared_core_wait_for_interrupt(struct cpu *cpu)
{
    if (vgic_wait(cpu->vcpu)) {
        cpu->shared->blocks = true;
        shared_core_reschedule(cpu);
    }
}

void shared_core_wait_to_repeat(struct cpu *cpu)
{
    cpu->shared->running->will_repeat = true;
    cpu->shared->running->hears = vgic_wait(cpu->vcpu);
    cpu->shared->blocks = true;
    shared_core_reschedule(cpu);
}

bool shared_core_inject_spi(const struct cpu *cpu, uint32_t intid)
{
    for (uint32_t i = 0; i < cpu->shared->count; i++) {
        if (vgic_inject_spi_hw(cpu->shared->vcpus[i]->vcpu->domain, intid)) {
            return true;
        }
    }
    return false;
}

/* The number of periods that have begun at `now`, computed from the clock alone. */
static uint64_t period_at(const struct shared_vcpu *one, uint64_t now)
{
    return one->grid.length_ticks == 0 ? 0 : (now - one->grid.start_ticks) / one->grid.length_ticks;
}

/* Applies new budgets and periods that managers have set, which are in force from the start of a period. */
static void apply_updates(struct shared_core *own, uint64_t now)
{
    for (uint32_t i = 0; i < own->count; i++) {
        struct shared_vcpu *one = own->vcpus[i];

        if (one->sched.state != SCHED_RESET && one->grid.length_ticks != 0 &&
            vcpu_budget_update(&one->budget, one->vcpu->domain, now)) {
            struct period_grid next = one->sched.budget.reservation.parameters.grid;

            one->earlier_due += period_at(one, next.start_ticks) - one->first_period;
            one->first_period = 0;
            one->grid = next;
        }
    }
}

/* Publishes the VCPU's statistics for observers, with values that the scheduler's own counts can be compared
 * with. */
static void publish(struct shared_vcpu *one, uint64_t now)
{
    struct status_vcpu *status = one->status;

    status->state = one->sched.state;
    status->periods_due = one->earlier_due + period_at(one, now) - one->first_period;
    status->cpu_periods = one->sched.cpu_time.statistics.periods;
    status->cpu_throttled_periods = one->sched.cpu_time.statistics.throttled_periods;
    status->cpu_max_ticks = one->sched.cpu_time.statistics.period_max_events;
    vcpu_budget_publish(&one->budget, &status->budget);
}

static void switch_off(struct cpu *cpu, struct shared_vcpu *one, uint64_t now)
{
    struct shared_core *own = cpu->shared;

    one->ends = false;
    one->gave_way = false;
    one->restarts = false;
    one->dozes = false;
    one->will_repeat = false;
    release_cancel(&one->release);
    vgic_vcpu_off(one->vcpu);
    if (own->resident == one) {
        guest_timers_off();
        guest_pmu_reset(one->vcpu);
        own->resident = NULL;
        own->timers_enabled = 0;
        cpu->vcpu = NULL;
        if (arch_take_serror()) { /* caused by its last instructions */
            cpu_count_exit(cpu, BH_EXIT_REASON_SERROR);
        }
    }
    apply_updates(own, now);
    sched_timer(&own->sched, now); /* periods that have ended belong to its last life */
    sched_stop(&own->sched, &one->sched, now);
    publish(one, now);
    one->earlier_due = one->status->periods_due;
    one->first_period = period_at(one, now);
    vcpu_went_off(one->vcpu);
}

/* Begins a life of the VCPU: from now on it has periods and is scheduled. Until the end of the period in
 * which it went off, its budget is what was left then. That period is counted as ended when it ends; periods
 * in which the VCPU was off are not counted. */
static void begin_life(struct shared_core *own, struct shared_vcpu *one, uint64_t now)
{
    if (one->grid.length_ticks != 0) {
        one->earlier_due += one->begun && period_at(one, now) != one->first_period;
        if (vcpu_budget_update(&one->budget, one->vcpu->domain, now)) {
            one->grid = one->sched.budget.reservation.parameters.grid;
        }
    }
    one->begun = true;
    one->first_period = period_at(one, now);
    (void)sched_start(&own->sched, &one->sched, now);
}

static void handle_power_of(struct cpu *cpu, struct shared_vcpu *one)
{
    struct shared_core *own = cpu->shared;

    if (one->sched.state != SCHED_RESET && !one->restarts && !vcpu_may_run(one->vcpu)) {
        if (own->running == one && one->sched.state == SCHED_RUNNING && !one->ends) {
            one->ends = true; /* its last action took its time; others should not wait for its end as well */
            return;
        }
        switch_off(cpu, one, clock_now());
    }
    if (one->sched.state != SCHED_RESET && !one->restarts) {
        return;
    }
    if (vcpu_take_start(one->vcpu)) { /* after a restart, it continues with the budget of the restart job */
        if (one->sched.state == SCHED_RESET) {
            begin_life(own, one, clock_now());
        }
        one->restarts = false;
        one->fresh = true;
    } else if (!vcpu_restarts_domain(one->vcpu)) {
        if (one->restarts) { /* a manager has stopped the restart */
            switch_off(cpu, one, clock_now());
        }
    } else if (!one->restarts) {
        begin_life(own, one, clock_now());
        one->restarts = true;
    }
}

/* Handles VCPUs that were stopped, that start, and whose domain restarts. */
static void handle_power(struct cpu *cpu)
{
    for (uint32_t i = 0; i < cpu->shared->count; i++) {
        handle_power_of(cpu, cpu->shared->vcpus[i]);
    }
}

static bool has_job(const struct shared_vcpu *one)
{
    return one->ends || one->restarts;
}

/* True if an interrupt ends the VCPU's wait. A VCPU that waits to repeat an access with an interrupt already
 * pending has that interrupt masked. */
static bool interrupt_ends_wait(const struct shared_vcpu *one)
{
    return !one->will_repeat || one->hears;
}

/* The time at which a timer of a waiting VCPU asserts its interrupt. The timers of the VCPU whose registers
 * are in the core interrupt by themselves. */
static uint64_t timer_of(const struct shared_core *own, const struct shared_vcpu *one)
{
    return one->sched.state == SCHED_PAUSED && one != own->resident && interrupt_ends_wait(one)
               ? guest_context_deadline(&one->context, one->vcpu->vgic.bank.enabled)
               : UINT64_MAX;
}

/* True if the domain may repeat an access that found its memory in use: no transfer accesses the memory, and
 * the SMMU uses none of it that is unmapped. If the SMMU does, an alarm makes this core ask again. */
static bool may_repeat(const struct domain *domain)
{
    return !flows_touch(domain) && smmu_domain_is_unmapped(domain);
}

/* True if the event that the VCPU waits for has occurred, so that its guest continues. */
static bool is_awaited(const struct shared_core *own, const struct shared_vcpu *one, uint64_t now)
{
    return (one->will_repeat && may_repeat(one->vcpu->domain)) ||
           (interrupt_ends_wait(one) && (timer_of(own, one) <= now || vgic_has_come(one->vcpu)));
}

/* Ends the VCPU's wait. Returns the time at which the event occurred. */
static uint64_t awaited_ticks(const struct shared_core *own, struct shared_vcpu *one, uint64_t now)
{
    uint32_t enabled = one->vcpu->vgic.bank.enabled;
    uint64_t timer = one == own->resident ? guest_timers_deadline(enabled)
                                          : guest_context_deadline(&one->context, enabled);
    uint64_t come = vgic_stop_waiting(one->vcpu);

    come = come != 0 && come < now ? come : now;
    if (!one->will_repeat && timer < come) {
        come = timer;
    }
    return come > one->blocked_ticks ? come : one->blocked_ticks;
}

static void wake_up(struct shared_core *own, uint64_t now)
{
    for (uint32_t i = 0; i < own->count; i++) {
        struct shared_vcpu *one = own->vcpus[i];

        if (one->sched.state != SCHED_PAUSED) {
            continue;
        }
        if (is_awaited(own, one, now)) {
            release_ready(&one->release, awaited_ticks(own, one, now));
            one->will_repeat = false;
            sched_wake(&own->sched, &one->sched);
        } else if (has_job(one)) {
            one->dozes = true;
            sched_wake(&own->sched, &one->sched);
        }
    }
}

/* Blocks the running VCPU because it waits for an interrupt, or because it was waiting before and its job is
 * done. */
static void block(struct shared_core *own, uint64_t now)
{
    struct shared_vcpu *one = own->running;

    one->status->blocks += own->blocks;
    /* EL2's work for the wait is charged to its time; otherwise a VCPU could wait without paying for it */
    if (own->blocks) {
        reservation_charge(&one->sched.cpu_time, now - own->left_ticks);
        one->blocked_ticks = now;
    }
    own->blocks = false;
    one->dozes = false;
    sched_block(&own->sched, now);
    if (one->sched.state != SCHED_PAUSED) { /* its budget is spent, too, so it needs no interrupt */
        (void)vgic_stop_waiting(one->vcpu);
        one->will_repeat = false;
    }
}

static uint64_t next_alarm(const struct shared_core *own)
{
    uint64_t earliest = sched_deadline(&own->sched);

    for (uint32_t i = 0; i < own->count; i++) {
        uint64_t deadline = timer_of(own, own->vcpus[i]);

        earliest = deadline < earliest ? deadline : earliest;
    }
    return earliest == UINT64_MAX ? 0 : earliest;
}

/* Checks the fixed-priority policy: counts an error if a ready VCPU has a higher priority than the chosen
 * one. */
static void check_order(const struct shared_core *own, struct shared_vcpu *chosen)
{
    for (uint32_t i = 0; i < own->count; i++) {
        const struct shared_vcpu *other = own->vcpus[i];

        if (other->sched.state == SCHED_READY && other->sched.priority < chosen->sched.priority) {
            chosen->status->out_of_order++;
            return;
        }
    }
}

/* Saves the resident VCPU's registers. A pending asynchronous abort of its last instructions is taken here,
 * so that it does not affect another VCPU's life. */
static void save(struct cpu *cpu, struct shared_vcpu *one, struct guest_regs *regs)
{
    struct shared_core *own = cpu->shared;

    guest_context_save(&one->context, regs);
    mpam_leave(one->vcpu);
    guest_pmu_save(one->vcpu);
    if (arch_take_serror()) {
        cpu_count_exit(cpu, BH_EXIT_REASON_SERROR);
        /* taking the abort has overwritten EL2's registers */
        sysreg_write(ELR_EL2, one->context.return_address);
        sysreg_write(SPSR_EL2, one->context.pstate);
        domain_crash(cpu, regs, BH_DOMAIN_END_SERROR);
    }
    own->timers_enabled = vgic_park(one->vcpu);
}

static void switch_to(struct cpu *cpu, struct shared_vcpu *one, struct guest_regs *regs)
{
    struct shared_core *own = cpu->shared;

    if (own->resident == one && !one->fresh) {
        return;
    }
    if (own->resident != NULL) {
        save(cpu, own->resident, regs);
    }
    own->resident = one;
    sysreg_write(HCR_EL2, one->hcr);
    cpu->vcpu = one->vcpu;
    cpu->status->switches++;
    if (one->fresh) {
        one->fresh = false;
        vgic_vcpu_inherit(one->vcpu, own->timers_enabled);
        vcpu_begin(cpu, regs);
    } else {
        vgic_unpark(one->vcpu, own->timers_enabled);
        guest_context_load(&one->context, one->vcpu, regs);
        guest_pmu_restore(one->vcpu);
    }
    own->timers_enabled = 0;
}

static struct shared_vcpu *of_sched(const struct shared_core *own, const struct sched_vcpu *sched)
{
    for (uint32_t i = 0; i < own->count; i++) {
        if (&own->vcpus[i]->sched == sched) {
            return own->vcpus[i];
        }
    }
    return NULL;
}

static void leave(struct shared_core *own, uint64_t now)
{
    struct shared_vcpu *one = own->running;

    if (one == NULL) {
        return;
    }
    if (one->status->entered_at != 0) {
        one->status->run_ticks += now - one->status->entered_at;
        one->status->entered_at = 0;
    }
    for (uint32_t i = 0; i < own->count; i++) {
        if (own->vcpus[i] != one && own->vcpus[i]->sched.priority >= one->sched.priority) {
            release_outranked(&own->vcpus[i]->release, now);
        }
    }
}

/* Start of the period whose refill has just ended the throttling; 0 if the reservation was not throttled. */
static uint64_t refilled_ticks(const struct reservation *reservation, bool was_throttled)
{
    return was_throttled ? reservation->period.end_ticks - reservation->parameters.grid.length_ticks : 0;
}

/* Refills the budgets whose periods have ended, and records since when their VCPUs are ready. */
static void recharge(struct shared_core *own, uint64_t now)
{
    uint32_t waiting = 0; /* sets of indices into own->vcpus */
    uint32_t for_events = 0;
    uint32_t for_time = 0;

    for (uint32_t i = 0; i < own->count; i++) {
        const struct sched_vcpu *sched = &own->vcpus[i]->sched;

        waiting |= sched->state == SCHED_RECHARGE ? 1u << i : 0;
        for_events |= sched->budget.reservation.throttled ? 1u << i : 0;
        for_time |= sched->cpu_time.throttled ? 1u << i : 0;
    }
    sched_timer(&own->sched, now);
    for (uint32_t i = 0; i < own->count; i++) {
        struct shared_vcpu *one = own->vcpus[i];

        if ((waiting >> i & 1) != 0 && one->sched.state == SCHED_READY) {
            uint64_t events = refilled_ticks(&one->sched.budget.reservation, (for_events >> i & 1) != 0);
            uint64_t time = refilled_ticks(&one->sched.cpu_time, (for_time >> i & 1) != 0);

            events = events > time ? events : time;
            release_ready(&one->release,
                          events != 0 ? events : now); /* or a manager's change has filled it */
        }
    }
}

/* VCPUs that are ready and were not before have become ready just now: they start, or another one preempts
 * them. */
static void record_ready(struct shared_core *own, uint64_t now)
{
    for (uint32_t i = 0; i < own->count; i++) {
        struct shared_vcpu *one = own->vcpus[i];

        if (one->sched.state == SCHED_READY) {
            release_ready(&one->release, now);
        } else if (one->sched.state != SCHED_RUNNING) {
            release_cancel(&one->release);
        }
    }
}

/* Makes one scheduling decision. Returns NULL if no VCPU can run. */
static struct shared_vcpu *choose(struct cpu *cpu, uint64_t preload[RESERVATION_COUNTERS])
{
    struct shared_core *own = cpu->shared;
    struct sched_decision decision;
    struct shared_vcpu *chosen;
    uint64_t now = clock_now();

    leave(own, now);
    account(cpu);
    cpu->hold = 0;
    if (own->decides_for_running) {
        own->decides_for_running = false;
        reservation_charge(&own->running->sched.cpu_time, now - own->left_ticks);
    }
    if (own->blocks || (own->running != NULL && own->running->dozes && !has_job(own->running))) {
        block(own, now);
    }
    handle_power(cpu);
    now = clock_now();
    wake_up(own, now);
    apply_updates(own, now);
    recharge(own, now);
    own->decided_ticks = now;
    decision = sched_dispatch(&own->sched, now);
    for (uint32_t i = 0; i < own->count; i++) {
        if (own->vcpus[i]->sched.state != SCHED_RESET) {
            publish(own->vcpus[i], now);
            statistics_shared(cpu, &own->vcpus[i]->seen, own->vcpus[i]->status, now);
        }
    }
    chosen = decision.vcpu != NULL ? of_sched(own, decision.vcpu) : NULL;
    own->running = chosen;
    record_ready(own, now);
    if (chosen != NULL) {
        if (own->sched.policy == SCHED_FIXED_PRIORITY) {
            check_order(own, chosen);
        }
        chosen->status->dispatches += decision.switched;
        chosen->status->entered_at = now;
        for (uint32_t i = 0; i < RESERVATION_COUNTERS; i++) {
            preload[i] = decision.preload[i];
        }
    }
    return chosen;
}

/* Does one bounded step of the running VCPU's job. Cache lines that EL2 reads past the caches for it are
 * charged to its budget. */
static void job_step(struct cpu *cpu, struct shared_vcpu *one)
{
    uint64_t lines;

    if (one->ends || !vcpu_restarts_domain(one->vcpu) || domain_restart_step(one->vcpu->domain, &lines)) {
        shared_core_reschedule(cpu);
        return;
    }
    shared_core_charge(cpu, lines);
}

static void run(struct cpu *cpu, const uint64_t preload[RESERVATION_COUNTERS])
{
    struct shared_core *own = cpu->shared;

    clock_set_alarm(CLOCK_ALARM_PERIOD, next_alarm(own));
    own->entered_ticks = own->decided_ticks;
    if (own->counts) {
        pmu_start(&cpu->bandwidth.pmu, preload);
    }
}

static void record_entry(struct shared_vcpu *one)
{
    release_entered(&one->release, clock_now());
    one->status->releases = one->release.count;
    one->status->release_sum_ticks = one->release.sum_ticks;
    one->status->release_max_ticks = one->release.max_ticks;
}

/* Does steps of the chosen VCPU's job in its time, until the job is done or a new decision is needed. An
 * interrupt is handled first, because the decision took time; but not two between steps, so that an interrupt
 * storm cannot stop the job. */
static void run_job(struct cpu *cpu, struct shared_vcpu *chosen, const uint64_t preload[RESERVATION_COUNTERS])
{
    record_entry(chosen);
    run(cpu, preload);
    while (cpu->hold == 0 && has_job(chosen)) {
        if (!chosen->gave_way && irq_handle_one(cpu)) {
            chosen->gave_way = true;
            shared_core_reschedule(cpu);
        } else {
            chosen->gave_way = false;
            job_step(cpu, chosen);
        }
    }
}

/* True if a VCPU is still to be switched off: its budget was spent when it ended, so it was not chosen for
 * that. */
static bool any_ends(const struct shared_core *own)
{
    for (uint32_t i = 0; i < own->count; i++) {
        if (own->vcpus[i]->ends) {
            return true;
        }
    }
    return false;
}

static void idle(struct cpu *cpu)
{
    cpu->status->idle = 1;
    clock_set_alarm(CLOCK_ALARM_PERIOD, next_alarm(cpu->shared));
    if (!irq_handle_one(cpu) && !any_ends(cpu->shared)) {
        arch_wfi();
    }
}

/* If the VCPU was woken for a job that another VCPU has done since, ends its wait: the guest may return from
 * it early. */
static void end_doze(struct shared_vcpu *one)
{
    if (one->dozes) {
        one->dozes = false;
        one->will_repeat = false;
        (void)vgic_stop_waiting(one->vcpu);
    }
}

void shared_core_settle(struct cpu *cpu, struct guest_regs *regs)
{
    struct shared_vcpu *chosen;
    uint64_t preload[RESERVATION_COUNTERS] = {0};

    while ((chosen = choose(cpu, preload)) == NULL || has_job(chosen)) {
        if (chosen == NULL) {
            idle(cpu);
        } else {
            cpu->status->idle = 0;
            run_job(cpu, chosen, preload);
        }
    }
    cpu->status->idle = 0;
    end_doze(chosen);
    switch_to(cpu, chosen, regs);
    record_entry(chosen);
    run(cpu, preload);
}
