/* SPDX-License-Identifier: Apache-2.0
 *
 * Admission of budgets and regulator parameters that managers request while the system runs. The test is the
 * one that admits a system file (core/budget_admission.h). Requests are handled one at a time, so that two of
 * them cannot be granted the same bandwidth.
 *
 * Work under the lock: reads each domain's budget, then runs the test of core/, twice if new parameters of
 * the regulator are staged. A core waits for at most as many of these as there are other cores.
 */
#ifndef BULKHEAD_ADMISSION_H
#define BULKHEAD_ADMISSION_H

#include "core/budget_admission.h"

#ifdef __cplusplus
extern "C" {
#endif

struct domain;

struct budget_answer {
    bool admitted;
    uint64_t from;        /* counter value from which the budget is in force, if admitted */
    uint64_t most_events; /* the most events in each such period that would be admitted; 0 if none */
};

/* Changes the budget of a domain, if the new one is admitted; otherwise changes nothing.
 * bandwidth_is_changeable() and manifest_budget_is_sound() must be true. May be called on any core. */
struct budget_answer admission_change_budget(struct domain *domain, uint64_t events, uint64_t period_ns);

struct regulation_answer {
    enum bh_hypercall_error error; /* none, invalid_parameters, not_admitted */
    uint32_t word;                 /* index of the first word that is invalid or too large */
    /* for not_admitted: the largest admitted value (core/budget_admission.h) */
    uint64_t most;
};

/* Changes the parameters of the regulator, which must exist. On an error, nothing changes. May be called on
 * any core. */
struct regulation_answer admission_change_regulation(const struct manifest_regulation *parameters);

#ifdef __cplusplus
}
#endif

#endif
