// SPDX-License-Identifier: Apache-2.0
// Traps of MPAM2_EL2 and MPAMHCR_EL2; see the header.
#include "machine/hosted/guest_partitions.h"

#include "machine/hosted/calls.h"
#include "machine/hosted/cpu.h"
#include "machine/hosted/guest_trap.h"
#include "machine/hosted/system.h"

namespace bulkhead::machine::hosted {
namespace {

struct partition_register {
    sysreg_id which;
    std::uint64_t encoding;
};

std::optional<partition_register> partition_register_of(guest_sysreg which)
{
    switch (which) {
    case GUEST_SYSREG_MPAMIDR_EL1:
        return partition_register{SYSREG_ID_MPAMIDR_EL1, SYSREG_ENCODING(3u, 0u, 10u, 4u, 4u)};
    case GUEST_SYSREG_MPAM1_EL1:
        return partition_register{SYSREG_ID_MPAM1_EL1, SYSREG_ENCODING(3u, 0u, 10u, 5u, 0u)};
    case GUEST_SYSREG_MPAM0_EL1:
        return partition_register{SYSREG_ID_MPAM0_EL1, SYSREG_ENCODING(3u, 0u, 10u, 5u, 1u)};
    default:
        return std::nullopt;
    }
}

} // namespace

std::optional<std::uint64_t> guest_reads_partitions(guest_sysreg which, const void *where)
{
    const auto what = partition_register_of(which);
    if (!what) {
        return std::nullopt;
    }
    cpu &core = current().running();
    partition_registers *const own = core.partitions();
    if (own == nullptr) {
        core.inject_undefined(core.resume_address(where));
        return 0;
    }
    return own->traps_from_guest(what->which) ? trap(sysreg_syndrome(what->encoding, true), 0, where)
                                              : own->read_by_guest(what->which);
}

bool guest_writes_partitions(guest_sysreg which, std::uint64_t value, const void *where)
{
    const auto what = partition_register_of(which);
    if (!what) {
        return false;
    }
    cpu &core = current().running();
    partition_registers *const own = core.partitions();
    if (own == nullptr) {
        core.inject_undefined(core.resume_address(where));
    } else if (own->traps_from_guest(what->which)) {
        trap(sysreg_syndrome(what->encoding, false), value, where);
    } else {
        own->write_by_guest(what->which, value);
    }
    return true;
}

} // namespace bulkhead::machine::hosted
