/* SPDX-License-Identifier: Apache-2.0
 *
 * Entry points for Frama-C's EVA over the budgets and the scheduler of core/: any parameters that the checks
 * accept, then any calls in any order, with any counter values and any time.
 */
#include "core/budget.h"
#include "core/budget_update.h"
#include "core/vcpu_sched.h"
#include "frama_c.h"

static struct reservation_parameters any_parameters(void)
{
    struct reservation_parameters parameters;

    parameters.kind = (enum reservation_kind)any_u64();
    parameters.counter_bits = (uint32_t)any_u64();
    parameters.limit_events[0] = any_u64();
    parameters.limit_events[1] = any_u64();
    parameters.slack_events = any_u64();
    parameters.grid.number = any_u64();
    parameters.grid.start_ticks = any_u64();
    parameters.grid.length_ticks = any_u64();
    parameters.keep_running = any_bool();
    return parameters;
}

static void any_words(uint64_t words[RESERVATION_COUNTERS])
{
    words[0] = any_u64();
    words[1] = any_u64();
}

void prove_reservation_check(void)
{
    struct reservation_parameters parameters = any_parameters();

    (void)reservation_check(&parameters);
}

/* EVA does not keep a callee's results about its arguments, so the relevant ones are asserted again. */
static bool is_good(const struct reservation_parameters *parameters)
{
    return parameters->counter_bits >= EVENT_COUNTER_MIN_BITS &&
           parameters->counter_bits <= EVENT_COUNTER_MAX_BITS &&
           reservation_check(parameters) == RESERVATION_ERROR_NONE;
}

static void any_call(struct budget *budget)
{
    uint64_t words[RESERVATION_COUNTERS];
    struct period_grid grid = {any_u64(), any_u64(), any_u64()};

    any_words(words);
    switch (any_u32_between(0, 10)) {
    case 0:
        budget_start(budget, any_u64());
        break;
    case 1:
        budget_stop(budget, any_u64());
        break;
    case 2:
        (void)budget_load(budget, any_u64());
        break;
    case 3:
        budget_save(budget, words);
        break;
    case 4:
        (void)budget_overflow(budget, any_u64(), words);
        break;
    case 5:
        (void)budget_timer(budget, any_u64(), words);
        break;
    case 6:
        (void)budget_deadline(budget);
        break;
    case 7:
        (void)budget_set_limits(budget, words);
        break;
    case 8:
        (void)reservation_set_limits_now(&budget->reservation, words, any_u64());
        break;
    case 9:
        (void)reservation_set_grid(&budget->reservation, &grid, any_u64());
        break;
    default:
        (void)reservation_throttled_ticks(&budget->reservation, any_u64());
        break;
    }
}

void prove_budget(void)
{
    struct reservation_parameters parameters = any_parameters();
    struct budget budget = {0};

    if (!is_good(&parameters) || !budget_init(&budget, &parameters, NULL)) {
        return;
    }
    while (any_bool()) {
        any_call(&budget);
    }
}

void prove_budget_with_pool(void)
{
    struct reservation_parameters parameters = any_parameters();
    struct event_pool pool;
    struct reclaim reclaim = {.pool = &pool};
    struct budget budget = {0};

    event_pool_init(&pool, any_u64(), any_u64());
    if (!reclaim_init(&reclaim, &pool, any_u64(), any_u64(), any_bool(), any_bool()) ||
        !is_good(&parameters) || !budget_init(&budget, &parameters, &reclaim)) {
        return;
    }
    while (any_bool()) {
        any_call(&budget);
        event_pool_give(&pool, any_u64(), any_u64());
    }
}

void prove_budget_update(void)
{
    struct reservation_parameters parameters = any_parameters();
    const struct budget_setting first = {any_u64(), any_u64(), any_u64(), {any_u64(), any_u64(), any_u64()}};
    struct budget_update update;
    struct budget budget = {0};

    budget_update_init(&update, &first);
    if (!is_good(&parameters) || !budget_init(&budget, &parameters, NULL)) {
        return;
    }
    while (any_bool()) {
        (void)budget_update_request(&update, any_u64(), any_u64(), any_u64(), any_u64(), any_u64());
        (void)budget_update_latest(&update);
        budget_apply(&budget, budget_update_current(&update, any_u64()), any_u64());
        any_call(&budget);
    }
}

static void any_scheduling(struct sched_core *core, struct sched_vcpu *vcpu)
{
    uint64_t readings[RESERVATION_COUNTERS];

    any_words(readings);
    sched_account(core, readings, any_u64());
    switch (any_u32_between(0, 5)) {
    case 0:
        (void)sched_start(core, vcpu, any_u64());
        break;
    case 1:
        sched_stop(core, vcpu, any_u64());
        break;
    case 2:
        sched_block(core, any_u64());
        break;
    case 3:
        sched_wake(core, vcpu);
        break;
    default:
        sched_timer(core, any_u64());
        break;
    }
    (void)sched_dispatch(core, any_u64());
    (void)sched_deadline(core);
}

void prove_vcpu_sched(void)
{
    static struct sched_vcpu vcpus[2];
    struct sched_core core;

    sched_init(&core, any_bool() ? SCHED_ROUND_ROBIN : SCHED_FIXED_PRIORITY, any_u64());
    for (int i = 0; i < 2; i++) {
        struct reservation_parameters parameters = any_parameters();

        if (!is_good(&parameters) || !budget_init(&vcpus[i].budget, &parameters, NULL)) {
            return;
        }
        vcpus[i].priority = (uint32_t)any_u64();
        if (!sched_add(&core, &vcpus[i])) {
            return;
        }
    }
    while (any_bool()) {
        any_scheduling(&core, any_bool() ? &vcpus[0] : &vcpus[1]);
    }
}
