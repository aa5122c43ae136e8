/* SPDX-License-Identifier: Apache-2.0
 *
 * Access to the list registers of the executing core: GICv3's system registers or GICv2's GICH, whichever is
 * linked in. Only the virtual interrupt controller (vgic*.c) uses it. It keeps no state of its own.
 */
#ifndef BULKHEAD_ARCH_VGIC_LR_H
#define BULKHEAD_ARCH_VGIC_LR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VGIC_LR_MAX 16u

enum vgic_lr_flag {
    VGIC_LR_PENDING = 1u << 0,
    VGIC_LR_ACTIVE = 1u << 1,
    VGIC_LR_HW = 1u << 2,  /* the guest's deactivation deactivates the physical INTID of the same number */
    VGIC_LR_EOI = 1u << 3, /* maintenance interrupt when the guest deactivates it; not with VGIC_LR_HW */
    /* else Group 0: signalled as FIQ on GICv3; on GICv2 the guest chooses, IRQ after reset */
    VGIC_LR_GROUP1 = 1u << 4,
};

/* Field of the flags: index of the VCPU that sent a software-generated interrupt. GICv2 tells it to the
 * guest. */
#define VGIC_LR_SENDER_SHIFT  13u
#define VGIC_LR_SENDER(flags) (((flags) >> VGIC_LR_SENDER_SHIFT) & 7u)

/* Conditions for a maintenance interrupt, in addition to VGIC_LR_EOI. */
enum vgic_lr_event {
    VGIC_LR_UNDERFLOW = 1u << 0,   /* at most one list register is in use */
    VGIC_LR_NO_PENDING = 1u << 1,  /* no list register is pending */
    VGIC_LR_NOT_PRESENT = 1u << 2, /* the guest ended an interrupt that is in no list register */
};

/* Number of list registers of the core, at most VGIC_LR_MAX. */
uint32_t vgic_lr_count(void);

/* Bit n: list register n is neither pending nor active. */
uint32_t vgic_lr_empty(void);

void vgic_lr_write(uint32_t n, uint32_t intid, uint32_t priority, uint32_t flags);
void vgic_lr_clear(uint32_t n);

/* VGIC_LR_PENDING and VGIC_LR_ACTIVE of list register n, as the guest has left it. */
uint32_t vgic_lr_state(uint32_t n);

/* Opens the virtual CPU interface and requests exactly these maintenance events. */
void vgic_lr_control(uint32_t events);

/* How often, since the last vgic_lr_control(), the guest has ended an interrupt that is in no list
 * register. */
uint32_t vgic_lr_eoi_count(void);

/* Resets and closes the virtual CPU interface and empties every list register. */
void vgic_lr_reset(void);

/* State of a guest's virtual CPU interface besides the list registers: its control, and the priorities of
 * active interrupts. Saving it closes the interface. */
struct vgic_lr_interface {
    uint32_t control;
    uint32_t active[8];
};
void vgic_lr_save(struct vgic_lr_interface *interface);
void vgic_lr_load(const struct vgic_lr_interface *interface);

#ifdef __cplusplus
}
#endif

#endif
