/* SPDX-License-Identifier: Apache-2.0
 *
 * Collects the budgets in force and the staged ones for the test of core/. Other requests wait for the lock.
 * Cores that apply a staged budget meanwhile do not wait, because this makes no budget larger than the test
 * has counted it.
 */
#include "time/admission.h"
#include "core/spinlock.h"
#include "time/bandwidth_update.h"
#include "time/regulation.h"
#include "vm/clock.h"
#include "vm/domain.h"
#include "vm/system.h"

static struct spinlock lock;

static void read_budgets(struct admission_state *state, uint64_t now_ticks)
{
    for (uint32_t i = 0; i < domain_count(); i++) {
        bandwidth_parameters(domain_at(i), now_ticks, &state->held[i], &state->latest[i]);
    }
}

/* The most events that are admitted both with the regulator's parameters in force and with its staged
 * ones. */
static uint64_t most_events(struct admission_state *state, uint32_t domain, uint64_t period_ns)
{
    struct regulation_parameters regulation;
    uint64_t most;
    uint64_t most_then;

    regulation_read_parameters(&regulation);
    state->regulation = regulation.held;
    state->shortest_interval_ns = regulation.held_interval_ns;
    most = admission_most_events(system_manifest(), state, domain, period_ns);
    if (!regulation.waits) {
        return most;
    }
    state->regulation = regulation.latest;
    state->shortest_interval_ns = regulation.latest_interval_ns;
    most_then = admission_most_events(system_manifest(), state, domain, period_ns);
    return most < most_then ? most : most_then;
}

struct budget_answer admission_change_budget(struct domain *domain, uint64_t events, uint64_t period_ns)
{
    struct admission_state state;
    struct budget_answer answer = {.admitted = false};
    uint64_t now;

    spin_lock(&lock);
    now = clock_now();
    read_budgets(&state, now);
    answer.most_events = most_events(&state, domain->index, period_ns);
    answer.admitted = events <= answer.most_events;
    if (answer.admitted) {
        answer.from = bandwidth_request_update(domain, now, events, period_ns);
    }
    spin_unlock(&lock);
    return answer;
}

/* The verdict on regulator parameters with all budgets; the first interval under new parameters is still as
 * long as those before. */
static struct regulation_verdict verdict_on(const struct manifest_regulation *parameters)
{
    struct admission_state state;
    struct regulation_parameters regulation;

    read_budgets(&state, clock_now());
    regulation_read_parameters(&regulation);
    state.regulation = *parameters;
    state.shortest_interval_ns = parameters->interval_ns < regulation.held.interval_ns
                                     ? parameters->interval_ns
                                     : regulation.held.interval_ns;
    return admission_of_regulation(system_manifest(), &state);
}

static struct regulation_answer change(const struct manifest_regulation *parameters)
{
    struct regulation_verdict verdict;
    uint32_t bad_word = regulation_bad_word(parameters);

    if (bad_word != BH_REGULATION_WORDS) {
        return (struct regulation_answer){BH_HYPERCALL_ERROR_INVALID_PARAMETERS, bad_word, 0};
    }
    verdict = verdict_on(parameters);
    if (verdict.word != BH_REGULATION_WORDS) {
        return (struct regulation_answer){BH_HYPERCALL_ERROR_NOT_ADMITTED, verdict.word, verdict.most};
    }
    bad_word = regulation_change(parameters);
    if (bad_word != BH_REGULATION_WORDS) {
        return (struct regulation_answer){BH_HYPERCALL_ERROR_INVALID_PARAMETERS, bad_word, 0};
    }
    return (struct regulation_answer){.error = BH_HYPERCALL_ERROR_NONE};
}

struct regulation_answer admission_change_regulation(const struct manifest_regulation *parameters)
{
    struct regulation_answer answer;

    spin_lock(&lock);
    answer = change(parameters);
    spin_unlock(&lock);
    return answer;
}
