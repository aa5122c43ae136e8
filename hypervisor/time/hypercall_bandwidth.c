/* SPDX-License-Identifier: Apache-2.0
 *
 * All values that a manager passes are checked here before anything changes. They are copied from registers,
 * so no other core can change them during the check.
 */
#include "time/hypercall_bandwidth.h"
#include "time/admission.h"
#include "time/bandwidth.h"
#include "time/bandwidth_update.h"
#include "time/regulation.h"
#include "time/statistics.h"
#include "vm/clock.h"
#include "vm/cpu.h"
#include "vm/domain.h"
#include "vm/system.h"
#include <arch/speculation.h>
#include <string.h>

_Static_assert(sizeof(struct manifest_regulation) == BH_REGULATION_WORDS * sizeof(uint64_t),
               "the parameters must fit in the registers of a call");

static uint64_t failure(enum bh_hypercall_error error)
{
    return (uint64_t) - (int64_t)error;
}

void hypercall_budget_read(struct domain *domain, uint64_t x[31])
{
    struct bandwidth_setting latest;

    if (!domain_has_flag(domain, BH_DOMAIN_FLAG_BUDGET)) {
        x[0] = failure(BH_HYPERCALL_ERROR_NO_BUDGET);
        return;
    }
    latest = bandwidth_latest_setting(domain, clock_now());
    x[0] = 0;
    x[1] = latest.events;
    x[2] = latest.period_ns;
    x[3] = latest.waits;
}

void hypercall_budget_change(struct domain *domain, uint64_t x[31])
{
    uint64_t events = x[2];
    uint64_t period_ns = x[3];
    struct budget_answer answer;

    if (!domain_has_flag(domain, BH_DOMAIN_FLAG_BUDGET)) {
        x[0] = failure(BH_HYPERCALL_ERROR_NO_BUDGET);
    } else if (!bandwidth_is_changeable(domain)) {
        x[0] = failure(BH_HYPERCALL_ERROR_NOT_SUPPORTED);
    } else if (!manifest_budget_is_sound(events, period_ns)) {
        x[0] = failure(BH_HYPERCALL_ERROR_INVALID_PARAMETERS);
    } else {
        answer = admission_change_budget(domain, events, period_ns);
        x[0] = answer.admitted ? 0 : failure(BH_HYPERCALL_ERROR_NOT_ADMITTED);
        x[1] = answer.admitted ? answer.from : answer.most_events;
    }
}

void hypercall_samples_store(uint64_t x[31])
{
    if (x[1] > 1) {
        x[0] = failure(BH_HYPERCALL_ERROR_INVALID_PARAMETERS);
        return;
    }
    x[1] = statistics_store(x[1] != 0) ? 1 : 0;
    x[0] = 0;
}

void hypercall_sample_read(uint64_t x[31])
{
    uint32_t count = system_manifest()->cpus.count;
    struct status_sample sample;
    uint64_t position = x[2];

    if (x[1] >= count) {
        x[0] = failure(BH_HYPERCALL_ERROR_INVALID_PARAMETERS);
    } else if (!statistics_read(cpu_at((uint32_t)(x[1] & arch_index_mask(x[1], count))), &position, &sample,
                                &x[2])) {
        x[0] = failure(BH_HYPERCALL_ERROR_NO_SAMPLE);
    } else {
        x[0] = 0;
        x[1] = position;
        memcpy(&x[3], &sample, sizeof sample);
    }
}

void hypercall_regulation_read(uint64_t x[31])
{
    struct manifest_regulation parameters;

    if (!regulation_read(&parameters)) {
        x[0] = failure(BH_HYPERCALL_ERROR_NO_REGULATION);
        return;
    }
    x[0] = 0;
    memcpy(&x[1], &parameters, sizeof parameters);
}

void hypercall_regulation_change(uint64_t x[31])
{
    struct manifest_regulation parameters;
    struct regulation_answer answer;

    if (!regulation_read(&parameters)) {
        x[0] = failure(BH_HYPERCALL_ERROR_NO_REGULATION);
        return;
    }
    memcpy(&parameters, &x[1], sizeof parameters);
    answer = admission_change_regulation(&parameters);
    x[0] = failure(answer.error);
    if (answer.error != BH_HYPERCALL_ERROR_NONE) {
        x[1] = answer.word;
    }
    if (answer.error == BH_HYPERCALL_ERROR_NOT_ADMITTED) {
        x[2] = answer.most;
    }
}
