/* SPDX-License-Identifier: Apache-2.0
 *
 * State of the virtual interrupt controller of a domain and of a VCPU, without functions. The functions that
 * use it are in vgic.h.
 */
#ifndef BULKHEAD_VGIC_STATE_H
#define BULKHEAD_VGIC_STATE_H

#include "core/spinlock.h"
#include <arch/vgic_lr.h>
#include <bulkhead_layout.h>
#include <stdbool.h>
#include <stdint.h>
#include <vgic_lpi_banks.h>

#define VGIC_INTID_LIMIT BH_MAX_INTID /* private interrupts and SPIs of a domain are below this */
#define VGIC_SPI_BANKS   (VGIC_INTID_LIMIT / 32u - 1)

/* Banks of 32 interrupts: the private ones, then SPIs, then LPIs. Within this module an LPI has the number
 * after those of SPIs that its place in the banks gives it; list registers have its INTID. */
#define VGIC_BANKS        (1 + VGIC_SPI_BANKS + VGIC_LPI_BANKS)
#define VGIC_FIRST_LPI    VGIC_INTID_LIMIT
#define VGIC_SHARED_COUNT (32u * (VGIC_BANKS - 1)) /* SPIs and LPIs */

/* Only bits 7:3 of a priority are implemented. */
#define VGIC_PRIORITY_BITS 5u

/* Private interrupts that hardware raises for the guest: EL1's virtual and physical timers (BSA). */
#define VGIC_PRIVATE_HW ((1u << BH_VIRTUAL_TIMER_INTID) | (1u << BH_PHYSICAL_TIMER_INTID))

/* State of 32 interrupts, one bit each. State moves: while an interrupt is in a list register, its pending
 * and active state is there and not here, until its core reads back that list register. */
struct vgic_bank {
    uint32_t enabled;
    uint32_t group1;
    uint32_t edge;    /* 1: edge-triggered; 0: level */
    uint32_t pending; /* latched: an edge, a passed-through interrupt or a write to ISPENDR */
    uint32_t line;    /* the input from an emulated device is high */
    uint32_t active;
    uint32_t held;         /* physically active: the hardware waits for the deactivation */
    uint32_t resident;     /* in a list register */
    uint32_t hw;           /* passed through: enable and trigger are mirrored to the physical GIC */
    uint32_t drop_pending; /* resident, and a register write has since cleared its pending state */
    uint32_t drop_active;
    uint32_t forced; /* active because of a write to ISACTIVER, not because the guest acknowledged it */
    uint8_t priority[32];
    /* bit planes of the 32 priorities, the most significant bit first */
    uint32_t priority_plane[VGIC_PRIORITY_BITS];
};

/* A list register, as EL2 wrote it. */
struct vgic_slot {
    uint16_t intid;
    uint16_t flags; /* vgic_lr_flag and the flags of vgic_internal.h; 0: not in use */
};

/* Flag of a slot in addition to those of vgic_internal.h: the slot holds a physical timer interrupt that was
 * pending and not active when it was written. */
#define VGIC_SLOT_TIMER (1u << 10)

/* Senders of software-generated interrupts. GICv2 tells the receiver who sent an interrupt:
 * <arch/vgic_sgi.h>. */
struct vgic_sgis {
    /* VCPUs (bit = index) whose interrupt is pending here, without one in a list register */
    uint8_t senders[16];
    uint8_t active[16]; /* index of the sender whose interrupt is active outside the list registers */
};

struct vgic_vcpu {
    struct vgic_bank bank; /* SGIs and PPIs */
    struct vgic_slot slots[VGIC_LR_MAX];
    uint32_t slots_used;             /* bit n: list register n was written and has not been read back since */
    uint32_t slots_mask;             /* bit n: the core has list register n */
    uint32_t events;                 /* maintenance events that are requested now */
    uint32_t mirrored;               /* private interrupts that are enabled at the physical GIC */
    uint32_t timer_slot;             /* the list register that was the last to hold a VGIC_SLOT_TIMER */
    uint32_t routed[VGIC_BANKS - 1]; /* SPIs and LPIs whose target is this VCPU (vgic_domain.target) */
    uint32_t owned[VGIC_BANKS - 1];  /* SPIs and LPIs whose owner is this VCPU (vgic_domain.owner) */
    bool online;                     /* the core's list registers hold this VCPU's interrupts */
    /* a register write has changed an interrupt in a list register, or an interrupt that the guest has ended
     * is pending again: read the list registers back */
    bool stale;
    bool asleep;                        /* GICR_WAKER.ProcessorSleep */
    bool parked;                        /* on, but another VCPU is loaded on its core (vgic_park.c) */
    uint64_t come_ticks;                /* while it waits: when an interrupt arrived for it; 0: none has */
    bool waits;                         /* its core must be notified of the next interrupt, parked or not */
    struct vgic_lr_interface interface; /* saved while it is parked */
    struct vgic_sgis sgis;
};

struct vgic_its;

struct vgic_domain {
    struct spinlock lock;                  /* protects this structure and the vgic_vcpu of all VCPUs */
    uint32_t control;                      /* group enables of GICD_CTLR */
    struct vgic_bank spis[VGIC_BANKS - 1]; /* then LPIs */
    uint8_t target[VGIC_SHARED_COUNT];     /* index of the VCPU, or VGIC_NO_VCPU */
    /* the VCPU where the interrupt is in a list register or active, or VGIC_NO_VCPU */
    uint8_t owner[VGIC_SHARED_COUNT];
    uint8_t targets[VGIC_SHARED_COUNT]; /* GICv2: ITARGETSR as the guest wrote it; `target` is one of these */
    struct vgic_its *its;               /* vgic_its.h; NULL: the domain has no message interrupts */
};

#define VGIC_NO_VCPU 0xFFu

#endif
