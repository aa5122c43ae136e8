// SPDX-License-Identifier: Apache-2.0
// The profiling registers of a Freescale/NXP MMDC (i.MX 6, S32V234), fed by the DRAM model's counts: all
// cycles, busy cycles, bytes moved. The rest of the controller is not modelled. Registers as in the i.MX 6
// reference manual, MMDC_MADPCR0 to MADPSR5; counts of accesses (MADPSR2, MADPSR3) are in lines.
#pragma once

#include <cstdint>
#include <functional>

#include "machine/dram/memory.h"

namespace bulkhead::machine::devices {

class mmdc_profile {
public:
    static constexpr std::uint64_t bytes = 0x1000;

    // `seen`: returns the counts since the start of the run, up to a time.
    mmdc_profile(std::function<dram::memory_profile(picoseconds)> seen, std::uint64_t line_bytes)
        : seen_(std::move(seen)), line_bytes_(line_bytes)
    {
    }

    [[nodiscard]] std::uint32_t read(std::uint64_t offset, picoseconds now) const;
    void write(std::uint64_t offset, std::uint32_t value, picoseconds now);

private:
    static constexpr std::uint64_t control = 0x410;
    static constexpr std::uint64_t filter = 0x414; // by master: ignored, all masters are counted
    static constexpr std::uint64_t first_counter = 0x418;
    static constexpr std::uint32_t enable = 1U << 0U;
    static constexpr std::uint32_t reset = 1U << 1U;
    static constexpr std::uint32_t freeze = 1U << 2U;

    [[nodiscard]] bool counts() const { return (control_ & (enable | freeze)) == enable; }
    // Counts since the last reset, while counting was enabled.
    [[nodiscard]] dram::memory_profile counted(picoseconds now) const;

    std::function<dram::memory_profile(picoseconds)> seen_;
    std::uint64_t line_bytes_;
    dram::memory_profile before_{}; // counted up to the last stop
    dram::memory_profile since_{};  // counts since the start of the run, when counting last began
    std::uint32_t control_ = 0;
    std::uint32_t filter_ = 0;
};

} // namespace bulkhead::machine::devices
