/* SPDX-License-Identifier: Apache-2.0
 *
 * A virtual CPU. Pinned to one core for life; its EL1 state stays in the core's registers, unless several
 * share the core (shared_core.h), so this is only what EL2 itself needs.
 */
#ifndef BULKHEAD_VCPU_H
#define BULKHEAD_VCPU_H

#include "core/address.h"
#include "core/spinlock.h"
#include "mpam/mpam_state.h"
#include "time/time_state.h"
#include "vgic/vgic_state.h"
#include <stdatomic.h>
#include <stdint.h>

struct domain;
struct cpu;

/* General registers of a guest as the entry code saves them: must match arch/aarch64/vectors.S. */
struct guest_regs {
    uint64_t x[31];
    uint64_t pad;
};

enum vcpu_power {
    VCPU_OFF = 0,  /* waits for CPU_ON */
    VCPU_CLAIMED,  /* CPU_ON is being accepted */
    VCPU_STARTING, /* its core will enter it */
    VCPU_ON,       /* runs */
    VCPU_STOPPING, /* asked for CPU_OFF; its core has still to put its interrupts away */
};

struct vcpu {
    struct domain *domain;
    struct cpu *cpu;
    uint32_t index;         /* in its domain */
    _Atomic uint32_t power; /* enum vcpu_power */
    ipaddr_t entry;         /* where to start, valid in VCPU_STARTING */
    uint64_t boot_argument; /* x0 at the start */
    struct vgic_vcpu vgic;
    struct guest_pmu pmu;
    struct mpam_guest mpam;
};

#endif
