// SPDX-License-Identifier: Apache-2.0
// The system registers of one core as storage, by the hypervisor's own table of them, with what they hold out
// of reset and the identification of a Cortex-A53. Registers that do something are
// machine/hosted/sysregs.cpp's.
#pragma once

#include <array>
#include <cstdint>

#include <arch/sysreg.h>

#include "machine/mpam/settings.h"

namespace bulkhead::machine::hosted {

class registers {
public:
    // `s2fwb`: it has FEAT_S2FWB, which that core has not. `partitions`: it has MPAM; null: it has not.
    registers(std::uint64_t mpidr, bool gic_v3, bool s2fwb,
              const mpam::system_settings *partitions = nullptr);

    [[nodiscard]] std::uint64_t operator[](sysreg_id id) const { return values_[id]; }
    [[nodiscard]] std::uint64_t &operator[](sysreg_id id) { return values_[id]; }

private:
    std::array<std::uint64_t, SYSREG_ID_COUNT> values_{};
};

// Saved program status, as far as it matters here.
namespace pstate {
inline constexpr std::uint64_t el1h = 0x5;
inline constexpr std::uint64_t irq_masked = 1u << 7;
inline constexpr std::uint64_t all_masked = 0x3C0;
} // namespace pstate

} // namespace bulkhead::machine::hosted
