// SPDX-License-Identifier: Apache-2.0
// System registers that belong to a device, mapped to the device's functions. Used by the accessors of a
// hosted run (machine/hosted/el2_calls.cpp) and by the hypervisor's unit tests on these devices
// (tests/hypervisor); all other registers are storage (machine/hosted/registers.h). It knows no time: the
// caller has made the access in order.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <arch/sysreg.h>

#include "machine/devices/generic_timer.h"
#include "machine/devices/gic_v3.h"
#include "machine/devices/pmu.h"
#include "machine/hosted/partition_registers.h"

namespace bulkhead::machine::hosted {

class sysregs {
public:
    // All arguments must outlive this object. `gic`: null if its registers are memory-mapped. `monitors`: of
    // each core; empty: their registers are storage. `partitions`: the same for MPAM.
    sysregs(devices::gic_v3 *gic, devices::generic_timer &timer, std::vector<devices::pmu *> monitors = {},
            std::vector<partition_registers *> partitions = {})
        : gic_(gic), timer_(timer), monitors_(std::move(monitors)), partitions_(std::move(partitions))
    {
    }

    // Access by an instruction of core `which` at EL2; nothing, or false: the register belongs to no device.
    [[nodiscard]] std::optional<std::uint64_t> read(core_id which, sysreg_id id);
    bool write(core_id which, sysreg_id id, std::uint64_t value);

    // Whether the access has effects outside of the core.
    [[nodiscard]] static bool is_ordered(sysreg_id id)
    {
        return id >= SYSREG_ID_CNTFRQ_EL0 && id <= SYSREG_ID_ICH_VMCR_EL2;
    }

private:
    [[nodiscard]] std::optional<std::uint64_t> read_timer(core_id which, sysreg_id id) const;
    bool write_timer(core_id which, sysreg_id id, std::uint64_t value);
    [[nodiscard]] std::optional<std::uint64_t> read_interface(core_id which, sysreg_id id);
    bool write_interface(core_id which, sysreg_id id, std::uint64_t value);
    [[nodiscard]] std::optional<std::uint64_t> read_virtual(core_id which, sysreg_id id);
    bool write_virtual(core_id which, sysreg_id id, std::uint64_t value);
    [[nodiscard]] std::optional<std::uint64_t> read_monitors(core_id which, sysreg_id id);
    bool write_monitors(core_id which, sysreg_id id, std::uint64_t value);

    devices::gic_v3 *gic_;
    devices::generic_timer &timer_;
    std::vector<devices::pmu *> monitors_;
    std::vector<partition_registers *> partitions_;
};

} // namespace bulkhead::machine::hosted
