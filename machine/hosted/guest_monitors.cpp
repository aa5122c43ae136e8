// SPDX-License-Identifier: Apache-2.0
// Traps by MDCR_EL2 (DDI 0487, D24.5); machine/devices/pmu.h handles the counters that HPMN leaves to the
// guest.
#include "machine/hosted/guest_monitors.h"

#include "machine/hosted/calls.h"
#include "machine/hosted/cpu.h"
#include "machine/hosted/guest_trap.h"
#include "machine/hosted/system.h"

namespace bulkhead::machine::hosted {
namespace {

constexpr std::uint64_t mdcr_traps_all = 1u << 6; // TPM
constexpr std::uint64_t mdcr_traps_pmcr = 1u << 5;

struct monitors_register {
    devices::pmu_register which;
    std::uint64_t encoding;
};

std::optional<monitors_register> monitors_register_of(enum guest_sysreg which)
{
    using reg = devices::pmu_register;
    switch (which) {
    case GUEST_SYSREG_PMCR_EL0:
        return monitors_register{reg::pmcr, SYSREG_ENCODING(3u, 3u, 9u, 12u, 0u)};
    case GUEST_SYSREG_PMCNTENSET_EL0:
        return monitors_register{reg::pmcntenset, SYSREG_ENCODING(3u, 3u, 9u, 12u, 1u)};
    case GUEST_SYSREG_PMEVTYPER0_EL0:
        return monitors_register{reg::pmevtyper, SYSREG_ENCODING(3u, 3u, 14u, 12u, 0u)};
    case GUEST_SYSREG_PMEVCNTR0_EL0:
        return monitors_register{reg::pmevcntr, SYSREG_ENCODING(3u, 3u, 14u, 8u, 0u)};
    default:
        return std::nullopt;
    }
}

// Accesses reach the guest's own counters, unless there are none or EL2 traps them.
bool is_trapped(const monitors_register &what, monitors *counted)
{
    if (counted == nullptr) {
        return true;
    }
    const std::uint64_t mdcr = counted->registers().read(devices::pmu_register::mdcr_el2);
    return (mdcr & mdcr_traps_all) != 0 ||
           (what.which == devices::pmu_register::pmcr && (mdcr & mdcr_traps_pmcr) != 0);
}

} // namespace

std::optional<std::uint64_t> guest_reads_monitors(guest_sysreg which, const void *where)
{
    const auto what = monitors_register_of(which);
    if (!what) {
        return std::nullopt;
    }
    monitors *const counted = current().monitors_of(current().running().id());
    return is_trapped(*what, counted) ? trap(sysreg_syndrome(what->encoding, true), 0, where)
                                      : counted->registers().read(what->which);
}

bool guest_writes_monitors(guest_sysreg which, std::uint64_t value, const void *where)
{
    const auto what = monitors_register_of(which);
    if (!what) {
        return false;
    }
    cpu &core = current().running();
    monitors *const counted = current().monitors_of(core.id());
    if (is_trapped(*what, counted)) {
        trap(sysreg_syndrome(what->encoding, false), value, where);
    } else {
        counted->registers().write(what->which, value);
        core.take_interrupts();
    }
    return true;
}

} // namespace bulkhead::machine::hosted
