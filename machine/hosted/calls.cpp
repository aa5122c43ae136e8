// SPDX-License-Identifier: Apache-2.0
// Resolves the images' undefined symbols: one table of names for hypervisor and guests.
#include "machine/hosted/calls.h"

#include <algorithm>
#include <array>

#include <arch/barrier.h>
#include <arch/fp.h>
#include <arch/machine.h>
#include <arch/maintenance.h>
#include <arch/mmio.h>
#include <arch/mpam.h>
#include <arch/physical.h>
#include <arch/smc.h>
#include <arch/sysreg.h>

#include "guests/arch/hosted/include/arch/machine.h"
#include "machine/hosted/cpu.h"
#include "machine/program/execution.h"

namespace bulkhead::machine::hosted {
namespace {

struct named {
    std::string_view name;
    const void *address;
};

template <class Function> const void *address_of(Function *function)
{
    return reinterpret_cast<const void *>(function);
}

} // namespace

system &current()
{
    return cpu::of(*current_execution()).whole();
}

const void *symbol(std::string_view name)
{
#define CALL(function)                                                                                       \
    named                                                                                                    \
    {                                                                                                        \
#function, address_of(&function)                                                                     \
    }
    static const std::array calls = {
        CALL(hosted_sysreg_read),
        CALL(hosted_sysreg_write),
        CALL(hosted_mmio_read),
        CALL(hosted_mmio_write),
        CALL(hosted_phys_pointer),
        CALL(hosted_el2_pointer),
        CALL(hosted_enter_guest),
        CALL(arch_isb),
        CALL(arch_dsb_sy),
        CALL(arch_dsb_ishst),
        CALL(arch_wfi),
        CALL(arch_wfe),
        CALL(arch_sev),
        CALL(arch_smc),
        CALL(arch_take_serror),
        CALL(arch_mpam_probe),
        CALL(arch_tlbi_local_all),
        CALL(arch_tlbi_el2_page),
        CALL(arch_tlbi_stage2_page),
        CALL(arch_tlbi_stage1_all),
        CALL(arch_tlbi_guest_all),
        CALL(arch_icache_invalidate_local),
        CALL(arch_dcache_clean_invalidate_line),
        CALL(arch_tlbi),
        CALL(arch_icache_invalidate),
        CALL(arch_icache_invalidate_line),
        CALL(arch_dcache_clean_line_to_unification),
        CALL(arch_translate_guest),
        CALL(arch_fp_clear),
        CALL(arch_fp_save),
        CALL(arch_fp_load),
        CALL(guest_sysreg_read),
        CALL(guest_sysreg_write),
        CALL(guest_mmio_read),
        CALL(guest_mmio_write),
        CALL(guest_mmio_write_pair),
        CALL(guest_execute),
        CALL(guest_invalidate_line),
        CALL(guest_map_past_caches),
        CALL(guest_hvc),
        CALL(guest_smc),
        CALL(guest_memory_base),
        CALL(guest_memory_at),
    };
#undef CALL
    const auto found = std::ranges::find(calls, name, &named::name);
    return found != calls.end() ? found->address : runtime_symbol(name);
}

} // namespace bulkhead::machine::hosted
