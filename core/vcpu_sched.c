/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The states of VCPUs and their transitions, as in the table of B2 (docs/design/bandwidth.md). All state
 * changes are in this file, in one function for each row.
 */
#include "core/vcpu_sched.h"
#include "core/sched_policy.h"
#include <stddef.h>

void sched_init(struct sched_core *core, enum sched_policy policy, uint64_t slice_ticks)
{
    *core = (struct sched_core){.policy = policy, .slice_ticks = slice_ticks};
}

bool sched_add(struct sched_core *core, struct sched_vcpu *vcpu)
{
    if (core->count >= SCHED_MAX_VCPUS) {
        return false;
    }
    vcpu->state = SCHED_RESET;
    vcpu->turn = 0;
    sched_reserve_cpu_time(vcpu, RESERVATION_UNLIMITED, (struct period_grid){.length_ticks = 0});
    core->vcpus[core->count++] = vcpu;
    return true;
}

void sched_reserve_cpu_time(struct sched_vcpu *vcpu, uint64_t budget_ticks, struct period_grid grid)
{
    const struct reservation_parameters parameters = {
        .kind = RESERVATION_ONE,
        .counter_bits = 64,
        .limit_events = {budget_ticks, 0},
        .grid = grid,
    };

    reservation_init(&vcpu->cpu_time, &parameters);
}

void sched_account(struct sched_core *core, const uint64_t readings[RESERVATION_COUNTERS], uint64_t ran_ticks)
{
    if (core->running != NULL) {
        budget_save(&core->running->budget, readings);
        reservation_charge(&core->running->cpu_time, ran_ticks);
    }
}

static void make_ready(struct sched_core *core, struct sched_vcpu *vcpu)
{
    vcpu->state = SCHED_READY;
    sched_policy_send_back(core, vcpu);
}

bool sched_start(struct sched_core *core, struct sched_vcpu *vcpu, uint64_t now_ticks)
{
    if (vcpu->state != SCHED_RESET) {
        return false;
    }
    budget_start(&vcpu->budget, now_ticks);
    (void)reservation_start(&vcpu->cpu_time, now_ticks);
    make_ready(core, vcpu);
    return true;
}

void sched_stop(struct sched_core *core, struct sched_vcpu *vcpu, uint64_t now_ticks)
{
    if (vcpu->state == SCHED_RESET) {
        return;
    }
    budget_stop(&vcpu->budget, now_ticks);
    reservation_stop(&vcpu->cpu_time, now_ticks);
    vcpu->state = SCHED_RESET;
    if (core->running == vcpu) {
        core->running = NULL;
    }
    if (core->resident == vcpu) {
        core->resident = NULL; /* it starts again with other registers */
    }
}

/* False if the CPU-time budget is spent, and the reservation is throttled. */
static bool settle_cpu_time(struct reservation *cpu_time, uint64_t now_ticks)
{
    if (!reservation_has_nothing_left(cpu_time)) {
        return true;
    }
    reservation_throttle(cpu_time, now_ticks);
    return !cpu_time->throttled;
}

/* RUNNING to RECHARGE, if a budget is spent and the pool grants nothing. */
static bool overflows(struct sched_core *core, struct sched_vcpu *running, uint64_t now_ticks)
{
    bool has_events = budget_settle(&running->budget, now_ticks);
    bool has_time = settle_cpu_time(&running->cpu_time, now_ticks);

    if (has_events && has_time) {
        return false;
    }
    running->state = SCHED_RECHARGE;
    core->running = NULL;
    return true;
}

void sched_block(struct sched_core *core, uint64_t now_ticks)
{
    struct sched_vcpu *running = core->running;

    if (running != NULL && !overflows(core, running, now_ticks)) {
        running->state = SCHED_PAUSED;
        core->running = NULL;
    }
}

void sched_wake(struct sched_core *core, struct sched_vcpu *vcpu)
{
    if (vcpu->state == SCHED_PAUSED) {
        make_ready(core, vcpu);
    }
}

