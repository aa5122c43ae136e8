/* SPDX-License-Identifier: Apache-2.0
 *
 * What the virtual interrupt controller keeps of a domain and of a VCPU: state only. vgic.h has what works on
 * it.
 */
#ifndef BULKHEAD_VGIC_STATE_H
#define BULKHEAD_VGIC_STATE_H

#include "core/spinlock.h"
#include <arch/vgic_lr.h>
#include <bulkhead_layout.h>
#include <stdbool.h>
#include <stdint.h>

#define VGIC_INTID_LIMIT BH_MAX_INTID             /* INTIDs of a domain are below this */
#define VGIC_BANKS       (VGIC_INTID_LIMIT / 32u) /* of 32 interrupts: private ones, then SPIs */
#define VGIC_SPI_COUNT   (VGIC_INTID_LIMIT - BH_FIRST_SHARED_INTID)

/* Bits 7:3 of a priority are implemented. */
#define VGIC_PRIORITY_BITS 5u

/* Private interrupts that hardware raises for the guest itself: EL1's virtual and physical timers (BSA). */
#define VGIC_PRIVATE_HW ((1u << BH_VIRTUAL_TIMER_INTID) | (1u << BH_PHYSICAL_TIMER_INTID))

/* 32 interrupts; one bit each. A state moves: what is put into a list register is no longer here until that
 * list register is looked at again, on its core. */
struct vgic_bank {
    uint32_t enabled;
    uint32_t group1;
    uint32_t edge;    /* edge-triggered; otherwise level */
    uint32_t pending; /* latched: an edge, a passed-through interrupt or a write to ISPENDR */
    uint32_t line;    /* input of an emulated device is high */
    uint32_t active;
    uint32_t held;         /* physically active: the hardware waits for the deactivation */
    uint32_t resident;     /* in a list register */
    uint32_t hw;           /* passed through: enable and trigger are mirrored to the physical GIC */
    uint32_t drop_pending; /* resident, and the state there was since cleared by a register write */
    uint32_t drop_active;
    uint32_t forced; /* of the active ones: by a write to ISACTIVER, not by the guest's acknowledgement */
    uint8_t priority[32];
    uint32_t priority_plane[VGIC_PRIORITY_BITS]; /* its bits, the highest first, of 32 interrupts together */
};

/* A list register as it was written. */
struct vgic_slot {
    uint16_t intid;
    uint16_t flags; /* vgic_lr_flag and those of vgic_internal.h; 0: not in use */
};

/* Flag of a slot, beside those of vgic_internal.h: a physical timer interrupt, only pending when it was
 * written. */
#define VGIC_SLOT_TIMER (1u << 10)

/* GICv2 tells the receiver of a software-generated interrupt who sent it: <arch/vgic_sgi.h>. */
struct vgic_sgis {
    uint8_t senders[16]; /* pending from these VCPUs (bit = index), what is in a list register not included */
    uint8_t active[16];  /* index of the sender of the one that is active outside of the list registers */
};

struct vgic_vcpu {
    struct vgic_bank bank; /* SGIs and PPIs */
    struct vgic_slot slots[VGIC_LR_MAX];
    uint32_t slots_used;             /* bit n: list register n was written and not looked at since */
    uint32_t slots_mask;             /* those that exist */
    uint32_t events;                 /* maintenance events asked for now */
    uint32_t mirrored;               /* private interrupts that are enabled physically */
    uint32_t timer_slot;             /* the list register that was a VGIC_SLOT_TIMER last */
    uint32_t routed[VGIC_BANKS - 1]; /* SPIs whose target is this VCPU (vgic_domain.target) */
    uint32_t owned[VGIC_BANKS - 1];  /* and whose owner it is */
    bool online;                     /* the list registers are this VCPU's */
    bool stale;                      /* a resident interrupt was changed by a register write: look again */
    bool asleep;                     /* GICR_WAKER.ProcessorSleep */
    bool parked;                     /* on, but another VCPU has its core's registers (vgic_park.c) */
    uint64_t come_ticks;             /* of one that waits: when an interrupt has come for it; 0: none has */
    bool waits;                      /* its core must hear of the next interrupt, parked or not */
    struct vgic_lr_interface interface; /* while it is parked */
    struct vgic_sgis sgis;
};

struct vgic_domain {
    struct spinlock lock; /* everything here and in the VCPUs' vgic_vcpu */
    uint32_t control;     /* GICD_CTLR group enables */
    struct vgic_bank spis[VGIC_BANKS - 1];
    uint8_t target[VGIC_SPI_COUNT];  /* VCPU index, or VGIC_NO_VCPU */
    uint8_t owner[VGIC_SPI_COUNT];   /* the VCPU where it is resident or active */
    uint8_t targets[VGIC_SPI_COUNT]; /* GICv2: ITARGETSR as the guest wrote it; `target` is one of them */
};

#define VGIC_NO_VCPU 0xFFu

#endif
