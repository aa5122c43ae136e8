/* SPDX-License-Identifier: Apache-2.0
 *
 * List registers of GICv3 (IHI 0069, chapter 12.4, ICH_*). This file only encodes and decodes them;
 * vgic_deliver.c decides what they contain.
 */
#include <arch/vgic_lr.h>

#include <arch/barrier.h>
#include <arch/sysreg.h>

#define LR_PENDING     (UINT64_C(1) << 62)
#define LR_ACTIVE      (UINT64_C(1) << 63)
#define LR_HW          (UINT64_C(1) << 61)
#define LR_GROUP1      (UINT64_C(1) << 60)
#define LR_PRIORITY(p) ((uint64_t)(p) << 48)
#define LR_EOI         (UINT64_C(1) << 41)
#define LR_PHYSICAL(n) ((uint64_t)(n) << 32)

#define HCR_EN             (1u << 0)
#define HCR_UIE            (1u << 1)
#define HCR_LRENPIE        (1u << 2)
#define HCR_NPIE           (1u << 3)
#define HCR_EOI_COUNT(hcr) ((uint32_t)((hcr) >> 27) & 0x1F)

#define VTR_PREBITS_SHIFT 26

#define FOR_EACH_LR(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)

static uint64_t read_lr(uint32_t n)
{
    switch (n) {
#define CASE(i)                                                                                              \
    case i:                                                                                                  \
        return sysreg_read(ICH_LR##i##_EL2);
        FOR_EACH_LR(CASE)
#undef CASE
    default:
        return 0;
    }
}

static void write_lr(uint32_t n, uint64_t value)
{
    if (n == 0) { /* nearly always: the lowest free one is used first */
        sysreg_write(ICH_LR0_EL2, value);
        return;
    }
    switch (n) {
#define CASE(i)                                                                                              \
    case i:                                                                                                  \
        sysreg_write(ICH_LR##i##_EL2, value);                                                                \
        break;
        FOR_EACH_LR(CASE)
#undef CASE
    default:
        break;
    }
}

uint32_t vgic_lr_count(void)
{
    return ((uint32_t)sysreg_read(ICH_VTR_EL2) & 0xF) + 1; /* at most 16 exist */
}

uint32_t vgic_lr_empty(void)
{
    arch_isb(); /* a list register that was just written must not read as empty */
    /* Empty list registers with a maintenance interrupt are reported by the second register only. */
    return (uint32_t)(sysreg_read(ICH_ELRSR_EL2) | sysreg_read(ICH_EISR_EL2)) & 0xFFFF;
}

void vgic_lr_write(uint32_t n, uint32_t intid, uint32_t priority, uint32_t flags)
{
    uint64_t value = intid | LR_PRIORITY(priority & 0xFF);

    value |= (flags & VGIC_LR_PENDING) != 0 ? LR_PENDING : 0;
    value |= (flags & VGIC_LR_ACTIVE) != 0 ? LR_ACTIVE : 0;
    value |= (flags & VGIC_LR_GROUP1) != 0 ? LR_GROUP1 : 0;
    if ((flags & VGIC_LR_HW) != 0) {
        value |= LR_HW | LR_PHYSICAL(intid);
    } else if ((flags & VGIC_LR_EOI) != 0) {
        value |= LR_EOI;
    }
    write_lr(n, value);
}

void vgic_lr_clear(uint32_t n)
{
    write_lr(n, 0);
}

uint32_t vgic_lr_state(uint32_t n)
{
    uint64_t value = read_lr(n);

    return ((value & LR_PENDING) != 0 ? VGIC_LR_PENDING : 0u) |
           ((value & LR_ACTIVE) != 0 ? VGIC_LR_ACTIVE : 0u);
}

void vgic_lr_control(uint32_t events)
{
    sysreg_write(ICH_HCR_EL2, HCR_EN | ((events & VGIC_LR_UNDERFLOW) != 0 ? HCR_UIE : 0u) |
                                  ((events & VGIC_LR_NO_PENDING) != 0 ? HCR_NPIE : 0u) |
                                  ((events & VGIC_LR_NOT_PRESENT) != 0 ? HCR_LRENPIE : 0u));
}

uint32_t vgic_lr_eoi_count(void)
{
    return HCR_EOI_COUNT(sysreg_read(ICH_HCR_EL2));
}

static uint32_t preemption_bits(void)
{
    return ((uint32_t)sysreg_read(ICH_VTR_EL2) >> VTR_PREBITS_SHIFT & 7) + 1;
}

void vgic_lr_save(struct vgic_lr_interface *interface)
{
    uint32_t bits = preemption_bits();

    sysreg_write(ICH_HCR_EL2, 0);
    interface->control = (uint32_t)sysreg_read(ICH_VMCR_EL2);
    interface->active[0] = (uint32_t)sysreg_read(ICH_AP0R0_EL2);
    interface->active[1] = (uint32_t)sysreg_read(ICH_AP1R0_EL2);
    if (bits > 5) { /* registers that exist: IHI 0069, 12.4.1 */
        interface->active[2] = (uint32_t)sysreg_read(ICH_AP0R1_EL2);
        interface->active[3] = (uint32_t)sysreg_read(ICH_AP1R1_EL2);
    }
    if (bits > 6) {
        interface->active[4] = (uint32_t)sysreg_read(ICH_AP0R2_EL2);
        interface->active[5] = (uint32_t)sysreg_read(ICH_AP1R2_EL2);
        interface->active[6] = (uint32_t)sysreg_read(ICH_AP0R3_EL2);
        interface->active[7] = (uint32_t)sysreg_read(ICH_AP1R3_EL2);
    }
}

void vgic_lr_load(const struct vgic_lr_interface *interface)
{
    uint32_t bits = preemption_bits();

    sysreg_write(ICH_VMCR_EL2, interface->control);
    sysreg_write(ICH_AP0R0_EL2, interface->active[0]);
    sysreg_write(ICH_AP1R0_EL2, interface->active[1]);
    if (bits > 5) {
        sysreg_write(ICH_AP0R1_EL2, interface->active[2]);
        sysreg_write(ICH_AP1R1_EL2, interface->active[3]);
    }
    if (bits > 6) {
        sysreg_write(ICH_AP0R2_EL2, interface->active[4]);
        sysreg_write(ICH_AP1R2_EL2, interface->active[5]);
        sysreg_write(ICH_AP0R3_EL2, interface->active[6]);
        sysreg_write(ICH_AP1R3_EL2, interface->active[7]);
    }
}

void vgic_lr_reset(void)
{
    uint32_t count = vgic_lr_count();
    static const struct vgic_lr_interface out_of_reset;

    sysreg_write(ICH_HCR_EL2, 0);
    vgic_lr_load(&out_of_reset);
    for (uint32_t n = 0; n < count; n++) {
        write_lr(n, 0);
    }
}
