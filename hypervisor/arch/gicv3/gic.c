/* SPDX-License-Identifier: Apache-2.0
 *
 * Driver of the physical GICv3: distributor, redistributors, system-register CPU interface. Register numbers
 * and sequences are from IHI 0069, chapters 12.9 (GICD), 12.11 (GICR) and 12.2 (ICC). The driver does not
 * access guests' state.
 */
#include <arch/gic.h>

#include "core/spinlock.h"
#include "vm/cpu.h"
#include <arch/barrier.h>
#include <arch/mmio.h>
#include <arch/sysreg.h>
#include <arch/vgic_lr.h>

#define GICD_CTLR      0x0000u
#define GICD_TYPER     0x0004u
#define GIC_IGROUPR    0x0080u /* a redistributor's SGI frame has the same offsets, for word 0 */
#define GIC_ISENABLER  0x0100u
#define GIC_ICENABLER  0x0180u
#define GIC_ISPENDR    0x0200u
#define GIC_ICPENDR    0x0280u
#define GIC_ISACTIVER  0x0300u
#define GIC_ICACTIVER  0x0380u
#define GIC_IPRIORITYR 0x0400u
#define GIC_ICFGR      0x0C00u
#define GICD_IROUTER   0x6000u
#define GICR_CTLR      0x0000u
#define GICR_TYPER     0x0008u
#define GICR_WAKER     0x0014u

#define GICD_CTLR_RWP          (1u << 31)
#define GICD_CTLR_ARE_NS       (1u << 4)
#define GICD_CTLR_GROUPS       0x3u      /* Group 1, with one or two security states */
#define GICR_CTLR_LPIS         (1u << 0) /* EnableLPIs */
#define GICR_CTLR_RWP          (1u << 3)
#define GICR_TYPER_LPIS        (1u << 0)
#define GICR_TYPER_VLPIS       (1u << 1)
#define GICR_TYPER_LAST        (1u << 4)
#define GICR_WAKER_SLEEP       (1u << 1)
#define GICR_WAKER_CHILDREN    (1u << 2)
#define ICC_CTLR_EOIMODE       (1u << 1)
#define ICC_CTLR_PRIBITS_SHIFT 8
#define ICC_SRE_SYSTEM         0x7u /* use system registers, disable bypass */

#define DEFAULT_PRIORITIES 0xA0A0A0A0u
#define LOWEST_PRIORITY    0xFFu
/* Limits of polling, in reads. Hardware answers within a few reads, but at start a redistributor may have to
 * wake up first. Later, a guest waits and its domain's lock is held, so the limit is some ten microseconds.
 * An interrupt that arrives after that is found to be disabled, and is deactivated again. */
#define START_POLL_LIMIT   1000000u
#define POLL_LIMIT         100u

static struct gic {
    struct spinlock lock; /* protects updates of the trigger registers */
    paddr_t distributor;
    paddr_t redistributors; /* frames of the first redistributor */
    uint64_t redistributor_bytes;
    uint32_t spi_words; /* words of 32 interrupts, including the private word */
    uint32_t maintenance_irq;
} gic;

static paddr_t at(paddr_t base, uint32_t offset)
{
    return paddr(base.value + offset);
}

static bool wait_for_clear(paddr_t address, uint32_t mask, uint32_t limit)
{
    for (uint32_t i = 0; i < limit; i++) {
        if ((mmio_read32(address) & mask) == 0) {
            return true;
        }
    }
    return false;
}

/* The frame with an interrupt's registers: the executing core's redistributor for private interrupts. */
static paddr_t frame_of(uint32_t intid)
{
    return intid < GIC_PRIVATE_COUNT ? at(this_cpu()->gic.redistributor, BH_REDISTRIBUTOR_SGI_FRAME)
                                     : gic.distributor;
}

static void wait_for_writes(uint32_t intid)
{
    if (intid < GIC_PRIVATE_COUNT) {
        wait_for_clear(at(this_cpu()->gic.redistributor, GICR_CTLR), GICR_CTLR_RWP, POLL_LIMIT);
    } else {
        wait_for_clear(at(gic.distributor, GICD_CTLR), GICD_CTLR_RWP, POLL_LIMIT);
    }
}

/* Disables 32 interrupts, clears their state and puts them into Group 1. `word` counts from the frame's
 * start. */
