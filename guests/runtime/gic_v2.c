// SPDX-License-Identifier: Apache-2.0
//
// GICv2 (Arm IHI 0048): distributor and CPU interface by MMIO. All interrupts stay in the group that they are
// in out of reset, with one priority; there is no preemption between them.
#include "guests/runtime/gic_versions.h"

#include <arch/mmio.h>
#include <arch/sysreg.h>

#include "guests/runtime/board.h"

#define GICD_CTLR           0x000u
#define GICD_ISENABLER0     0x100u
#define GICD_ICENABLER0     0x180u
#define GICD_IPRIORITYR     0x400u
#define GICD_ITARGETSR      0x800u
#define GICD_SGIR           0xF00u
#define GICC_CTLR           0x00u
#define GICC_PMR            0x04u
#define GICC_BPR            0x08u
#define GICC_IAR            0x0Cu
#define GICC_EOIR           0x10u
#define ENABLE              1u // EOI drops the priority and deactivates
#define PRIORITY_OF_ALL     0xA0A0A0A0u
#define FIRST_VCPU          0x01010101u // as a target, of four interrupts
#define PRIORITY_MASK_OPEN  0xF0u
#define INTID_OF(value)     ((value)&0x3FFu)
#define INTID_FIRST_SPECIAL 1020u
#define SGI_COUNT           16u

// The interrupt that each VCPU acknowledged last: the end of an SGI must name its sender too.
static uint32_t acknowledged[BOARD_MAX_CPUS];

bool gic_v2_init_secondary(void)
{
    uint64_t distributor = board()->gic_distributor.address;
    uint64_t interface = board()->gic_interface.address;

    mmio_write32(distributor + GICD_ICENABLER0, 0xFFFFFFFFu);
    for (uint32_t i = 0; i < 32; i += 4)
        mmio_write32(distributor + GICD_IPRIORITYR + i, PRIORITY_OF_ALL);
    mmio_write32(interface + GICC_PMR, PRIORITY_MASK_OPEN);
    mmio_write32(interface + GICC_BPR, 0);
    mmio_write32(interface + GICC_CTLR, ENABLE);
    return true;
}

bool gic_v2_init(void)
{
    if (board()->gic_distributor.size == 0)
        return false;
    mmio_write32(board()->gic_distributor.address + GICD_CTLR, ENABLE);
    return gic_v2_init_secondary();
}

void gic_v2_enable_private(uint32_t intid)
{
    if (intid < 32)
        mmio_write32(board()->gic_distributor.address + GICD_ISENABLER0, 1u << intid);
}

// Registers of four interrupts are written as a whole: all four have one priority, and one target.
void gic_v2_enable_shared(uint32_t intid)
{
    uint64_t distributor = board()->gic_distributor.address;

    if (intid < 32 || intid >= INTID_FIRST_SPECIAL)
        return;
    mmio_write32(distributor + GICD_IPRIORITYR + (intid & ~3u), PRIORITY_OF_ALL);
    mmio_write32(distributor + GICD_ITARGETSR + (intid & ~3u), FIRST_VCPU);
    mmio_write32(distributor + GICD_ISENABLER0 + intid / 32 * 4, 1u << intid % 32);
}

void gic_v2_send(uint32_t intid, uint32_t cpu)
{
    cpu_sync_memory(); // the handler must see what was written before
    mmio_write32(board()->gic_distributor.address + GICD_SGIR, 1u << (16 + cpu) | intid);
}

bool gic_v2_acknowledge(uint32_t *intid)
{
    uint32_t value = mmio_read32(board()->gic_interface.address + GICC_IAR);

    cpu_sync_memory(); // the handler must see what the interrupt's source wrote
    *intid = INTID_OF(value);
    if (*intid < SGI_COUNT)
        acknowledged[sysreg_read(TPIDR_EL1)] = value;
    return *intid < INTID_FIRST_SPECIAL;
}

void gic_v2_end(uint32_t intid)
{
    uint32_t value = intid < SGI_COUNT ? acknowledged[sysreg_read(TPIDR_EL1)] : intid;

    mmio_write32(board()->gic_interface.address + GICC_EOIR, value);
}
