/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage-2 aborts: emulated devices, lazily mapped memory, and addresses that the guest does not own. A
 * guest's accesses are decoded only here; devices see only what has been checked here.
 */
#include "base/mmio_access.h"
#include "base/syndrome.h"
#include "console/console.h"
#include "console/vuart.h"
#include "flow/flows.h"
#include "pci/pci.h"
#include "run/crash.h"
#include "run/flash.h"
#include "run/shared_core.h"
#include "trap/trap.h"
#include "vgic/vgic_its.h"
#include "vgic/vgic_model.h"
#include "vm/system.h"
#include <arch/sysreg.h>

#define PAGE_OFFSET 0xFFFull

/* Sign- or zero-extends the value that a device returns to the width of the destination register. */
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

/* Emulated devices. */
enum device {
    DEVICE_GIC,
    DEVICE_UART,
    DEVICE_SOCKET,
    DEVICE_FLASH,
    DEVICE_PCI,
    DEVICE_ITS,
};

enum outcome {
    OUTCOME_REFUSED, /* the device has not accepted the access */
    OUTCOME_DONE,
    OUTCOME_AGAIN, /* the guest must repeat the instruction, */
    OUTCOME_LATER, /* on a shared core when what it waits for may have ended (shared_core_wait_to_repeat) */
};

static enum outcome perform(struct cpu *cpu, enum device device, enum vgic_frame frame,
                            struct mmio_access *access)
{
    if (device == DEVICE_UART) {
        if (!vuart_access(cpu->vcpu, access)) {
            return OUTCOME_REFUSED;
        }
        cpu_count_exit(cpu, BH_EXIT_REASON_UART_ACCESS);
        return OUTCOME_DONE;
    }
    if (device == DEVICE_SOCKET) {
        if (!flows_device_access(cpu->vcpu, access)) {
            return OUTCOME_REFUSED;
        }
        cpu_count_exit(cpu, BH_EXIT_REASON_SOCKET_ACCESS);
        return access->again ? OUTCOME_LATER : OUTCOME_DONE;
    }
    if (device == DEVICE_PCI) {
        if (!pci_config_access(cpu->vcpu->domain, access)) {
            return OUTCOME_REFUSED;
        }
        cpu_count_exit(cpu, BH_EXIT_REASON_PCI_ACCESS);
        return access->again ? OUTCOME_AGAIN : OUTCOME_DONE;
    }
    if (device == DEVICE_ITS) {
        if (!vgic_its_access(cpu->vcpu, access)) {
            return OUTCOME_REFUSED;
        }
        cpu_count_exit(cpu, BH_EXIT_REASON_ITS_ACCESS);
        return access->again ? OUTCOME_AGAIN : OUTCOME_DONE;
    }
    if (device == DEVICE_FLASH) {
        bool done = flash_access(cpu, access);

        return access->again ? OUTCOME_LATER : done ? OUTCOME_DONE : OUTCOME_AGAIN;
    }
    if (!vgic_frame_access(cpu->vcpu, frame, access)) {
        return OUTCOME_REFUSED;
    }
    cpu_count_exit(cpu,
                   frame == VGIC_FRAME_DISTRIBUTOR ? BH_EXIT_REASON_GICD_ACCESS : BH_EXIT_REASON_GICR_ACCESS);
    return OUTCOME_DONE;
}

/* Returns true if the guest may repeat the instruction at once. On a shared core, other VCPUs run until what
 * the instruction waits for has ended. */
static __attribute__((noinline)) bool execute_later(struct cpu *cpu)
{
    if (cpu->shared == NULL) {
        return true;
    }
    shared_core_wait_to_repeat(cpu);
    return false;
}

/* Handles one access to a device at `offset` from its start. */
static bool device_access(struct cpu *cpu, struct guest_regs *regs, uint64_t esr, enum device device,
                          enum vgic_frame frame, uint64_t offset)
{
    struct mmio_access access;
    enum outcome outcome;