void sched_timer(struct sched_core *core, uint64_t now_ticks)
{
    for (uint32_t i = 0; i < core->count; i++) {
        struct sched_vcpu *vcpu = core->vcpus[i];

        if (vcpu->state == SCHED_RESET) {
            continue;
        }
        (void)budget_recharge(&vcpu->budget,
                              now_ticks); /* a change of the budget may already have recharged it */
        (void)reservation_recharge(&vcpu->cpu_time, now_ticks);
        if (vcpu->state == SCHED_RECHARGE && !vcpu->budget.reservation.throttled &&
            !vcpu->cpu_time.throttled) {
            make_ready(core, vcpu);
        }
    }
}

/* RUNNING to READY, unless `next` is the running VCPU. */
static void preempt_for(struct sched_core *core, const struct sched_vcpu *next)
{
    if (core->running != NULL && core->running != next) {
        core->running->state = SCHED_READY;
        core->running = NULL;
    }
}

/* READY to RUNNING; on to RECHARGE, with result false, if a budget is spent. */
static bool enter(struct sched_core *core, struct sched_vcpu *vcpu, uint64_t now_ticks)
{
    vcpu->state = SCHED_RUNNING;
    core->running = vcpu;
    return !overflows(core, vcpu, now_ticks);
}

static void begin_slice(struct sched_core *core, uint64_t now_ticks)
{
    core->slice_end_ticks = now_ticks + core->slice_ticks;
}

/* Moves the running VCPU behind the others if its slice is over. */
static void end_slice(struct sched_core *core, struct sched_vcpu *running, uint64_t now_ticks)
{
    if (core->slice_ticks != 0 && now_ticks >= core->slice_end_ticks) {
        sched_policy_send_back(core, running);
        begin_slice(core, now_ticks);
    }
}

/* When the remaining CPU time will be spent. */
static uint64_t spent_at(const struct reservation *cpu_time, uint64_t now_ticks)
{
    uint64_t left = reservation_left(cpu_time, 0);

    return left == RESERVATION_UNLIMITED ? BUDGET_NO_DEADLINE : now_ticks + left;
}

struct sched_decision sched_dispatch(struct sched_core *core, uint64_t now_ticks)
{
    struct sched_decision decision = {NULL, false, {0, 0}};
    struct sched_vcpu *running = core->running;
    struct sched_vcpu *next;

    if (running != NULL && overflows(core, running, now_ticks)) {
        running = NULL;
    } else if (running != NULL) {
        end_slice(core, running, now_ticks);
    }
    do {
        next = sched_policy_pick(core);
        preempt_for(core, next);
    } while (next != NULL && !enter(core, next, now_ticks));
    if (next == NULL) {
        return decision;
    }
    if (next != running) {
        begin_slice(core, now_ticks);
    }
    core->spent_ticks = spent_at(&next->cpu_time, now_ticks);
    decision.vcpu = next;
    decision.switched = next != core->resident;
    core->resident = next;
    reservation_arm(&next->budget.reservation, decision.preload);
    return decision;
}

static uint64_t earlier(uint64_t one, uint64_t other)
{
    return one < other ? one : other;
}

uint64_t sched_deadline(const struct sched_core *core)
{
    uint64_t earliest = BUDGET_NO_DEADLINE;

    for (uint32_t i = 0; i < core->count; i++) {
        const struct sched_vcpu *vcpu = core->vcpus[i];

        if (vcpu->state == SCHED_RESET) {
            continue;
        }
        earliest = earlier(earliest, budget_deadline(&vcpu->budget));
        if (vcpu->cpu_time.started) {
            earliest = earlier(earliest, vcpu->cpu_time.period.end_ticks);
        }
    }
    if (core->running != NULL) {
        earliest = earlier(earliest, core->spent_ticks);
    }
    if (core->slice_ticks != 0 && core->running != NULL && core->slice_end_ticks < earliest &&
        sched_policy_shares(core)) {
        earliest = core->slice_end_ticks;
    }
    return earliest;
}
