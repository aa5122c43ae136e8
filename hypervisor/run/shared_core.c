/* SPDX-License-Identifier: Apache-2.0
 *
 * Every way ends in shared_core_settle(), which looks at everything that can have changed: power, interrupts,
 * time. So nothing is lost that happens while something else is being handled. The counter stands meanwhile:
 * what is done there is nobody's.
 */
#include "run/shared_core.h"
#include "core/vcpu_sched.h"
#include "run/crash.h"
#include "run/guest_context.h"
#include "run/irq.h"
#include "run/vcpu_run.h"
#include "time/bandwidth.h"
#include "time/bandwidth_update.h"
#include "time/guest_pmu.h"
#include "time/pmu.h"
#include "time/statistics.h"
#include "vgic/vgic.h"
#include "vm/clock.h"
#include "vm/domain.h"
#include "vm/system.h"
#include <arch/barrier.h>
#include <arch/gic.h>
#include <stddef.h>

struct shared_vcpu {
    struct sched_vcpu sched;
    struct reclaim share;
    struct bandwidth_applied applied;
    struct vcpu *vcpu;
    struct status_vcpu *status;
    struct period_grid grid; /* of its budget; length 0: it has none */
    uint64_t first_period;   /* number of the one in which its current life began, or the last one ended */
    uint64_t earlier_due;    /* periods of its earlier lives and grids */
    struct statistics_seen seen;
    uint64_t entered_ticks; /* when it was dispatched last */
    bool begun;             /* had a life */
    bool fresh;             /* starts at its next dispatch: there is no context */
    struct guest_context context;
};

struct shared_core {
    struct sched_core sched;
    struct shared_vcpu *vcpus[SCHED_MAX_VCPUS];
    uint32_t count;
    struct shared_vcpu *resident; /* whose registers the core has, NULL: nobody's */
    uint32_t timers_enabled;      /* private interrupts that the last resident has left enabled */
    bool counts;                  /* there is an event counter */
    bool counting;                /* and it counts for the running one */
    bool blocks;                  /* the running one waits for an interrupt */
};

_Static_assert(sizeof(struct shared_vcpu) <= BH_PAGE_BYTES, "a frame of the pool for each");
_Static_assert(sizeof(struct shared_core) <= BH_PAGE_BYTES, "a frame of the pool for each");
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

void shared_core_begin(struct cpu *cpu, uint64_t start_ticks)
{
    const struct manifest_hypervisor *config = &system_manifest()->hypervisor;
    struct shared_core *own = cpu->shared;

    cpu->vcpu = NULL; /* nobody's registers are in the core */
    own->counts = cpu->bandwidth.limited;
    sched_init(&own->sched,
               config->scheduler == BH_SCHEDULER_ROUND_ROBIN ? SCHED_ROUND_ROBIN : SCHED_FIXED_PRIORITY,
               clock_ticks(config->slice_ns));
    for (uint32_t i = 0; i < own->count; i++) {
        struct shared_vcpu *one = own->vcpus[i];

        bandwidth_init_budget(one->vcpu, start_ticks, &one->sched.budget, &one->share, &one->applied);
        one->grid = one->sched.budget.reservation.parameters.grid;
        (void)sched_add(&own->sched, &one->sched);
    }
}

static void account(struct cpu *cpu)
{
    struct shared_core *own = cpu->shared;
    uint64_t readings[RESERVATION_COUNTERS];

    if (own->counting) {
        own->counting = false;
        pmu_stop(&cpu->bandwidth.pmu, readings);
        sched_account(&own->sched, readings);
    }
}

void shared_core_reschedule(struct cpu *cpu)
{
    account(cpu);
    cpu->hold |= CPU_HOLD_RESCHEDULE;
}

