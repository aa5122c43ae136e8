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
#include "vgic_model.h"
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

/* An emulated device: the UART, or a frame of the interrupt controller. */
struct device {
    bool is_uart;
    enum vgic_frame frame;
    uint64_t offset; /* in it */
};

/* Guests see the emulated devices where the board has the real ones. */
static bool device_at(const struct domain *domain, uint64_t ipa, struct device *device)
{
    device->offset = ipa - system_manifest()->platform.uart_pa;
    device->is_uart = device->offset < VUART_BYTES && domain_has_flag(domain, BH_DOMAIN_FLAG_CONSOLE);
    if (device->is_uart) {
        return true;
    }
    device->frame = vgic_frame_at(domain, ipa, &device->offset);
    return device->frame != VGIC_FRAME_NONE;
}

static bool perform(struct cpu *cpu, const struct device *device, struct mmio_access *access)
{
    if (device->is_uart) {
        cpu_count_exit(cpu, BH_EXIT_REASON_UART_ACCESS);
        return vuart_access(cpu->vcpu, access);
    }
    cpu_count_exit(cpu, device->frame == VGIC_FRAME_DISTRIBUTOR ? BH_EXIT_REASON_GICD_ACCESS
                                                                : BH_EXIT_REASON_GICR_ACCESS);
    return vgic_frame_access(cpu->vcpu, device->frame, access);
}

static void device_access(struct cpu *cpu, struct guest_regs *regs, uint64_t esr, const struct device *device)
{
    uint64_t offset = device->offset + (sysreg_read(FAR_EL2) & PAGE_OFFSET);
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
    struct device device;

    if (esr_is_translation_fault(esr) && device_at(cpu->vcpu->domain, page, &device)) {
        device_access(cpu, regs, esr, &device);
        return;
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
