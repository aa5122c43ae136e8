/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage-2 aborts: emulated devices, lazily mapped memory, and addresses that the guest does not own. The one
 * place where an access of a guest is decoded; devices see only what has been checked here.
 */
#include "console.h"
#include "mmio_access.h"
#include "syndrome.h"
#include "system.h"
#include "trap.h"
#include "vgic.h"
#include "vuart.h"
#include <arch/sysreg.h>

#define PAGE_OFFSET 0xFFFull

/* Sign- or zero-extends what a device answered to the width of the destination. */
static uint64_t extended(uint64_t value, uint64_t esr)
{
    uint32_t bits = 8 * esr_access_bytes(esr);

    if (esr_is_sign_extended(esr) && bits < 64) {
        uint64_t sign = 1ull << (bits - 1);

        value = ((value & (sign | (sign - 1))) ^ sign) - sign;
        return esr_is_64bit_register(esr) ? value : (uint32_t)value;
    }
    return value;
}

enum device {
    DEVICE_NONE,
    DEVICE_DISTRIBUTOR,
    DEVICE_REDISTRIBUTOR,
    DEVICE_UART,
};

/* Guests see the emulated devices where the board has the real ones. */
static enum device device_at(const struct domain *domain, uint64_t ipa, uint64_t *offset)
{
    const struct manifest_platform *platform = &system_manifest()->platform;

    *offset = ipa - platform->uart_pa;
    if (*offset < VUART_BYTES && domain_has_flag(domain, BH_DOMAIN_FLAG_CONSOLE)) {
        return DEVICE_UART;
    }
    *offset = ipa - platform->gicd_pa;
    if (*offset < VGIC_DIST_BYTES) {
        return DEVICE_DISTRIBUTOR;
    }
    *offset = ipa - platform->gicr_pa;
    if (*offset < (uint64_t)domain->vcpu_count * VGIC_REDIST_BYTES) {
        return DEVICE_REDISTRIBUTOR;
    }
    return DEVICE_NONE;
}

static bool perform(struct cpu *cpu, enum device device, struct mmio_access *access)
{
    switch (device) {
    case DEVICE_UART:
        cpu_count_exit(cpu, BH_EXIT_REASON_UART_ACCESS);
        return vuart_access(cpu->vcpu, access);
    case DEVICE_DISTRIBUTOR:
        cpu_count_exit(cpu, BH_EXIT_REASON_GICD_ACCESS);
        return vgic_dist_access(cpu->vcpu, access);
    default:
        cpu_count_exit(cpu, BH_EXIT_REASON_GICR_ACCESS);
        return vgic_redist_access(cpu->vcpu, access);
    }
}

static void device_access(struct cpu *cpu, struct guest_regs *regs, uint64_t esr, enum device device,
                          uint64_t offset)
{
    struct mmio_access access;

    if (!esr_is_decodable(esr) || esr_is_table_walk(esr)) {
        trap_kill(cpu, regs, BH_DOMAIN_END_UNDECODABLE_ACCESS);
        return;
    }
    access = (struct mmio_access){
        .offset = offset,
        .bytes = esr_access_bytes(esr),
        .write = esr_is_write(esr),
    };
    if (access.write) {
        uint64_t mask = access.bytes == 8 ? ~0ull : (1ull << (8 * access.bytes)) - 1;

        access.value = guest_register(regs, esr_transfer_register(esr)) & mask;
    }
    if (offset % access.bytes != 0 || !perform(cpu, device, &access)) {
        trap_kill(cpu, regs, BH_DOMAIN_END_BAD_DEVICE_ACCESS);
        return;
    }
    if (!access.write) {
        set_guest_register(regs, esr_transfer_register(esr), extended(access.value, esr));
    }
    trap_skip_instruction(esr);
}

static bool map_lazily(struct cpu *cpu, uint64_t esr, uint64_t page)
{
    if (!esr_is_translation_fault(esr) ||
        !stage2_map_lazily(&cpu->vcpu->domain->stage2, system_pool(), ipaddr(page))) {
        return false;
    }
    cpu_count_exit(cpu, BH_EXIT_REASON_LAZY_MAP);
    return true;
}

static void refuse_access(struct cpu *cpu, const struct guest_regs *regs, uint64_t esr,
                          enum bh_domain_end end)
{
    cpu_count_exit(cpu, BH_EXIT_REASON_STAGE2_FAULT);
    trap_kill(cpu, regs, esr_is_external_abort(esr) ? BH_DOMAIN_END_EXTERNAL_ABORT : end);
}

void trap_data_abort(struct cpu *cpu, struct guest_regs *regs, uint64_t esr)
{
    uint64_t page = hpfar_page(sysreg_read(HPFAR_EL2));
    uint64_t offset;
    enum device device;

    if (esr_is_translation_fault(esr)) {
        device = device_at(cpu->vcpu->domain, page, &offset);
        if (device != DEVICE_NONE) {
            device_access(cpu, regs, esr, device, offset + (sysreg_read(FAR_EL2) & PAGE_OFFSET));
            return;
        }
    }
    if (!map_lazily(cpu, esr, page)) {
        refuse_access(cpu, regs, esr, BH_DOMAIN_END_STAGE2_DATA_ABORT);
    }
}

void trap_instruction_abort(struct cpu *cpu, struct guest_regs *regs, uint64_t esr)
{
    if (!map_lazily(cpu, esr, hpfar_page(sysreg_read(HPFAR_EL2)))) {
        refuse_access(cpu, regs, esr, BH_DOMAIN_END_STAGE2_INSTRUCTION_ABORT);
    }
}
