/* SPDX-License-Identifier: Apache-2.0
 *
 * A domain: its place in the manifest, its state, its virtual devices and its VCPUs. Domains never share
 * anything but code. Its life, from start to end, is run/domain_life.h's.
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

/* How far a restart has come: `part` counts the domain's segments, to be cleaned, and then its images, to be
 * loaded; `offset` is within it. Of the core of its first VCPU alone. */
struct reload {
    uint32_t request; /* which restart it is of: `restart_requests` then */
    uint32_t part;
    uint64_t offset;
};

struct domain {
    const struct manifest_domain *config;
    uint32_t index;
    struct spinlock life;   /* steps from state to state, and what belongs to each */
    _Atomic uint32_t state; /* enum bh_domain_state */
    struct reload reload;
    struct life_log log;
    struct crash_dump dump;
    struct stage2 stage2;
    struct flash flash;
    struct vgic_domain vgic;
    struct vuart vuart;
    struct event_pool share; /* of a budget that its VCPUs have together */
    struct bandwidth_update update;
    struct mpam_domain mpam;
    _Atomic uint32_t restart_requests; /* counted under `life` */
    _Atomic uint32_t restart_end;      /* enum bh_domain_end: why, of the last request */
    bool spread;                       /* its VCPUs are on several cores */
    uint32_t vcpu_count;
    struct vcpu *vcpus; /* vcpu_count of them, in order of their index */
};

/* The domain with this index in the manifest. The index must be valid. */
struct domain *domain_at(uint32_t index);
uint32_t domain_count(void);

/* VCPU number `index` of the manifest. The index must be valid. */
struct vcpu *vcpu_at(uint32_t index);

/* A VCPU of the domain has this core. */
bool domain_is_on(const struct domain *domain, const struct cpu *cpu);

/* The cores of its VCPUs are to look at what has become of it: others are interrupted, this one looks when it
 * leaves EL2. Any core. */
void domain_tell_cores(const struct domain *domain);

static inline bool domain_has_flag(const struct domain *domain, uint32_t flag)
{
    return (domain->config->flags & flag) != 0;
}

#ifdef __cplusplus
}
#endif

#endif
