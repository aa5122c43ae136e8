/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The states of VCPUs and their transitions, as the table of B2 has them: docs/bandwidth.md. Every change of
 * a state is in this file, one function for each row.
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
    core->vcpus[core->count++] = vcpu;
    return true;
}

void sched_account(struct sched_core *core, const uint64_t readings[RESERVATION_COUNTERS])
{
    if (core->running != NULL) {
        budget_save(&core->running->budget, readings);
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
    make_ready(core, vcpu);
    return true;
}

void sched_stop(struct sched_core *core, struct sched_vcpu *vcpu, uint64_t now_ticks)
{
    if (vcpu->state == SCHED_RESET) {
        return;
    }
    budget_stop(&vcpu->budget, now_ticks);
    vcpu->state = SCHED_RESET;
    if (core->running == vcpu) {
        core->running = NULL;
    }
    if (core->resident == vcpu) {
        core->resident = NULL; /* its next life starts from other registers */
    }
}

/* RUNNING to RECHARGE if the budget is spent and the pool gives nothing. */
static bool overflows(struct sched_core *core, struct sched_vcpu *running, uint64_t now_ticks)
{
    if (budget_settle(&running->budget, now_ticks)) {
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
        (void)budget_recharge(&vcpu->budget, now_ticks); /* or new terms have done that just before */
        if (vcpu->state == SCHED_RECHARGE && !vcpu->budget.reservation.throttled) {
            make_ready(core, vcpu);
        }
    }
}

/* RUNNING to READY, unless `next` is the running one. */
static void preempt_for(struct sched_core *core, const struct sched_vcpu *next)
{
    if (core->running != NULL && core->running != next) {
        core->running->state = SCHED_READY;
        core->running = NULL;
    }
}

/* READY to RUNNING; on to RECHARGE, and false, if there is nothing to run on. */
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

/* Sends the running one back if its slice is over. */
static void end_slice(struct sched_core *core, struct sched_vcpu *running, uint64_t now_ticks)
{
    if (core->slice_ticks != 0 && now_ticks >= core->slice_end_ticks) {
        sched_policy_send_back(core, running);
        begin_slice(core, now_ticks);
    }
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
    decision.vcpu = next;
    decision.switched = next != core->resident;
    core->resident = next;
    reservation_arm(&next->budget.reservation, decision.preload);
    return decision;
}

uint64_t sched_deadline(const struct sched_core *core)
{
    uint64_t earliest = BUDGET_NO_DEADLINE;

    for (uint32_t i = 0; i < core->count; i++) {
        const struct sched_vcpu *vcpu = core->vcpus[i];

        if (vcpu->state != SCHED_RESET && budget_deadline(&vcpu->budget) < earliest) {
            earliest = budget_deadline(&vcpu->budget);
        }
    }
    if (core->slice_ticks != 0 && core->running != NULL && core->slice_end_ticks < earliest &&
        sched_policy_shares(core)) {
        earliest = core->slice_end_ticks;
    }
    return earliest;
}