    if (!esr_is_decodable(esr) || esr_is_table_walk(esr)) {
        return false;
    }
    access = (struct mmio_access){
        .offset = offset,
        .bytes = esr_access_bytes(esr),
        .write = esr_is_write(esr),
    };
    if (access.write) {
        uint64_t mask = ~0ull >> (64 - 8 * access.bytes);

        access.value = guest_register(regs, esr_transfer_register(esr)) & mask;
    }
    if ((offset & (access.bytes - 1)) != 0) {
        return false;
    }
    outcome = perform(cpu, device, frame, &access);
    if (outcome != OUTCOME_DONE) {
        return outcome == OUTCOME_AGAIN || (outcome == OUTCOME_LATER && execute_later(cpu));
    }
    if (!access.write) {
        set_guest_register(regs, esr_transfer_register(esr), extended(access.value, esr));
    }
    trap_skip_instruction(esr);
    return true;
}

static bool uart_is_at(const struct domain *domain, uint64_t ipa, uint64_t *offset)
{
    *offset = ipa - system_manifest()->platform.uart_pa;
    return *offset < VUART_BYTES && domain_has_flag(domain, BH_DOMAIN_FLAG_CONSOLE);
}

/* Not inlined, so that its callers need no stack. */
static __attribute__((noinline)) bool map_lazily(struct cpu *cpu, uint64_t page)
{
    if (!stage2_map_lazily(&cpu->vcpu->domain->stage2, ipaddr(page))) {
        return false;
    }
    cpu_count_exit(cpu, BH_EXIT_REASON_LAZY_MAP);
    return true;
}

/* Handles one access to flash that takes commands. Also returns false if the access was done and has spent
 * the budget. */
static bool flash_device_access(struct cpu *cpu, struct guest_regs *regs, uint64_t esr, uint64_t offset)
{
    return device_access(cpu, regs, esr, DEVICE_FLASH, VGIC_FRAME_NONE, offset) && cpu->hold == 0;
}

/* Flash is the only memory that a guest cannot write. A write is a command; a write that the flash does not
 * accept as a command is ignored, as on a board. */
static bool write_to_flash(struct cpu *cpu, struct guest_regs *regs, uint64_t esr)
{
    uint64_t offset = 0;

    if (!esr_is_permission_fault(esr) || !esr_is_write(esr) || esr_is_table_walk(esr) ||
        !(esr_is_decodable(esr) || esr_is_maintenance(esr))) {
        return false;
    }
    if (!esr_is_maintenance(esr)) {
        enum flash_write write = flash_write_at(cpu->vcpu->domain, sysreg_read(FAR_EL2), &offset);

        if (write == FLASH_WRITE_COMMAND) {
            return flash_device_access(cpu, regs, esr, offset);
        }
        if (write == FLASH_WRITE_AGAIN) {
            return true;
        }
    }
    cpu_count_exit(cpu, BH_EXIT_REASON_STAGE2_FAULT);
    trap_skip_instruction(esr);
    return true;
}

/* Cache maintenance of hidden flash does nothing, because caches hold nothing that the guest cannot see. */
static bool flash_fault(struct cpu *cpu, struct guest_regs *regs, uint64_t esr, uint64_t offset)
{
    if (!esr_is_maintenance(esr)) {
        return flash_device_access(cpu, regs, esr, offset);
    }
    cpu_count_exit(cpu, BH_EXIT_REASON_STAGE2_FAULT);
    trap_skip_instruction(esr);
    return true;
}

