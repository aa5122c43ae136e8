/* SPDX-License-Identifier: Apache-2.0
 *
 * Budget and period of a domain, as they are and as a manager wants them (B8). Any core.
 */
#ifndef BULKHEAD_BANDWIDTH_UPDATE_H
#define BULKHEAD_BANDWIDTH_UPDATE_H

#include "time/time_state.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct budget_parameters;
struct domain;

/* What was asked for last. */
struct bandwidth_setting {
    uint64_t events;
    uint64_t period_ns;
    bool waits; /* for the beginning of a period */
};

/* Of all domains, as the manifest says, from `start_ticks` on. Once, before any guest runs. */
void bandwidth_update_init_all(uint64_t start_ticks);

struct bandwidth_setting bandwidth_latest_setting(struct domain *domain, uint64_t now_ticks);

/* What holds, and what was asked for last; zero for a domain without a budget. */
void bandwidth_parameters(struct domain *domain, uint64_t now_ticks, struct budget_parameters *held,
                          struct budget_parameters *latest);

/* For all VCPUs of the domain from the beginning of one period on, which is returned. The values must have
 * passed manifest_budget_is_sound(), and be admitted (admission.h). */
uint64_t bandwidth_request_update(struct domain *domain, uint64_t now_ticks, uint64_t events,
                                  uint64_t period_ns);

/* Number of the period that it is now, by the setting that holds. */
uint64_t bandwidth_period_number(struct domain *domain, uint64_t now_ticks);

/* Whether a manager may change it: one budget, which nobody else sets and no other domain has a part in. */
bool bandwidth_is_changeable(const struct domain *domain);

/* Whether another setting holds now than that with `sequence`, and which. */
bool bandwidth_other_setting(struct domain *domain, uint64_t sequence, uint64_t now_ticks,
                             struct budget_setting *setting);

#ifdef __cplusplus
}
#endif

#endif
