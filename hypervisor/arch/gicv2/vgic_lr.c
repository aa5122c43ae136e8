/* SPDX-License-Identifier: Apache-2.0
 *
 * List registers of GICv2 (IHI 0048, chapter 5.3, GICH_*): banked by core, memory-mapped. This file only
 * encodes and decodes them; vgic_deliver.c decides what they contain.
 */
#include <arch/vgic_lr.h>

#include "vm/system.h"
#include <arch/mmio.h>

#define GICH_HCR    0x00u
#define GICH_VTR    0x04u
#define GICH_VMCR   0x08u
#define GICH_EISR0  0x20u
#define GICH_ELRSR0 0x30u
#define GICH_APR    0xF0u
#define GICH_LR     0x100u

#define LR_PENDING        (1u << 28)
#define LR_ACTIVE         (1u << 29)
#define LR_GROUP1         (1u << 30)
#define LR_HW             (1u << 31)
#define LR_EOI            (1u << 19)
#define LR_PHYSICAL_SHIFT 10 /* if LR_HW is set; otherwise the sender of an SGI */
#define LR_PRIORITY(p)    ((uint32_t)((p) >> 3 & 0x1Fu) << 23)

#define HCR_EN             (1u << 0)
#define HCR_UIE            (1u << 1)
#define HCR_LRENPIE        (1u << 2)
#define HCR_NPIE           (1u << 3)
#define HCR_EOI_COUNT(hcr) ((hcr) >> 27)

static paddr_t gich(uint32_t offset)
{
    return paddr(system_manifest()->platform.gich_pa + offset);
}

uint32_t vgic_lr_count(void)
{
    uint32_t count = (mmio_read32(gich(GICH_VTR)) & 0x3F) + 1;

    return count < VGIC_LR_MAX ? count : VGIC_LR_MAX;
}

uint32_t vgic_lr_empty(void)
{
    /* Empty list registers with a maintenance interrupt are reported by the second register only. */
    return (mmio_read32(gich(GICH_ELRSR0)) | mmio_read32(gich(GICH_EISR0))) & 0xFFFF;
}

static void write_lr(uint32_t n, uint32_t value)
{
    mmio_write32(gich(GICH_LR + n * 4), value);
}

void vgic_lr_write(uint32_t n, uint32_t intid, uint32_t priority, uint32_t flags)
{
    uint32_t value = intid | LR_PRIORITY(priority);

    value |= (flags & VGIC_LR_PENDING) != 0 ? LR_PENDING : 0;
    value |= (flags & VGIC_LR_ACTIVE) != 0 ? LR_ACTIVE : 0;
    value |= (flags & VGIC_LR_GROUP1) != 0 ? LR_GROUP1 : 0;
    if ((flags & VGIC_LR_HW) != 0) {
        value |= LR_HW | intid << LR_PHYSICAL_SHIFT;
    } else {
        value |= VGIC_LR_SENDER(flags) << LR_PHYSICAL_SHIFT;
        value |= (flags & VGIC_LR_EOI) != 0 ? LR_EOI : 0;
    }
    write_lr(n, value);
}

void vgic_lr_clear(uint32_t n)
{
    write_lr(n, 0);
}

uint32_t vgic_lr_state(uint32_t n)
{
    uint32_t value = mmio_read32(gich(GICH_LR + n * 4));

    return ((value & LR_PENDING) != 0 ? VGIC_LR_PENDING : 0u) |
           ((value & LR_ACTIVE) != 0 ? VGIC_LR_ACTIVE : 0u);
}

void vgic_lr_control(uint32_t events)
{
    mmio_write32(gich(GICH_HCR), HCR_EN | ((events & VGIC_LR_UNDERFLOW) != 0 ? HCR_UIE : 0u) |
                                     ((events & VGIC_LR_NO_PENDING) != 0 ? HCR_NPIE : 0u) |
                                     ((events & VGIC_LR_NOT_PRESENT) != 0 ? HCR_LRENPIE : 0u));
}

uint32_t vgic_lr_eoi_count(void)
{
    return HCR_EOI_COUNT(mmio_read32(gich(GICH_HCR)));
}

void vgic_lr_save(struct vgic_lr_interface *interface)
{
    mmio_write32(gich(GICH_HCR), 0);
    interface->control = mmio_read32(gich(GICH_VMCR));
    interface->active[0] = mmio_read32(gich(GICH_APR));
}

void vgic_lr_load(const struct vgic_lr_interface *interface)
{
    mmio_write32(gich(GICH_VMCR), interface->control);
    mmio_write32(gich(GICH_APR), interface->active[0]);
}

void vgic_lr_reset(void)
{
    uint32_t count = vgic_lr_count();

    mmio_write32(gich(GICH_HCR), 0);
    mmio_write32(gich(GICH_VMCR), 0);
    mmio_write32(gich(GICH_APR), 0);
    for (uint32_t n = 0; n < count; n++) {
        write_lr(n, 0);
    }
}
