/* SPDX-License-Identifier: Apache-2.0
 *
 * The life of a domain: start, restart, stop, end. Everything that ends one goes through domain_end().
 */
#ifndef BULKHEAD_DOMAIN_LIFE_H
#define BULKHEAD_DOMAIN_LIFE_H

#include "vm/domain.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Prepares all domains from the manifest: stage-2 tables, virtual devices. First core, before the start.
 * Returns false when the pool is exhausted. */
bool domain_init_all(void);

/* Lets all domains run: their cores are waiting for it. First core, when everything is ready. */
void domain_start_all(void);

/* Starts a domain again from its images, once all of its VCPUs are parked; `end` is why its life ended. False
 * if it does not run, or if its images cannot be loaded again because they were loaded in place. For the
 * domain itself (a crash, SYSTEM_RESET), on one of its cores. */
bool domain_restart(struct domain *domain, enum bh_domain_end end);

/* The same for managers: from any state, and from any core. `*before`: the state that it had; if that was
 * `restarting`, the restart under way is the one. False if its images cannot be loaded again. */
bool domain_restart_from_any(struct domain *domain, enum bh_domain_state *before);

/* The rest of a restart is a job of VCPU 0, on its core and in its time (run/vcpu_run.c, run/shared_core.c).
 * Whether it can go on now: the domain restarts, its VCPUs are off, and nothing touches its memory. */
bool domain_restart_is_due(const struct domain *domain);

/* One bounded step of it, while it is due; `*lines`: cache lines read past the caches. True: the domain runs
 * again, or a manager has stopped it. */
bool domain_restart_step(struct domain *domain, uint64_t *lines);

/* Stops a domain for a manager, also one that restarts; returns the state that it had. Any core; if it is one
 * of the domain's own, as for domain_end(). */
enum bh_domain_state domain_stop(struct domain *domain);

/* State, last end and restarts of one moment. Any core. */
struct domain_life {
    uint32_t state; /* enum bh_domain_state */
    uint32_t end;   /* enum bh_domain_end */
    uint32_t restarts;
};
struct domain_life domain_life_of(struct domain *domain);

/* Ends a domain: records why, stops all of its VCPUs (their cores are told and will idle). The caller, if it
 * is one of the domain's cores, must return to the exit path, which notices. Any core; false if it had ended
 * already. */
bool domain_end(struct domain *domain, enum bh_domain_state state, enum bh_domain_end end);

#ifdef __cplusplus
}
#endif

#endif
