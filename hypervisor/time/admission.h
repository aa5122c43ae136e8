/* SPDX-License-Identifier: Apache-2.0
 *
 * Budgets and parameters of the regulator that managers want while the system runs: admitted by what admits a
 * system's file (core/budget_admission.h), one request at a time, so that two cannot have the same room.
 *
 * Work under the lock: a look at each domain's budget, then core/'s test, twice where parameters of the
 * regulator wait. So a core waits for at most as many of these as there are other cores.
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
    uint64_t from;        /* counter value, if it is */
    uint64_t most_events; /* that would be, in each such period; 0 if none */
};

/* Budget of a domain for which bandwidth_is_changeable(), of values that manifest_budget_is_sound() finds
 * good. What is not admitted changes nothing. Any core. */
struct budget_answer admission_change_budget(struct domain *domain, uint64_t events, uint64_t period_ns);

struct regulation_answer {
    enum bh_hypercall_error error; /* none, invalid_parameters, not_admitted */
    uint32_t word;                 /* index of the first that is bad, or too much */
    uint64_t most;                 /* of not_admitted (core/budget_admission.h) */
};

/* Parameters of the regulator, of which there is one. An error changes nothing. Any core. */
struct regulation_answer admission_change_regulation(const struct manifest_regulation *parameters);

#ifdef __cplusplus
}
#endif

#endif
