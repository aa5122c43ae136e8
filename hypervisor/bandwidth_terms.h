/* SPDX-License-Identifier: Apache-2.0
 *
 * Budget and period of a domain, as they are and as a manager wants them (B8). Any core.
 */
#ifndef BULKHEAD_BANDWIDTH_TERMS_H
#define BULKHEAD_BANDWIDTH_TERMS_H

#include "core/budget_terms.h"
#include "core/spinlock.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct budget;
struct domain;

struct bandwidth_agreement {
    struct spinlock lock;
    struct budget_agreement terms;
    uint64_t period_ns;        /* of the latest */
    _Atomic uint64_t sequence; /* of the latest: a core that has taken it need not look */
};

/* Which terms a VCPU's budget has. */
struct bandwidth_taken {
    uint64_t terms;        /* their sequence */
    uint64_t limit_events; /* of a period */
};

/* What was asked for last. */
struct bandwidth_terms {
    uint64_t events;
    uint64_t period_ns;
    bool waits; /* for the beginning of a period */
};

/* Of all domains, as the manifest says, from `start_ticks` on. Once, before any guest runs. */
void bandwidth_terms_init_all(uint64_t start_ticks);

struct bandwidth_terms bandwidth_latest_terms(struct domain *domain, uint64_t now_ticks);

/* For all VCPUs of the domain from the beginning of one period on, which is returned. The values must have
 * passed manifest_budget_is_sound(). */
uint64_t bandwidth_change_terms(struct domain *domain, uint64_t now_ticks, uint64_t events,
                                uint64_t period_ns);

/* Number of the period that it is now, by the terms that hold. */
uint64_t bandwidth_period_number(struct domain *domain, uint64_t now_ticks);

/* Whether a manager may change it: one budget, which nobody else sets and no other domain has a part in. */
bool bandwidth_is_changeable(const struct domain *domain);

/* The budget of a VCPU of the domain takes the terms that hold now, if it has others: true. Its counter has
 * been saved. On the VCPU's core. */
bool bandwidth_take_terms(struct domain *domain, struct budget *budget, struct bandwidth_taken *taken,
                          uint64_t now_ticks);

#ifdef __cplusplus
}
#endif

#endif
