// SPDX-License-Identifier: Apache-2.0
// The system registers of one core as storage, according to the hypervisor's own table of them, with their
// reset values and the identification of a Cortex-A53. machine/hosted/sysregs.cpp implements registers with
// side effects.
#pragma once

#include <array>
#include <cstdint>

#include <arch/sysreg.h>

#include "machine/mpam/settings.h"

namespace bulkhead::machine::hosted {

class registers {
public:
    // `s2fwb`: the core has FEAT_S2FWB, which a real Cortex-A53 does not have. `partitions`: the core has
    // MPAM; null: it does not.
    registers(std::uint64_t mpidr, bool gic_v3, bool s2fwb,
              const mpam::system_settings *partitions = nullptr);

    [[nodiscard]] std::uint64_t operator[](sysreg_id id) const { return values_[id]; }
    [[nodiscard]] std::uint64_t &operator[](sysreg_id id) { return values_[id]; }

private:
    std::array<std::uint64_t, SYSREG_ID_COUNT> values_{};
};

// The bits of the saved program status that are used here.
namespace pstate {
inline constexpr std::uint64_t el1h = 0x5;
inline constexpr std::uint64_t irq_masked = 1u << 7;
inline constexpr std::uint64_t all_masked = 0x3C0;
} // namespace pstate

} // namespace bulkhead::machine::hosted
