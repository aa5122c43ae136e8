/* SPDX-License-Identifier: Apache-2.0
 *
 * Model of a GICv3 for unit tests: its frames and its system registers. Written from IHI 0069, independently
 * of the driver.
 */
#include "fake_gic.h"
#include "fake_gic_common.h"

#define LR_STATE_PENDING (UINT64_C(1) << 62)
#define LR_STATE_ACTIVE  (UINT64_C(1) << 63)
#define LR_HW            (UINT64_C(1) << 61)
#define LR_EOI           (UINT64_C(1) << 41)
#define LR_INTID(lr)     ((uint32_t)(lr))
#define LR_PRIORITY(lr)  ((uint32_t)((lr) >> 48) & 0xFF)
#define LR_PHYSICAL(lr)  ((uint32_t)((lr) >> 32) & 0x3FF)

#define REDISTRIBUTOR_BYTES 0x20000u
#define SGI_FRAME           0x10000u
#define GICR_TYPER          0x08u
#define GICR_WAKER          0x14u

static struct {
    uint64_t gicd_pa;
    uint32_t core_of_redistributor[FAKE_CORES];
    fake_gic_lpi_hook lpis;
} gicv3;

static enum sysreg_id lr_register(uint32_t n)
{
    return (enum sysreg_id)(SYSREG_ID_ICH_LR0_EL2 + n);
}

struct fake_lr fake_gic_lr(uint32_t n)
{
    uint64_t lr = fake_sysreg(lr_register(n));

    return (struct fake_lr){
        .intid = LR_INTID(lr),
        .physical = LR_PHYSICAL(lr),
        .priority = LR_PRIORITY(lr),
        .pending = (lr & LR_STATE_PENDING) != 0,
        .active = (lr & LR_STATE_ACTIVE) != 0,
        .hw = (lr & LR_HW) != 0,
        .eoi = (lr & LR_EOI) != 0,
    };
}

void fake_gic_set_lr_state(uint32_t n, bool pending, bool active)
{
    uint64_t lr = fake_sysreg(lr_register(n)) & ~(LR_STATE_PENDING | LR_STATE_ACTIVE);

    fake_set_sysreg(lr_register(n), lr | (pending ? LR_STATE_PENDING : 0) | (active ? LR_STATE_ACTIVE : 0));
}

uint32_t fake_gic_hcr(void)
{
    return (uint32_t)fake_sysreg(SYSREG_ID_ICH_HCR_EL2);
}

void fake_gic_set_hcr(uint32_t value)
{
    fake_set_sysreg(SYSREG_ID_ICH_HCR_EL2, value);
}

uint64_t fake_gic_sysreg(enum sysreg_id id)
{
    return fake_sysreg(id);
}

void fake_gic_set_sysreg(enum sysreg_id id, uint64_t value)
{
    fake_set_sysreg(id, value);
}

bool fake_gic_is_routed_here(uint32_t spi)
{
    return fake_mmio32(gicv3.gicd_pa + 0x6000 + (uint64_t)spi * 8) == fake_current_core();
}

void fake_gic_guest_took(const struct fake_lr *lr)
{
    (void)lr; /* GICv3 needs only the number */
}

static void send_sgi(uint64_t value)
{
    for (uint32_t target = 0; target < fake_gic_cores(); target++) {
        if ((value & 0xFFFF) >> target & 1) {
            fake_gic_core_at(target)->latched[0] |= 1u << (value >> 24 & 0xF);
        }
    }
}

static bool read_sysreg(enum sysreg_id id, uint64_t *value)
{
    switch (id) {
    case SYSREG_ID_ICC_IAR1_EL1:
        *value = fake_gic_acknowledge();
        return true;
    case SYSREG_ID_ICH_VTR_EL2:
        *value = fake_gic_list_registers() - 1;
        return true;
    case SYSREG_ID_ICH_ELRSR_EL2:
        *value = fake_gic_lrs_empty();
        return true;
    case SYSREG_ID_ICH_EISR_EL2:
        *value = fake_gic_lrs_ended();
        return true;
    case SYSREG_ID_ICH_MISR_EL2:
        *value = fake_gic_maintenance();
        return true;
    default:
        return false;
    }
}