static void reset_word(paddr_t frame, uint32_t word)
{
    mmio_write32(at(frame, GIC_ICENABLER + word * 4), UINT32_MAX);
    mmio_write32(at(frame, GIC_IGROUPR + word * 4), UINT32_MAX);
    mmio_write32(at(frame, GIC_ICPENDR + word * 4), UINT32_MAX);
    mmio_write32(at(frame, GIC_ICACTIVER + word * 4), UINT32_MAX);
    for (uint32_t i = 0; i < 8; i++) {
        mmio_write32(at(frame, GIC_IPRIORITYR + word * 32 + i * 4), DEFAULT_PRIORITIES);
    }
}

static uint64_t redistributor_bytes(uint64_t type)
{
    return (type & GICR_TYPER_VLPIS) != 0 ? 2 * BH_REDISTRIBUTOR_BYTES : BH_REDISTRIBUTOR_BYTES;
}

/* Clearing EnableLPIs is IMPLEMENTATION DEFINED: in many controllers it stays set until a reset (IHI 0069,
 * 12.11.2). */
static bool disable_lpis(paddr_t control)
{
    mmio_write32(control, mmio_read32(control) & ~GICR_CTLR_LPIS);
    return wait_for_clear(control, GICR_CTLR_LPIS | GICR_CTLR_RWP, START_POLL_LIMIT);
}

bool gic_silence(const struct manifest_platform *platform)
{
    uint64_t type = 0;

    for (uint64_t offset = 0; offset < platform->gicr_bytes && (type & GICR_TYPER_LAST) == 0;
         offset += redistributor_bytes(type)) {
        paddr_t base = paddr(platform->gicr_pa + offset);

        type = mmio_read64(at(base, GICR_TYPER));
        if ((type & GICR_TYPER_LPIS) != 0 && !disable_lpis(at(base, GICR_CTLR))) {
            return false;
        }
    }
    return true;
}

void gic_init(const struct manifest_platform *platform)
{
    gic.distributor = paddr(platform->gicd_pa);
    gic.redistributors = paddr(platform->gicr_pa);
    gic.redistributor_bytes = platform->gicr_bytes;
    gic.maintenance_irq = platform->maintenance_irq;
    gic.spi_words = (mmio_read32(at(gic.distributor, GICD_TYPER)) & 0x1F) + 1;

    mmio_write32(at(gic.distributor, GICD_CTLR), 0);
    wait_for_clear(at(gic.distributor, GICD_CTLR), GICD_CTLR_RWP, START_POLL_LIMIT);
    mmio_write32(at(gic.distributor, GICD_CTLR), GICD_CTLR_ARE_NS);
    wait_for_clear(at(gic.distributor, GICD_CTLR), GICD_CTLR_RWP, START_POLL_LIMIT);
    for (uint32_t word = 1; word < gic.spi_words; word++) {
        reset_word(gic.distributor, word);
        mmio_write32(at(gic.distributor, GIC_ICFGR + word * 8), 0);
        mmio_write32(at(gic.distributor, GIC_ICFGR + word * 8 + 4), 0);
    }
    mmio_write32(at(gic.distributor, GICD_CTLR), GICD_CTLR_ARE_NS | GICD_CTLR_GROUPS);
    wait_for_clear(at(gic.distributor, GICD_CTLR), GICD_CTLR_RWP, START_POLL_LIMIT);
}

/* Affinity as GICR_TYPER and IROUTER hold it in 32 bits: Aff3.Aff2.Aff1.Aff0. */
static uint32_t packed_affinity(uint64_t mpidr)
{
    return (uint32_t)(mpidr & 0xFFFFFF) | (uint32_t)(mpidr >> 32 << 24);
}

static bool find_redistributor(uint64_t mpidr, paddr_t *found)
{
    paddr_t frame = gic.redistributors;

    /* Every core of the machine has a redistributor, including cores that the manifest does not use; their
     * order is arbitrary. */
    while (frame.value - gic.redistributors.value < gic.redistributor_bytes) {
        uint64_t type = mmio_read64(at(frame, GICR_TYPER));

        if ((uint32_t)(type >> 32) == packed_affinity(mpidr)) {
            *found = frame;
            return true;
        }
        if ((type & GICR_TYPER_LAST) != 0) {
            return false;
        }
        frame = paddr(frame.value + redistributor_bytes(type));
    }
    return false;
}

/* An interrupt that a loader acknowledged and never ended would block all interrupts of lower priority. One
 * register suffices for up to 5 bits of priority (IHI 0069, 12.2.3). */
