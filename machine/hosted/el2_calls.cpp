// SPDX-License-Identifier: Apache-2.0
// The hypervisor's accessors (hypervisor/arch/hosted/include/arch): what an instruction would do on the core
// that runs now. Registers that are more than storage come first in each switch. No policy, no timing but
// what the board's settings say of barriers and device accesses.
#include "machine/hosted/el2_calls.h"

#include <arch/barrier.h>
#include <arch/fp.h>
#include <arch/machine.h>
#include <arch/mmio.h>
#include <arch/physical.h>
#include <arch/smc.h>

#include "machine/hosted/calls.h"
#include "machine/hosted/cpu.h"
#include "machine/hosted/system.h"

using namespace bulkhead::machine;
using hosted::cpu;
using hosted::current;

namespace {

constexpr std::uint64_t sctlr_mmu = 1;
constexpr std::uint64_t list_register_description =
    4u << 29 | 4u << 26; // five bits of priority and preemption

std::uint64_t *list_register(cpu &core, sysreg_id id)
{
    devices::gic_virtual_interface &guest = current().gic().virtual_interface(core.id());
    const unsigned n = id - SYSREG_ID_ICH_LR0_EL2;
    return id >= SYSREG_ID_ICH_LR0_EL2 && n < guest.list_registers() ? &guest.lr[n] : nullptr;
}

void barrier()
{
    current().look_for_start();
    current().running().timing().spend(current().board().barrier);
}

std::uint64_t read_timer(const cpu &core, sysreg_id id)
{
    const devices::generic_timer &timer = current().timer();
    switch (id) {
    case SYSREG_ID_CNTP_CTL_EL0:
        return timer.control(core.id(), devices::timer_kind::physical);
    case SYSREG_ID_CNTP_CVAL_EL0:
        return timer.compare(core.id(), devices::timer_kind::physical);
    case SYSREG_ID_CNTV_CTL_EL0:
        return timer.control(core.id(), devices::timer_kind::virtual_);
    case SYSREG_ID_CNTV_CVAL_EL0:
        return timer.compare(core.id(), devices::timer_kind::virtual_);
    case SYSREG_ID_CNTHP_CTL_EL2:
        return timer.control(core.id(), devices::timer_kind::hypervisor);
    case SYSREG_ID_CNTHP_CVAL_EL2:
        return timer.compare(core.id(), devices::timer_kind::hypervisor);
    case SYSREG_ID_CNTVOFF_EL2:
        return timer.offset(core.id());
    case SYSREG_ID_CNTFRQ_EL0:
        return timer.frequency_hz();
    default:
        return timer.counter();
    }
}

bool write_timer(const cpu &core, sysreg_id id, std::uint64_t value)
{
    devices::generic_timer &timer = current().timer();
    switch (id) {
    case SYSREG_ID_CNTP_CTL_EL0:
        timer.set_control(core.id(), devices::timer_kind::physical, value);
        return true;
    case SYSREG_ID_CNTP_CVAL_EL0:
        timer.set_compare(core.id(), devices::timer_kind::physical, value);
        return true;
    case SYSREG_ID_CNTV_CTL_EL0:
        timer.set_control(core.id(), devices::timer_kind::virtual_, value);
        return true;
    case SYSREG_ID_CNTV_CVAL_EL0:
        timer.set_compare(core.id(), devices::timer_kind::virtual_, value);
        return true;
    case SYSREG_ID_CNTHP_CTL_EL2:
        timer.set_control(core.id(), devices::timer_kind::hypervisor, value);
        return true;
    case SYSREG_ID_CNTHP_CVAL_EL2:
        timer.set_compare(core.id(), devices::timer_kind::hypervisor, value);
        return true;
    case SYSREG_ID_CNTVOFF_EL2:
        timer.set_offset(core.id(), value);
        return true;
    default:
        return false;
    }
}

bool write_interrupts(const cpu &core, sysreg_id id, std::uint64_t value)
{
    devices::gic_virtual_interface &guest = current().gic().virtual_interface(core.id());
    switch (id) {
    case SYSREG_ID_ICC_PMR_EL1:
        current().gic_v3().set_priority_mask(core.id(), value);
        return true;
    case SYSREG_ID_ICC_CTLR_EL1:
        current().gic_v3().set_control(core.id(), value);
        return true;
    case SYSREG_ID_ICC_IGRPEN1_EL1:
        current().gic_v3().set_group_enable(core.id(), value);
        return true;
    case SYSREG_ID_ICC_EOIR1_EL1:
        current().gic_v3().end(core.id(), static_cast<std::uint32_t>(value));
        return true;
    case SYSREG_ID_ICC_DIR_EL1:
        current().gic_v3().deactivate(core.id(), static_cast<std::uint32_t>(value));
        return true;
    case SYSREG_ID_ICC_SGI1R_EL1:
        current().gic_v3().send_sgi(core.id(), value);
        return true;
    case SYSREG_ID_ICH_HCR_EL2:
        guest.hcr = value;
        break;
    case SYSREG_ID_ICH_VMCR_EL2:
        guest.vmcr = value;
        break;
    case SYSREG_ID_ICH_AP1R0_EL2:
        guest.active_priorities = static_cast<std::uint32_t>(value);
        break;
    default:
        return false;
    }
    current().gic().virtual_changed(core.id());
    return true;
}

} // namespace

