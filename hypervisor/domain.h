/* SPDX-License-Identifier: Apache-2.0
 *
 * A domain: its place in the manifest, its state, its virtual devices and its VCPUs. Domains never share
 * anything but code; everything that ends one goes through domain_end().
 */
#ifndef BULKHEAD_DOMAIN_H
#define BULKHEAD_DOMAIN_H

#include "stage2.h"
#include "vcpu.h"
#include "vgic.h"
#include "vuart.h"
#include <bulkhead_layout.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct domain {
    const struct manifest_domain *config;
    uint32_t index;
    _Atomic uint32_t state; /* enum bh_domain_state */
    struct stage2 stage2;
    struct vgic_domain vgic;
    struct vuart vuart;
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

/* Starts a domain again from its images, once all of its VCPUs are parked. False if it does not run, or if
 * its images cannot be loaded again because they were loaded in place. Any core. */
bool domain_restart(struct domain *domain);

/* The rest of domain_restart(), done by the core of VCPU 0 while it waits: true when the domain runs again.
 */
bool domain_finish_restart(struct domain *domain);

/* Ends a domain: records why, stops all of its VCPUs (their cores are told and will idle). The caller, if it
 * is one of the domain's cores, must return to the exit path, which notices. Any core; false if it had ended
 * already. */
bool domain_end(struct domain *domain, enum bh_domain_state state, enum bh_domain_end end);

#endif