static void forget_active_priorities(void)
{
    uint32_t bits = ((uint32_t)sysreg_read(ICC_CTLR_EL1) >> ICC_CTLR_PRIBITS_SHIFT & 7) + 1;

    sysreg_write(ICC_AP1R0_EL1, 0);
    if (bits > 5) {
        sysreg_write(ICC_AP1R1_EL1, 0);
    }
    if (bits > 6) {
        sysreg_write(ICC_AP1R2_EL1, 0);
        sysreg_write(ICC_AP1R3_EL1, 0);
    }
}

bool gic_cpu_init(uint32_t cpu_index, uint64_t mpidr)
{
    paddr_t base;

    if (!find_redistributor(mpidr, &base)) {
        return false;
    }
    cpu_at(cpu_index)->gic.redistributor = base;
    mmio_write32(at(base, GICR_WAKER), mmio_read32(at(base, GICR_WAKER)) & ~GICR_WAKER_SLEEP);
    if (!wait_for_clear(at(base, GICR_WAKER), GICR_WAKER_CHILDREN, START_POLL_LIMIT)) {
        return false;
    }
    reset_word(at(base, BH_REDISTRIBUTOR_SGI_FRAME), 0);
    mmio_write32(at(base, BH_REDISTRIBUTOR_SGI_FRAME + GIC_ISENABLER), 1u | 1u << gic.maintenance_irq);
    wait_for_clear(at(base, GICR_CTLR), GICR_CTLR_RWP, START_POLL_LIMIT);

    /* Without the enable bit, a guest's access to ICC_SRE_EL1 traps. It is the only register of the CPU
     * interface that hardware does not virtualize. */
    sysreg_write(ICC_SRE_EL2, ICC_SRE_SYSTEM);
    arch_isb();
    sysreg_write(ICC_SRE_EL1, ICC_SRE_SYSTEM);
    arch_isb();
    forget_active_priorities();
    sysreg_write(ICC_PMR_EL1, LOWEST_PRIORITY);
    sysreg_write(ICC_BPR1_EL1, 0);
    sysreg_write(ICC_CTLR_EL1, ICC_CTLR_EOIMODE);
    sysreg_write(ICC_IGRPEN1_EL1, 1);
    vgic_lr_reset();
    arch_isb();
    return true;
}

uint32_t gic_acknowledge(void)
{
    uint32_t intid = (uint32_t)sysreg_read(ICC_IAR1_EL1) & 0xFFFFFFu;

    arch_dsb_sy(); /* the acknowledgement completes before any access to the device */
    return intid;
}

void gic_end(uint32_t intid)
{
    sysreg_write(ICC_EOIR1_EL1, intid);
    arch_isb();
}

void gic_deactivate(uint32_t intid)
{
    sysreg_write(ICC_DIR_EL1, intid);
    arch_isb();
}

void gic_activate(uint32_t intid)
{
    mmio_write32(at(frame_of(intid), GIC_ISACTIVER), 1u << intid % 32);
}

void gic_enable(uint32_t intid, uint64_t mpidr)
{
    if (intid >= GIC_PRIVATE_COUNT) {
        mmio_write64(at(gic.distributor, GICD_IROUTER + intid * 8), mpidr & 0xFF00FFFFFFu);
    }
    mmio_write32(at(frame_of(intid), GIC_ISENABLER + intid / 32 * 4), 1u << intid % 32);
}

void gic_disable(uint32_t intid)
{
    mmio_write32(at(frame_of(intid), GIC_ICENABLER + intid / 32 * 4), 1u << intid % 32);
    wait_for_writes(intid);
}

void gic_set_edge(uint32_t intid, bool edge)
{
    paddr_t address = at(frame_of(intid), GIC_ICFGR + intid / 16 * 4);
    uint32_t bit = 2u << intid % 16 * 2;

    spin_lock(&gic.lock);
    mmio_write32(address, edge ? mmio_read32(address) | bit : mmio_read32(address) & ~bit);
    spin_unlock(&gic.lock);
}

uint32_t gic_pending_word(uint32_t word)
{
    return mmio_read32(at(frame_of(word * 32), GIC_ISPENDR + word * 4));
}

void gic_send_sgi(uint64_t target_mpidr, uint32_t sgi)
{
    uint64_t affinity0 = target_mpidr & 0xFF;

    arch_dsb_ishst();
    sysreg_write(ICC_SGI1R_EL1, (target_mpidr >> 32 & 0xFF) << 48 | affinity0 >> 4 << 44 |
                                    (target_mpidr >> 16 & 0xFF) << 32 | (uint64_t)sgi << 24 |
                                    (target_mpidr >> 8 & 0xFF) << 16 | 1u << (affinity0 & 0xF));
    arch_isb();
}