uint64_t hosted_sysreg_read(enum sysreg_id id)
{
    cpu &core = current().running();
    const devices::gic_virtual_interface &guest = current().gic().virtual_interface(core.id());
    if (const std::uint64_t *lr = list_register(core, id)) {
        return *lr;
    }
    switch (id) {
    case SYSREG_ID_ICC_IAR1_EL1:
        core.timing().order();
        return current().gic_v3().acknowledge(core.id());
    case SYSREG_ID_ICH_VTR_EL2:
        return list_register_description | (guest.list_registers() - 1);
    case SYSREG_ID_ICH_ELRSR_EL2:
        return guest.empty();
    case SYSREG_ID_ICH_EISR_EL2:
        return guest.ended();
    case SYSREG_ID_ICH_MISR_EL2:
        return guest.maintenance();
    case SYSREG_ID_ICH_HCR_EL2:
        return guest.hcr;
    case SYSREG_ID_ICH_VMCR_EL2:
        return guest.vmcr;
    case SYSREG_ID_ICH_AP1R0_EL2:
        return guest.active_priorities;
    case SYSREG_ID_CNTFRQ_EL0:
    case SYSREG_ID_CNTPCT_EL0:
    case SYSREG_ID_CNTP_CTL_EL0:
    case SYSREG_ID_CNTP_CVAL_EL0:
    case SYSREG_ID_CNTV_CTL_EL0:
    case SYSREG_ID_CNTV_CVAL_EL0:
    case SYSREG_ID_CNTHP_CTL_EL2:
    case SYSREG_ID_CNTHP_CVAL_EL2:
    case SYSREG_ID_CNTVOFF_EL2:
        return read_timer(core, id);
    default:
        return core.state()[id];
    }
}

void hosted_sysreg_write(enum sysreg_id id, uint64_t value)
{
    cpu &core = current().running();
    if (std::uint64_t *lr = list_register(core, id)) {
        *lr = value;
        current().gic().virtual_changed(core.id());
        return;
    }
    if (id >= SYSREG_ID_CNTFRQ_EL0 && id <= SYSREG_ID_ICH_VMCR_EL2) {
        core.timing().order();
        if (write_timer(core, id, value) || write_interrupts(core, id, value)) {
            return;
        }
    }
    const bool turns_on = id == SYSREG_ID_SCTLR_EL2 && (value & sctlr_mmu) != 0;
    core.state()[id] = value;
    if (turns_on) {
        current().translation_on(core.state()[SYSREG_ID_TTBR0_EL2], core.state()[SYSREG_ID_TCR_EL2]);
    }
}

uint64_t hosted_mmio_read(uint64_t pa, unsigned bytes)
{
    core &timing = current().running().timing();
    timing.uncached(phys_addr{pa}, bytes, access_kind::read);
    timing.order();
    return current().read_device(pa, bytes);
}

void hosted_mmio_write(uint64_t pa, unsigned bytes, uint64_t value)
{
    core &timing = current().running().timing();
    timing.uncached(phys_addr{pa}, bytes, access_kind::write);
    timing.order();
    current().write_device(pa, bytes, value);
}

int64_t arch_smc(uint64_t function, uint64_t first, uint64_t second, uint64_t third)
{
    current().running().timing().order();
    return current().firmware(function, first, second, third);
}

void *hosted_phys_pointer(paddr_t pa)
{
    return current().physical(pa.value);
}

void *hosted_el2_pointer(uint64_t va)
{
    current().map_el2_window(va);
    return current().el2_pointer(va);
}

enum hosted_exception hosted_enter_guest(struct guest_regs *regs)
{
    current().look_for_start();
    return static_cast<hosted_exception>(current().running().enter_guest(*regs));
}

void arch_isb(void)
{
    barrier();
}

void arch_dsb_sy(void)
{
    barrier();
}

void arch_dsb_ishst(void)
{
    barrier();
}

void arch_wfi(void)
{
    current().running().wait_for_interrupt();
}

void arch_wfe(void)
{
    current().running().wait_for_event();
}

void arch_sev(void)
{
    current().running().timing().order();
    current().send_event();
}

/* A guest's mappings are those of its tables, looked up again. */
void arch_tlbi_local_all(void)
{
    barrier();
    if (window *space = current().guest_space(current().running().state()[SYSREG_ID_VTTBR_EL2] >> 48)) {
        space->unmap(space->layout().first, space->layout().bytes);
    }
}

void arch_tlbi_local_el2(uintptr_t address)
{
    barrier();
    current().map_el2_window(address);
}

/* No model makes one. */
bool arch_take_serror(void)
{
    barrier();
    return false;
}

void arch_icache_invalidate_local(void)
{
    barrier();
}

/* The address is one of the host's: of EL2's space or of physical memory with the MMU off. */
void arch_dcache_clean_invalidate_line(uintptr_t address)
{
    const window &space = current().el2_space();
    const auto ipa = space.ipa_of(address);
    const auto pa = ipa ? space.translate(*ipa) : std::nullopt;
    if (pa) {
        current().running().timing().flush(phys_addr{pa->value & ~std::uint64_t{63}}, {64});
    }
}

void arch_fp_clear(void) {}
