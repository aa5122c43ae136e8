// SPDX-License-Identifier: Apache-2.0
// The values of turns by transaction stores, as in Synopsys' DDR controllers (Zynq-7000: UG585 10.4, "DDRC
// Arbitration", table 10-4; ZynqMP: registers SCHED, PERFLPR1, PERFWR1 of UG1087, module DDRC). Plain values;
// store_turns.h decides by them.
#pragma once

#include <cstdint>
#include <string>

namespace bulkhead::machine::dram {

struct store_settings {
    std::uint32_t starve = 128; // clocks without service after which a store that is not empty is critical
    std::uint32_t run = 8;      // requests that a critical store is served in one go
    std::uint32_t rest = 0;     // clocks after such a run in which it can not be critical again
    std::uint32_t idle = 2;     // clocks without reads before writes use the time

    // Why the values contradict each other, or nothing.
    [[nodiscard]] std::string contradiction() const;
};

} // namespace bulkhead::machine::dram