static bool write_sysreg(enum sysreg_id id, uint64_t value)
{
    switch (id) {
    case SYSREG_ID_ICC_EOIR1_EL1:
        fake_gic_drop_priority();
        return true;
    case SYSREG_ID_ICC_DIR_EL1:
        fake_gic_deactivate((uint32_t)value);
        return true;
    case SYSREG_ID_ICC_SGI1R_EL1:
        send_sgi(value);
        return true;
    case SYSREG_ID_ICH_AP1R0_EL2:
        fake_gic_core_at(fake_current_core())->depth = 0; /* EL2 writes this register only to reset it */
        return false;
    default:
        return false;
    }
}

static bool read_distributor(uint64_t offset, unsigned bytes, uint64_t *value)
{
    if (offset == 4 && bytes == 4) {
        *value = FAKE_GIC_WORDS - 1;
        return true;
    }
    return bytes == 4 && fake_gic_access_bits(0, offset, false, value);
}

static bool write_distributor(uint64_t offset, unsigned bytes, uint64_t value)
{
    return bytes == 4 && offset % 0x80 != 0 && fake_gic_access_bits(0, offset, true, &value);
}

static bool read_redistributor(uint64_t offset, unsigned bytes, uint64_t *value)
{
    uint32_t index = (uint32_t)(offset / REDISTRIBUTOR_BYTES);
    uint32_t of_core = gicv3.core_of_redistributor[index];

    offset %= REDISTRIBUTOR_BYTES;
    if (offset == GICR_TYPER && bytes == 8) {
        *value = (uint64_t)of_core << 32 | index << 8 | (index + 1 == fake_gic_cores() ? 1u << 4 : 0);
        if (gicv3.lpis != NULL) {
            (void)gicv3.lpis(of_core, offset, false, value);
        }
        return true;
    }
    if (offset == GICR_WAKER) {
        *value = fake_gic_core_at(of_core)->asleep ? 6 : 0;
        return true;
    }
    if (gicv3.lpis != NULL && offset < SGI_FRAME) {
        return gicv3.lpis(of_core, offset, false, value);
    }
    return offset >= SGI_FRAME && fake_gic_access_bits(of_core, offset - SGI_FRAME, false, value);
}

static bool write_redistributor(uint64_t offset, unsigned bytes, uint64_t value)
{
    uint32_t of_core = gicv3.core_of_redistributor[offset / REDISTRIBUTOR_BYTES];

    (void)bytes;
    offset %= REDISTRIBUTOR_BYTES;
    if (offset == GICR_WAKER) {
        fake_gic_core_at(of_core)->asleep = (value & 2) != 0;
        return true;
    }
    if (gicv3.lpis != NULL && offset < SGI_FRAME) {
        return gicv3.lpis(of_core, offset, true, &value);
    }
    return offset >= SGI_FRAME && fake_gic_access_bits(of_core, offset - SGI_FRAME, true, &value);
}

void fake_gic_hook_lpis(fake_gic_lpi_hook hook, bool keep_active)
{
    gicv3.lpis = hook;
    fake_gic_keep_lpis_active(keep_active);
}

void fake_gic_init(uint64_t gicd_pa, uint64_t gicr_pa, uint32_t cores, const uint32_t *affinity_of,
                   uint32_t list_registers)
{
    fake_gic_start(gicd_pa, cores, list_registers);
    gicv3.gicd_pa = gicd_pa;
    gicv3.lpis = NULL;
    for (uint32_t i = 0; i < cores; i++) {
        gicv3.core_of_redistributor[i] = affinity_of[i];
        fake_gic_core_at(i)->asleep = true;
    }
    fake_map(gicd_pa, 0x10000, read_distributor, write_distributor);
    fake_map(gicr_pa, (size_t)cores * REDISTRIBUTOR_BYTES, read_redistributor, write_redistributor);
    fake_hook_sysregs(read_sysreg, write_sysreg);
}
