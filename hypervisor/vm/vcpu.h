/* SPDX-License-Identifier: Apache-2.0
 *
 * A virtual CPU. It is pinned to one core for its whole life. Its EL1 state stays in the core's registers,
 * unless several VCPUs share the core (shared_core.h); this structure has only what EL2 itself needs.
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

/* General registers of a guest as the entry code saves them. Must match arch/aarch64/vectors.S. */
struct guest_regs {
    uint64_t x[31];
    uint64_t pad;
};

enum vcpu_power {
    VCPU_OFF = 0,  /* off until CPU_ON */
    VCPU_CLAIMED,  /* another VCPU's CPU_ON has claimed it and writes its entry point */
    VCPU_STARTING, /* its core will enter it next */
    VCPU_ON,       /* running */
    VCPU_STOPPING, /* CPU_OFF was called; its core still has to save its interrupts */
};

struct vcpu {
    struct domain *domain;
    struct cpu *cpu;
    uint32_t index;         /* index within its domain */
    _Atomic uint32_t power; /* enum vcpu_power */
    ipaddr_t entry;         /* entry point, valid in VCPU_STARTING */
    uint64_t boot_argument; /* value of x0 at the start */
    struct vgic_vcpu vgic;
    struct guest_pmu pmu;
    struct mpam_guest mpam;
};

#endif
