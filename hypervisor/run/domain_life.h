/* SPDX-License-Identifier: Apache-2.0
 *
 * Start, restart, stop and end of a domain. Every change of a domain's state after the start is made under
 * the domain's lock `life`.
 */
#ifndef BULKHEAD_DOMAIN_LIFE_H
#define BULKHEAD_DOMAIN_LIFE_H

#include "vm/domain.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sets up all domains from the manifest: stage-2 tables and virtual devices. Called on the first core, before
 * the start. Returns false if the pool is exhausted. */
bool domain_init_all(void);

/* Lets all domains run; their cores wait for this. Called on the first core, when everything is ready. */
void domain_start_all(void);

/* Restarts a domain from its images once all its VCPUs are off; `end` is the reason why its life ends.
 * Returns false if it does not run, or if its images cannot be loaded again because they were loaded in
 * place. Used by the domain itself (a crash, SYSTEM_RESET), on one of its cores. */
bool domain_restart(struct domain *domain, enum bh_domain_end end);

/* Restarts a domain for a manager, from any state and on any core. `*before` is the state that it had; if
 * that was `restarting`, the restart in progress is used. Returns false if its images cannot be loaded
 * again. */
bool domain_restart_from_any(struct domain *domain, enum bh_domain_state *before);

/* The rest of a restart is a job of VCPU 0, done on its core and in its time (run/vcpu_run.c,
 * run/shared_core.c). True if the job can continue now: the domain restarts, its VCPUs are off, and no
 * transfer accesses its memory. */
bool domain_restart_is_due(const struct domain *domain);

/* Does one bounded step of the restart, while it is due. `*lines` is the number of cache lines that were read
 * past the caches. Returns true if the domain runs again or a manager has stopped it. */
bool domain_restart_step(struct domain *domain, uint64_t *lines);

/* Called when the power of one of the domain's VCPUs has become off. With the last VCPU of a domain that does
 * not run any more, turns the domain's PCI functions off and resets its other devices. */
void domain_vcpu_is_off(struct domain *domain);

/* Asks whether the devices of a broker that this core has left are quiet, and tells flows. If they are not,
 * RARE_ALARM_QUIET comes, which asks again. */
void domain_ask_engine(void);

/* Stops a domain for a manager, also while it restarts. Returns the state that it had. May be called on any
 * core; on one of the domain's own, the rule of domain_end() applies. */
enum bh_domain_state domain_stop(struct domain *domain);

/* State, last end and number of restarts, read together under the lock. May be called on any core. */
struct domain_life {
    uint32_t state; /* enum bh_domain_state */
    uint32_t end;   /* enum bh_domain_end */
    uint32_t restarts;
};
struct domain_life domain_life_of(struct domain *domain);

/* Ends a domain: records the reason and stops all its VCPUs, whose cores are notified and then idle. May be
 * called on any core. A caller on one of the domain's cores must return to the exit path, which checks the
 * VCPU's state. Returns false if the domain does not run. */
bool domain_end(struct domain *domain, enum bh_domain_state state, enum bh_domain_end end);

#ifdef __cplusplus
}
#endif

#endif