void shared_core_wait_for_interrupt(struct cpu *cpu)
{
    if (vgic_wait(cpu->vcpu)) {
        cpu->shared->blocks = true;
        shared_core_reschedule(cpu);
    }
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

/* The periods that have begun, by the clock alone. */
static uint64_t period_at(const struct shared_vcpu *one, uint64_t now)
{
    return one->grid.length_ticks == 0 ? 0 : (now - one->grid.start_ticks) / one->grid.length_ticks;
}

/* A manager has changed its budget or its period: from the beginning of a period on. */
static void apply_updates(struct shared_core *own, uint64_t now)
{
    for (uint32_t i = 0; i < own->count; i++) {
        struct shared_vcpu *one = own->vcpus[i];

        if (one->sched.state != SCHED_RESET && one->grid.length_ticks != 0 &&
            bandwidth_apply_update(one->vcpu->domain, &one->sched.budget, &one->applied, now)) {
            struct period_grid next = one->sched.budget.reservation.parameters.grid;

            one->earlier_due += period_at(one, next.start_ticks) - one->first_period;
            one->first_period = 0;
            one->grid = next;
        }
    }
}

/* For whoever looks from outside: what the scheduler's own counts can be compared with, too. */
static void publish(struct shared_vcpu *one, uint64_t now)
{
    struct status_vcpu *status = one->status;

    status->state = one->sched.state;
    status->periods_due = one->earlier_due + period_at(one, now) - one->first_period;
    bandwidth_publish(&one->sched.budget, &one->applied, &status->budget);
}

static void put_away(struct cpu *cpu, struct shared_vcpu *one, uint64_t now)
{
    struct shared_core *own = cpu->shared;

    vgic_vcpu_off(one->vcpu);
    if (own->resident == one) {
        guest_timers_off();
        guest_pmu_reset(one->vcpu);
        own->resident = NULL;
        own->timers_enabled = 0;
        cpu->vcpu = NULL;
        if (arch_take_serror()) { /* of what it did last */
            cpu_count_exit(cpu, BH_EXIT_REASON_SERROR);
        }
    }
    apply_updates(own, now);
    sched_timer(&own->sched, now); /* what has ended is its last life's */
    sched_stop(&own->sched, &one->sched, now);
    publish(one, now);
    one->earlier_due = one->status->periods_due;
    one->first_period = period_at(one, now);
    vcpu_went_off(one->vcpu);
}

/* What was left of the period in which it went off is its budget until that ends; so that period counts when
 * it has, without those in which it was off. */
static void begin_life(struct shared_core *own, struct shared_vcpu *one, uint64_t now)
{
    if (one->grid.length_ticks != 0) {
        one->earlier_due += one->begun && period_at(one, now) != one->first_period;
        if (bandwidth_apply_update(one->vcpu->domain, &one->sched.budget, &one->applied, now)) {
            one->grid = one->sched.budget.reservation.parameters.grid;
        }
    }
    one->begun = true;
    one->fresh = true;
    one->first_period = period_at(one, now);
    (void)sched_start(&own->sched, &one->sched, now);
}

/* Those that were stopped, and those that start. */
static void follow_power(struct cpu *cpu)
{
    struct shared_core *own = cpu->shared;

    for (uint32_t i = 0; i < own->count; i++) {
        struct shared_vcpu *one = own->vcpus[i];

        if (one->sched.state != SCHED_RESET && !vcpu_may_run(one->vcpu)) {
            put_away(cpu, one, clock_now());
        }
        if (one->sched.state == SCHED_RESET && vcpu_take_start(one->vcpu)) {
            begin_life(own, one, clock_now());
        }
    }
}

/* When a timer of a VCPU that waits asserts its interrupt. Of the one whose registers are in the core, the
 * timer interrupts by itself. */
static uint64_t timer_of(const struct shared_core *own, const struct shared_vcpu *one)
{
    return one->sched.state == SCHED_PAUSED && one != own->resident
               ? guest_context_deadline(&one->context, one->vcpu->vgic.bank.enabled)
               : UINT64_MAX;
}

static void wake_up(struct shared_core *own, uint64_t now)
{
    for (uint32_t i = 0; i < own->count; i++) {
        struct shared_vcpu *one = own->vcpus[i];

        if (one->sched.state == SCHED_PAUSED && (timer_of(own, one) <= now || vgic_has_come(one->vcpu))) {
            vgic_stop_waiting(one->vcpu);
            sched_wake(&own->sched, &one->sched);
        }
    }
}

static void block(struct shared_core *own, uint64_t now)
{
    struct shared_vcpu *one = own->resident;

    own->blocks = false;
    sched_block(&own->sched, now);
    one->status->blocks++;
    if (one->sched.state != SCHED_PAUSED) { /* its budget is spent, too: then it needs no interrupt */
        vgic_stop_waiting(one->vcpu);
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

/* Of what the policy has decided: nobody of a higher priority could have run. */
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

/* The resident one's registers are its own again when it comes back. What it did last must not be found in
 * the life of another one. */
static void save(struct cpu *cpu, struct shared_vcpu *one, struct guest_regs *regs)
{
    struct shared_core *own = cpu->shared;

    guest_context_save(&one->context, regs);
    guest_pmu_save(one->vcpu);
    if (arch_take_serror()) {
        cpu_count_exit(cpu, BH_EXIT_REASON_SERROR);
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
    cpu->vcpu = one->vcpu;
    cpu->status->switches++;
    if (one->fresh) {
        one->fresh = false;
        vgic_vcpu_inherit(one->vcpu, own->timers_enabled);
        vcpu_begin(cpu, regs);
    } else {
        vgic_unpark(one->vcpu, own->timers_enabled);
        guest_context_load(&one->context, one->vcpu->domain->stage2.vttbr, one->vcpu->index, regs);
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
    struct shared_vcpu *one = own->sched.running != NULL ? own->resident : NULL;

    if (one != NULL && one->entered_ticks != 0) {
        one->status->run_ticks += now - one->entered_ticks;
        one->entered_ticks = 0;
    }
}

/* One round: NULL if nobody can run. */
static struct shared_vcpu *choose(struct cpu *cpu, uint64_t preload[RESERVATION_COUNTERS])
{
    struct shared_core *own = cpu->shared;
    struct sched_decision decision;
    struct shared_vcpu *chosen;
    uint64_t now = clock_now();

    leave(own, now);
    account(cpu);
    cpu->hold = 0;
    if (own->blocks) {
        block(own, now);
    }
    follow_power(cpu);
    now = clock_now();
    wake_up(own, now);
    apply_updates(own, now);
    sched_timer(&own->sched, now);
    decision = sched_dispatch(&own->sched, now);
    for (uint32_t i = 0; i < own->count; i++) {
        if (own->vcpus[i]->sched.state != SCHED_RESET) {
            publish(own->vcpus[i], now);
            statistics_shared(cpu, &own->vcpus[i]->seen, own->vcpus[i]->status, now);
        }
    }
    chosen = decision.vcpu != NULL ? of_sched(own, decision.vcpu) : NULL;
    if (chosen != NULL) {
        if (own->sched.policy == SCHED_FIXED_PRIORITY) {
            check_order(own, chosen);
        }
        chosen->status->dispatches += decision.switched;
        chosen->entered_ticks = now;
        for (uint32_t i = 0; i < RESERVATION_COUNTERS; i++) {
            preload[i] = decision.preload[i];
        }
    }
    return chosen;
}

void shared_core_settle(struct cpu *cpu, struct guest_regs *regs)
{
    struct shared_core *own = cpu->shared;
    struct shared_vcpu *chosen;
    uint64_t preload[RESERVATION_COUNTERS] = {0};

    while ((chosen = choose(cpu, preload)) == NULL) {
        cpu->status->idle = 1;
        clock_set_alarm(CLOCK_ALARM_PERIOD, next_alarm(own));
        if (!irq_handle_one(cpu)) {
            arch_wfi();
        }
    }
    cpu->status->idle = 0;
    switch_to(cpu, chosen, regs);
    clock_set_alarm(CLOCK_ALARM_PERIOD, next_alarm(own));
    if (own->counts) {
        own->counting = true;
        pmu_start(&cpu->bandwidth.pmu, preload);
    }
}