/* Guests see the emulated devices at the addresses of the board's real ones. */
bool trap_data_abort_resolve(struct cpu *cpu, struct guest_regs *regs, uint64_t esr)
{
    const struct domain *domain = cpu->vcpu->domain;
    uint64_t page = hpfar_page(sysreg_read(HPFAR_EL2));
    uint64_t in_page = sysreg_read(FAR_EL2) & PAGE_OFFSET;
    enum vgic_frame frame;
    uint64_t offset;
    uint64_t value;

    if (!esr_is_translation_fault(esr)) {
        return write_to_flash(cpu, regs, esr);
    }
    frame = vgic_frame_at(domain, page, &offset);
    if (frame == VGIC_FRAME_DISTRIBUTOR && esr_is_plain_read(esr) && in_page % 4 == 0 &&
        vgic_dist_read_unlocked(domain, offset + in_page, &value)) {
        cpu_count_exit(cpu, BH_EXIT_REASON_GICD_ACCESS);
        set_guest_register(regs, esr_transfer_register(esr), value);
        trap_skip_instruction(esr);
        return true;
    }
    if (frame == VGIC_FRAME_DISTRIBUTOR && esr_is_plain_write(esr) &&
        vgic_dist_send_sgi(cpu->vcpu, offset + in_page,
                           (uint32_t)guest_register(regs, esr_transfer_register(esr)))) {
        cpu_count_exit(cpu, BH_EXIT_REASON_GICD_ACCESS);
        trap_skip_instruction(esr);
        return true;
    }
    if (frame != VGIC_FRAME_NONE) {
        return device_access(cpu, regs, esr, DEVICE_GIC, frame, offset + in_page);
    }
    if (uart_is_at(domain, page, &offset)) {
        return device_access(cpu, regs, esr, DEVICE_UART, frame, offset + in_page);
    }
    if (flows_device_at(domain, page, &offset)) {
        return device_access(cpu, regs, esr, DEVICE_SOCKET, frame, offset + in_page);
    }
    if (pci_config_at(domain, page, &offset)) {
        return device_access(cpu, regs, esr, DEVICE_PCI, frame, offset + in_page);
    }
    if (vgic_its_at(domain, page, &offset)) {
        return device_access(cpu, regs, esr, DEVICE_ITS, frame, offset + in_page);
    }
    if (flash_answers(domain, page, &offset)) {
        return flash_fault(cpu, regs, esr, offset + in_page);
    }
    return map_lazily(cpu, page);
}

__attribute__((noinline)) bool trap_instruction_abort_resolve(struct cpu *cpu, uint64_t esr)
{
    uint64_t page = hpfar_page(sysreg_read(HPFAR_EL2));
    uint64_t offset;

    return esr_is_translation_fault(esr) && !flash_answers(cpu->vcpu->domain, page, &offset) &&
           map_lazily(cpu, page);
}

static bool is_device(const struct domain *domain, uint64_t page)
{
    uint64_t offset;

    return vgic_frame_at(domain, page, &offset) != VGIC_FRAME_NONE || uart_is_at(domain, page, &offset) ||
           flows_device_at(domain, page, &offset) || pci_config_at(domain, page, &offset) ||
           vgic_its_at(domain, page, &offset);
}

/* Injects an external abort for an access that nothing has answered, if the manifest says so for the domain.
 * Returns false if not. */
static bool inject_abort(struct cpu *cpu, uint64_t esr)
{
    if (!domain_has_flag(cpu->vcpu->domain, BH_DOMAIN_FLAG_FAULTS_ABORT)) {
        return false;
    }
    cpu_count_exit(cpu, BH_EXIT_REASON_STAGE2_FAULT);
    trap_inject_external_abort(esr);
    return true;
}

static void refuse_access(struct cpu *cpu, const struct guest_regs *regs, uint64_t esr,
                          enum bh_domain_end end)
{
    cpu_count_exit(cpu, BH_EXIT_REASON_STAGE2_FAULT);
    domain_crash(cpu, regs, esr_is_external_abort(esr) ? BH_DOMAIN_END_EXTERNAL_ABORT : end);
}

void trap_data_abort(struct cpu *cpu, struct guest_regs *regs, uint64_t esr)
{
    if (trap_data_abort_resolve(cpu, regs, esr) || cpu->hold != 0 || inject_abort(cpu, esr)) {
        return;
    }
    if (!esr_is_translation_fault(esr) || !is_device(cpu->vcpu->domain, hpfar_page(sysreg_read(HPFAR_EL2)))) {
        refuse_access(cpu, regs, esr, BH_DOMAIN_END_STAGE2_DATA_ABORT);
    } else if (!esr_is_decodable(esr) || esr_is_table_walk(esr)) {
        domain_crash(cpu, regs, BH_DOMAIN_END_UNDECODABLE_ACCESS);
    } else {
        domain_crash(cpu, regs, BH_DOMAIN_END_BAD_DEVICE_ACCESS);
    }
}

void trap_instruction_abort(struct cpu *cpu, struct guest_regs *regs, uint64_t esr)
{
    if (!trap_instruction_abort_resolve(cpu, esr) && !inject_abort(cpu, esr)) {
        refuse_access(cpu, regs, esr, BH_DOMAIN_END_STAGE2_INSTRUCTION_ABORT);
    }
}
