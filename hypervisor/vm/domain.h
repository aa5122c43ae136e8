/* SPDX-License-Identifier: Apache-2.0
 *
 * A domain: its manifest entry, its state, its virtual devices and its VCPUs. Domains share nothing but EL2's
 * code. run/domain_life.h starts, restarts and ends domains.
 */
#ifndef BULKHEAD_DOMAIN_H
#define BULKHEAD_DOMAIN_H

#include "console/vuart_state.h"
#include "core/event_pool.h"
#include "memory/stage2.h"
#include "mpam/mpam_state.h"
#include "run/crash_state.h"
#include "run/flash_state.h"
#include "run/life_log_state.h"
#include "time/time_state.h"
#include "vgic/vgic_state.h"
#include "vm/vcpu.h"
#include <bulkhead_layout.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Progress of a restart. `part` counts first the domain's segments, which are cleaned from the caches, and
 * then its images, which are loaded; `offset` is the position within the part. Used only by the core of the
 * domain's first VCPU. */
struct reload {
    /* the restart to which this progress belongs: the value of `restart_requests` when it began */
    uint32_t request;
    uint32_t part;
    uint64_t offset;
};

struct domain {
    const struct manifest_domain *config;
    uint32_t index;
    struct spinlock life;   /* protects changes of `state`, and what belongs to each state */
    _Atomic uint32_t state; /* enum bh_domain_state */
    struct reload reload;
    struct life_log log;
    struct crash_dump dump;
    struct stage2 stage2;
    struct flash flash;
    struct vgic_domain vgic;
    struct vuart vuart;
    struct event_pool share; /* events of a budget that the domain's VCPUs share */
    struct bandwidth_update update;
    struct mpam_domain mpam;
    _Atomic uint32_t restart_requests; /* number of restart requests; changed under `life` */
    _Atomic uint32_t restart_end;      /* enum bh_domain_end: the reason of the last restart request */
    _Atomic uint8_t device_reset;      /* run/device_reset.c: whether its devices are to be reset */
    bool spread;                       /* its VCPUs are on more than one core */
    uint32_t vcpu_count;
    struct vcpu *vcpus; /* `vcpu_count` VCPUs, in order of their index */
};

/* The domain with this index in the manifest, which must be valid. */
struct domain *domain_at(uint32_t index);
uint32_t domain_count(void);

/* VCPU number `index` of the manifest, which must be valid. */
struct vcpu *vcpu_at(uint32_t index);

/* True if one of the domain's VCPUs is assigned to this core. */
bool domain_is_on(const struct domain *domain, const struct cpu *cpu);

/* Makes the cores of the domain's VCPUs check the domain's state: other cores are interrupted, the calling
 * core checks when it leaves EL2. May be called on any core. */
void domain_tell_cores(const struct domain *domain);

static inline bool domain_has_flag(const struct domain *domain, uint32_t flag)
{
    return (domain->config->flags & flag) != 0;
}

#ifdef __cplusplus
}
#endif

#endif
