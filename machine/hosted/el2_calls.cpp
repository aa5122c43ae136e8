// SPDX-License-Identifier: Apache-2.0
// The hypervisor's accessors (hypervisor/arch/hosted/include/arch): effects of instructions on the running
// core. No policy, and no timing except the settings' costs of barriers and device accesses.
#include "machine/hosted/el2_calls.h"

#include <arch/barrier.h>
#include <arch/fp.h>
#include <arch/machine.h>
#include <arch/maintenance.h>
#include <arch/mmio.h>
#include <arch/mpam.h>
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
void barrier()
{
    current().look_for_start();
    current().running().timing().spend(current().board().barrier);
}

// Maintenance operation of this core, or of all cores.
void maintenance(bool everywhere)
{
    if (everywhere) {
        current().broadcast_maintenance();
    } else {
        barrier();
    }
}

template <class Action> void for_users(bool everywhere, Action action)
{
    if (!everywhere) {
        action(current().running());
        return;
    }
    for (std::size_t n = 0; n < current().core_count(); n++) {
        action(current().core_at(n));
    }
}

} // namespace

uint64_t hosted_sysreg_read(enum sysreg_id id)
{
    cpu &core = current().running();
    if (id == SYSREG_ID_ICC_IAR1_EL1) {
        core.timing().order();
    }
    return current().device_registers().read(core.id(), id).value_or(core.state()[id]);
}

void hosted_sysreg_write(enum sysreg_id id, uint64_t value)
{
    cpu &core = current().running();
    if (hosted::sysregs::is_ordered(id)) {
        core.timing().order();
    }
    if (current().device_registers().write(core.id(), id, value)) {
        return;
    }
    const bool turns_on = id == SYSREG_ID_SCTLR_EL2 && (value & sctlr_mmu) != 0;
    core.state()[id] = value;
    if (turns_on) {
        current().translation_on(core.state()[SYSREG_ID_TTBR0_EL2], core.state()[SYSREG_ID_TCR_EL2]);
        core.translation_on();
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

void *hosted_el2_pointer(uint64_t va, uint64_t bytes)
{
    for (uint64_t done = 0; done < bytes; done += page_bytes) {
        current().map_el2_window(va + done);
    }
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

/* A guest's window is emptied; it is filled again from the tables at each access. */
static void forget_guest()
{
    if (hosted::guest_space *space =
            current().space_of(current().running().state()[SYSREG_ID_VTTBR_EL2] >> 48)) {
        space->pages().unmap(space->own_first(), space->pages().layout().bytes);
    }
}

void arch_tlbi_local_all(void)
{
    barrier();
    forget_guest();
    current().running().invalidate_all();
}

void arch_tlbi_el2_page(bool everywhere, uintptr_t address)
{
    maintenance(everywhere);
    current().map_el2_window(address);
    for_users(everywhere, [&](cpu &one) { one.invalidate_el2_page(address); });
}

/* The guest's window is filled again from the tables when the page is accessed. */
void arch_tlbi_stage2_page(bool everywhere, uint64_t ipa)
{
    const auto vmid = static_cast<std::uint16_t>(current().running().state()[SYSREG_ID_VTTBR_EL2] >> 48);
    maintenance(everywhere);
    if (hosted::guest_space *space = current().space_of(vmid)) {
        space->pages().unmap(space->in_window(ipa), {page_bytes});
    }
    for_users(everywhere, [&](cpu &one) { one.invalidate_intermediate(vmid, ipa); });
}

/* A TLB entry holds the result of both stages, so invalidating stage 1 invalidates whole entries. */
void arch_tlbi_stage1_all(bool everywhere)
{
    const std::uint16_t vmid = current().running().vmid();
    maintenance(everywhere);
    for_users(everywhere, [&](cpu &one) { one.invalidate_stage1(vmid); });
}

/* Invalidates more than required: the entries of all guests, and those of EL2. */
void arch_tlbi_guest_all(bool everywhere)
{
    maintenance(everywhere);
    forget_guest();
    for_users(everywhere, [&](cpu &one) { one.invalidate_all(); });
}

/* No model raises an SError. */
bool arch_take_serror(void)
{
    barrier();
    return false;
}

/* No firmware is modelled that could deny EL2 its use. */
bool arch_mpam_probe(void)
{
    return true;
}

void arch_icache_invalidate_local(void)
{
    barrier();
}

/* For the guest that is on this core. All of its stage 1 is invalidated, since smaller parts are not kept
 * apart. */
void arch_tlbi(enum tlbi_form, bool everywhere, uint64_t)
{
    arch_tlbi_stage1_all(everywhere);
}

/* The hypervisor's instructions are not fetched. */
void arch_icache_invalidate(bool everywhere)
{
    maintenance(everywhere);
}

void arch_icache_invalidate_line(uintptr_t)
{
    current().broadcast_maintenance();
}

void arch_dcache_clean_line_to_unification(uintptr_t)
{
    barrier();
}

/* Guests have no stage 1. */
uint64_t arch_translate_guest(uint64_t address, bool)
{
    constexpr std::uint64_t failed_in_stage2 = 1u << 9 | 1;
    constexpr std::uint64_t write_back = std::uint64_t{0xFF} << 56;
    const auto found = current().running().stage2().walk(current().memory(), address & ~(page_bytes - 1));
    const auto *page = std::get_if<hosted::translation>(&found);
    return page != nullptr ? write_back | page->pa.value : failed_in_stage2;
}

/* The address is one of the host's: in EL2's space, or in physical memory while the MMU is off. */
void arch_dcache_clean_invalidate_line(uintptr_t address)
{
    const window &space = current().el2_space();
    const auto ipa = space.ipa_of(address);
    const auto pa = ipa ? space.translate(*ipa) : std::nullopt;
    if (pa) {
        current().running().timing().flush(phys_addr{pa->value & ~std::uint64_t{63}}, {64});
    }
}

/* Guests' FP registers are the host's, which each fiber keeps. */
void arch_fp_clear(void) {}
void arch_fp_save(uint64_t *) {}
void arch_fp_load(const uint64_t *) {}
