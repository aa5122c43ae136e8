/* SPDX-License-Identifier: Apache-2.0
 *
 * Driver of the physical GICv2 (IHI 0048, chapters 4.3 and 4.4; GIC-400: DDI 0471): distributor and CPU
 * interface, both memory-mapped. Interrupts stay in the group that they have at reset or that firmware
 * assigned to them. The driver uses the group that its security state can access: Group 0 without security
 * extensions, Group 1 as non-secure software below EL3 firmware. It does not access guests' state.
 */
#include <arch/gic.h>

#include "core/spinlock.h"
#include "vm/cpu.h"
#include <arch/barrier.h>
#include <arch/mmio.h>
#include <arch/vgic_lr.h>

#define GICD_CTLR       0x000u
#define GICD_TYPER      0x004u
#define GICD_IGROUPR    0x080u
#define GICD_ISENABLER  0x100u
#define GICD_ICENABLER  0x180u
#define GICD_ISPENDR    0x200u
#define GICD_ICPENDR    0x280u
#define GICD_ISACTIVER  0x300u
#define GICD_ICACTIVER  0x380u
#define GICD_IPRIORITYR 0x400u
#define GICD_ITARGETSR  0x800u
#define GICD_ICFGR      0xC00u
#define GICD_SGIR       0xF00u
#define GICC_CTLR       0x0000u
#define GICC_PMR        0x0004u
#define GICC_BPR        0x0008u
#define GICC_IAR        0x000Cu
#define GICC_EOIR       0x0010u
#define GICC_APR        0x00D0u /* active priorities: up to four words */
#define GICC_DIR        0x1000u

#define CTLR_ENABLE        (1u << 0) /* enables the group of this security state, in both registers */
#define GICC_CTLR_EOIMODE  (1u << 9) /* EOIR only drops the priority; same bit in the non-secure view */
#define IAR_INTID(iar)     ((iar)&0x3FFu)
#define SGIR_TARGETS_SHIFT 16

#define DEFAULT_PRIORITIES 0xA0A0A0A0u
#define LOWEST_PRIORITY    0xFFu

static struct gic {
    struct spinlock lock; /* protects updates of the target and trigger registers */
    paddr_t distributor;
    paddr_t interface;
    uint32_t words; /* words of 32 interrupts, including the private word */
    uint32_t maintenance_irq;
} gic;

static paddr_t at(paddr_t base, uint32_t offset)
{
    return paddr(base.value + offset);
}

/* Disables 32 interrupts and clears their state. */
static void reset_word(uint32_t word)
{
    mmio_write32(at(gic.distributor, GICD_ICENABLER + word * 4), UINT32_MAX);
    mmio_write32(at(gic.distributor, GICD_IGROUPR + word * 4), 0); /* ignored for non-secure software */
    mmio_write32(at(gic.distributor, GICD_ICPENDR + word * 4), UINT32_MAX);
    mmio_write32(at(gic.distributor, GICD_ICACTIVER + word * 4), UINT32_MAX);
    for (uint32_t i = 0; i < 8; i++) {
        mmio_write32(at(gic.distributor, GICD_IPRIORITYR + word * 32 + i * 4), DEFAULT_PRIORITIES);
    }
}

bool gic_silence(const struct manifest_platform *platform)
{
    (void)platform; /* a GICv2 accesses no memory */
    return true;
}

void gic_init(const struct manifest_platform *platform)
{
    gic.distributor = paddr(platform->gicd_pa);
    gic.interface = paddr(platform->gicc_pa);
    gic.maintenance_irq = platform->maintenance_irq;
    gic.words = (mmio_read32(at(gic.distributor, GICD_TYPER)) & 0x1F) + 1;
    for (uint32_t i = 0; i < BH_MAX_CORES; i++) {
        cpu_at(i)->gic.target_bit = 0;
    }

    mmio_write32(at(gic.distributor, GICD_CTLR), 0);
    for (uint32_t word = 1; word < gic.words; word++) {
        reset_word(word);
        mmio_write32(at(gic.distributor, GICD_ICFGR + word * 8), 0);
        mmio_write32(at(gic.distributor, GICD_ICFGR + word * 8 + 4), 0);
    }
    mmio_write32(at(gic.distributor, GICD_CTLR), CTLR_ENABLE);
}

