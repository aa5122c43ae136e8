/* SPDX-License-Identifier: Apache-2.0
 *
 * A domain: its place in the manifest, its state, its virtual devices and its VCPUs. Domains never share
 * anything but code; everything that ends one goes through domain_end().
 */
#ifndef BULKHEAD_DOMAIN_H
#define BULKHEAD_DOMAIN_H

#include "bandwidth_terms.h"
#include "core/event_pool.h"
#include "stage2.h"
#include "vcpu.h"
#include "vgic.h"
#include "vuart.h"
#include <bulkhead_layout.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* How much of one kind a domain may still cause in the log that all share. */
struct log_allowance {
    uint64_t until; /* counter value: the second that `used` counts */
    uint32_t used;
    uint32_t left_out; /* since the last that was not */
};

struct domain {
    const struct manifest_domain *config;
    uint32_t index;
    struct spinlock life;   /* steps from state to state, and what belongs to each */
    _Atomic uint32_t state; /* enum bh_domain_state */
    struct log_allowance dumps;
    struct log_allowance lines;
    struct stage2 stage2;
    struct vgic_domain vgic;
    struct vuart vuart;
    struct event_pool share; /* of a budget that its VCPUs have together */
    struct bandwidth_agreement agreement;
    uint32_t vcpu_count;
    struct vcpu *vcpus; /* vcpu_count of them, in order of their index */
};

/* The domain with this index in the manifest. The index must be valid. */
struct domain *domain_at(uint32_t index);
uint32_t domain_count(void);

static inline bool domain_has_flag(const struct domain *domain, uint32_t flag)
{
    return (domain->config->flags & flag) != 0;
}

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

/* The rest of a restart, done by the core of VCPU 0 while it waits: true when the domain runs again. */
bool domain_finish_restart(struct domain *domain);

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

/* Whether the log may have something more about the domain: at most `per_second` of what `allowance` is for.
 * `*left_out`: how much was refused since. Any core. */
bool domain_may_log(struct domain *domain, struct log_allowance *allowance, uint32_t per_second,
                    uint32_t *left_out);

/* Ends a domain: records why, stops all of its VCPUs (their cores are told and will idle). The caller, if it
 * is one of the domain's cores, must return to the exit path, which notices. Any core; false if it had ended
 * already. */
bool domain_end(struct domain *domain, enum bh_domain_state state, enum bh_domain_end end);

#endif
