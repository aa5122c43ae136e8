// SPDX-License-Identifier: Apache-2.0
//
// GICv3 (Arm IHI 0069): distributor and redistributor by MMIO, CPU interface by system registers. All
// interrupts are group 1 of one priority; there is no preemption between them.
#include "guests/runtime/gic_versions.h"

#include <arch/mmio.h>
#include <arch/sysreg.h>

#include "guests/runtime/board.h"

#define GICD_CTLR           0x0000u
#define GICD_CTLR_GROUP1    (1u << 1)
#define GICD_CTLR_AFFINITY  (1u << 4)
#define GICD_CTLR_PENDING   (1u << 31)
#define GICD_IGROUPR        0x0080u
#define GICD_ISENABLER      0x0100u
#define GICD_IPRIORITYR     0x0400u
#define GICR_TYPER          0x0008u
#define GICR_TYPER_LAST     (1u << 4)
#define GICR_WAKER          0x0014u
#define GICR_WAKER_SLEEP    (1u << 1)
#define GICR_WAKER_ASLEEP   (1u << 2)
#define GICR_FRAME_BYTES    0x20000u
#define GICR_IGROUPR0       0x10080u
#define GICR_ISENABLER0     0x10100u
#define GICR_ICENABLER0     0x10180u
#define GICR_IPRIORITYR     0x10400u
#define PRIORITY_OF_ALL     0xA0A0A0A0u
#define PRIORITY_MASK_OPEN  0xF0u
#define ICC_SRE_ENABLE      1u
#define INTID_FIRST_SPECIAL 1020u

enum { max_polls = 1000000 };

// Redistributor of each VCPU by TPIDR_EL1 (its index); 0: none found.
static uint64_t redistributors[BOARD_MAX_CPUS];

static uint64_t find_redistributor(void)
{
    const struct dt_range *all = &board()->gic_redistributor;
    uint64_t mpidr = sysreg_read(MPIDR_EL1);
    uint64_t affinity = (mpidr & 0xFFFFFFu) | (mpidr >> 32 & 0xFFu) << 24;

    for (uint64_t at = 0; at + GICR_FRAME_BYTES <= all->size; at += GICR_FRAME_BYTES) {
        uint64_t frame = all->address + at;
        uint64_t type = mmio_read64(frame + GICR_TYPER);
        if (type >> 32 == affinity)
            return frame;
        if ((type & GICR_TYPER_LAST) != 0)
            break;
    }
    return 0;
}

static bool wake_redistributor(uint64_t frame)
{
    mmio_write32(frame + GICR_WAKER, mmio_read32(frame + GICR_WAKER) & ~GICR_WAKER_SLEEP);
    for (int i = 0; i < max_polls; i++) {
        if ((mmio_read32(frame + GICR_WAKER) & GICR_WAKER_ASLEEP) == 0)
            return true;
    }
    return false;
}

bool gic_v3_init_secondary(void)
{
    uint64_t frame = find_redistributor();
    uint64_t cpu = sysreg_read(TPIDR_EL1);

    if (frame == 0 || cpu >= BOARD_MAX_CPUS || !wake_redistributor(frame))
        return false;
    redistributors[cpu] = frame;
    mmio_write32(frame + GICR_ICENABLER0, 0xFFFFFFFFu);
    mmio_write32(frame + GICR_IGROUPR0, 0xFFFFFFFFu);
    for (uint32_t i = 0; i < 32; i += 4)
        mmio_write32(frame + GICR_IPRIORITYR + i, PRIORITY_OF_ALL);
    sysreg_write(ICC_SRE_EL1, sysreg_read(ICC_SRE_EL1) | ICC_SRE_ENABLE);
    cpu_sync_context();
    sysreg_write(ICC_PMR_EL1, PRIORITY_MASK_OPEN);
    sysreg_write(ICC_BPR1_EL1, 0);
    sysreg_write(ICC_CTLR_EL1, 0); // EOI drops the priority and deactivates
    sysreg_write(ICC_IGRPEN1_EL1, 1);
    cpu_sync_context();
    return true;
}

bool gic_v3_init(void)
{
    const struct dt_range *distributor = &board()->gic_distributor;

    if (distributor->size == 0)
        return false;
    mmio_write32(distributor->address + GICD_CTLR, GICD_CTLR_AFFINITY | GICD_CTLR_GROUP1);
    for (int i = 0; i < max_polls; i++) {
        if ((mmio_read32(distributor->address + GICD_CTLR) & GICD_CTLR_PENDING) == 0)
            return gic_v3_init_secondary();
    }
    return false;
}

void gic_v3_enable_private(uint32_t intid)
{
    uint64_t frame = redistributors[sysreg_read(TPIDR_EL1)];

    if (frame != 0 && intid < 32)
        mmio_write32(frame + GICR_ISENABLER0, 1u << intid);
}

// After reset the interrupt is routed to affinity 0, the first VCPU. The other interrupts of its word, if
// they are ever enabled, are in the same group, and have the same priority.
void gic_v3_enable_shared(uint32_t intid)
{
    uint64_t distributor = board()->gic_distributor.address;

    if (intid < 32 || intid >= INTID_FIRST_SPECIAL)
        return;
    mmio_write32(distributor + GICD_IGROUPR + intid / 32 * 4, 0xFFFFFFFFu);
    mmio_write32(distributor + GICD_IPRIORITYR + (intid & ~3u), PRIORITY_OF_ALL);
    mmio_write32(distributor + GICD_ISENABLER + intid / 32 * 4, 1u << intid % 32);
}

// VCPUs have affinity 0.0.0.index.
void gic_v3_send(uint32_t intid, uint32_t cpu)
{
    cpu_sync_memory(); // the handler must see what was written before
    sysreg_write(ICC_SGI1R_EL1, (uint64_t)intid << 24 | 1u << cpu);
    cpu_sync_context();
}

bool gic_v3_acknowledge(uint32_t *intid)
{
    *intid = (uint32_t)sysreg_read(ICC_IAR1_EL1) & 0xFFFFFFu;
    cpu_sync_memory(); // the handler must see what the interrupt's source wrote
    return *intid < INTID_FIRST_SPECIAL || *intid > INTID_FIRST_SPECIAL + 3;
}

void gic_v3_end(uint32_t intid)
{
    sysreg_write(ICC_EOIR1_EL1, intid);
}