bool gic_cpu_init(uint32_t cpu_index, uint64_t mpidr)
{
    /* A core reads its own bit in the target bytes of its private interrupts; on a uniprocessor they are
     * 0. */
    uint32_t target = mmio_read32(at(gic.distributor, GICD_ITARGETSR)) & 0xFF;

    (void)mpidr; /* GICv2 identifies cores by number */
    mmio_write32(at(gic.interface, GICC_CTLR), 0);
    reset_word(0);
    mmio_write32(at(gic.distributor, GICD_ISENABLER), 1u | 1u << gic.maintenance_irq);
    for (uint32_t i = 0; i < 4; i++) { /* ends interrupts that a loader acknowledged; ignored for others */
        mmio_write32(at(gic.interface, GICC_APR + i * 4), 0);
    }
    mmio_write32(at(gic.interface, GICC_PMR), LOWEST_PRIORITY);
    mmio_write32(at(gic.interface, GICC_BPR), 0);
    mmio_write32(at(gic.interface, GICC_CTLR), CTLR_ENABLE | GICC_CTLR_EOIMODE);
    vgic_lr_reset();
    cpu_at(cpu_index)->gic.target_bit = (uint8_t)(target != 0 ? target : 1);
    arch_dsb_sy();
    return true;
}

/* The CPU interface of the core with this affinity, as a bit; 0 if that core is not ready yet. */
static uint32_t target_of(uint64_t mpidr)
{
    for (uint32_t i = 0; i < BH_MAX_CORES; i++) {
        const struct cpu *cpu = cpu_at(i);

        if (cpu->gic.target_bit != 0 && cpu->mpidr == mpidr) {
            return cpu->gic.target_bit;
        }
    }
    return 0;
}

uint32_t gic_acknowledge(void)
{
    uint32_t iar = mmio_read32(at(gic.interface, GICC_IAR));

    arch_dsb_sy(); /* the acknowledgement completes before any access to the device */
    if (IAR_INTID(iar) < GIC_SGI_COUNT) {
        this_cpu()->gic.sgi = iar;
    }
    return IAR_INTID(iar);
}

/* The value that ends an interrupt: the value that was read at its acknowledgement, which includes the sender
 * of a software-generated interrupt. EL2 ends each of those before it acknowledges the next one. */
static uint32_t acknowledged(uint32_t intid)
{
    return intid < GIC_SGI_COUNT ? this_cpu()->gic.sgi : intid;
}

void gic_end(uint32_t intid)
{
    mmio_write32(at(gic.interface, GICC_EOIR), acknowledged(intid));
}

void gic_deactivate(uint32_t intid)
{
    mmio_write32(at(gic.interface, GICC_DIR), acknowledged(intid));
}

void gic_activate(uint32_t intid)
{
    mmio_write32(at(gic.distributor, GICD_ISACTIVER), 1u << intid % 32);
}

void gic_enable(uint32_t intid, uint64_t mpidr)
{
    if (intid >= GIC_PRIVATE_COUNT) {
        paddr_t address = at(gic.distributor, GICD_ITARGETSR + (intid & ~3u));
        uint32_t shift = intid % 4 * 8;

        spin_lock(&gic.lock);
        mmio_write32(address, (mmio_read32(address) & ~(0xFFu << shift)) | target_of(mpidr) << shift);
        spin_unlock(&gic.lock);
    }
    mmio_write32(at(gic.distributor, GICD_ISENABLER + intid / 32 * 4), 1u << intid % 32);
}

void gic_disable(uint32_t intid)
{
    mmio_write32(at(gic.distributor, GICD_ICENABLER + intid / 32 * 4), 1u << intid % 32);
    arch_dsb_sy(); /* GICv2 has no bit that shows completion */
}

void gic_set_edge(uint32_t intid, bool edge)
{
    paddr_t address = at(gic.distributor, GICD_ICFGR + intid / 16 * 4);
    uint32_t bit = 2u << intid % 16 * 2;

    spin_lock(&gic.lock);
    mmio_write32(address, edge ? mmio_read32(address) | bit : mmio_read32(address) & ~bit);
    spin_unlock(&gic.lock);
}

uint32_t gic_pending_word(uint32_t word)
{
    return mmio_read32(at(gic.distributor, GICD_ISPENDR + word * 4));
}

void gic_send_sgi(uint64_t target_mpidr, uint32_t sgi)
{
    /* Also orders the caller's request before the check whether the target is ready. A core that becomes
     * ready checks its requests afterwards. */
    arch_dsb_sy();
    mmio_write32(at(gic.distributor, GICD_SGIR), target_of(target_mpidr) << SGIR_TARGETS_SHIFT | sgi);
}
