/* SPDX-License-Identifier: Apache-2.0
 *
 * The secure world's part of the interrupt controller, GICv2 (IHI 0048) or GICv3 (IHI 0069): assigns all
 * interrupts to the non-secure world, and wakes redistributors, which that world cannot wake.
 */
#include "firmware.h"

#define GICD_CTLR           0x000u
#define GICD_CTLR_ARE       0x30u /* affinity routing, secure and non-secure */
#define GICD_TYPER          0x004u
#define GICD_IGROUPR        0x080u
#define GICD_IPRIORITYR     0x400u
#define GICC_CTLR           0x000u
#define GICC_PMR            0x004u
#define GICR_WAKER          0x014u
#define GICR_WAKER_SLEEP    (1u << 1)
#define GICR_WAKER_CHILDREN (1u << 2)
#define GICR_BYTES          0x20000u
#define GICR_SGI_FRAME      0x10000u
#define PRIORITIES          0x80808080u /* the highest priority value that the non-secure world can have */

static _Bool has_system_registers(void)
{
    uint64_t features;

    __asm__("mrs %0, ID_AA64PFR0_EL1" : "=r"(features));
    return (features >> 24 & 0xF) != 0;
}

static void give_word_away(uint64_t frame, uint32_t word)
{
    write32(frame + GICD_IGROUPR + (uint64_t)word * 4, UINT32_MAX);
    for (uint32_t i = 0; i < 8; i++) {
        write32(frame + GICD_IPRIORITYR + ((uint64_t)word * 8 + i) * 4, PRIORITIES);
    }
}

void gic_give_away(void)
{
    uint32_t words = (read32(GICD_PA + GICD_TYPER) & 0x1F) + 1;

    if (has_system_registers()) {
        write32(GICD_PA + GICD_CTLR, GICD_CTLR_ARE);
    }
    for (uint32_t word = 1; word < words; word++) {
        give_word_away(GICD_PA, word);
    }
}

void gic_give_away_core(uint64_t core)
{
    uint64_t redistributor = GICR_PA + core * GICR_BYTES;

    if (!has_system_registers()) {
        give_word_away(GICD_PA, 0); /* banked for each core */
        write32(GICC_PA + GICC_PMR, 0xFF);
        write32(GICC_PA + GICC_CTLR, 0);
        return;
    }
    write32(redistributor + GICR_WAKER, read32(redistributor + GICR_WAKER) & ~GICR_WAKER_SLEEP);
    while ((read32(redistributor + GICR_WAKER) & GICR_WAKER_CHILDREN) != 0) {
    }
    give_word_away(redistributor + GICR_SGI_FRAME, 0);
    firmware_gic_system_registers();
}
