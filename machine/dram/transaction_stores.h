// SPDX-License-Identifier: Apache-2.0
// Settings of turns by transaction stores, as in Synopsys' DDR controllers (Zynq-7000: UG585 10.4, "DDRC
// Arbitration", table 10-4; ZynqMP: registers SCHED, PERFLPR1, PERFWR1 of UG1087, module DDRC). Plain values;
// store_turns.h decides by them.
#pragma once

#include <cstdint>
#include <string>

namespace bulkhead::machine::dram {

struct store_settings {
    std::uint32_t starve = 128; // clocks without service after which a non-empty store becomes critical
    std::uint32_t run = 8;      // requests that a critical store is served in one run
    std::uint32_t rest = 0;     // clocks after a run in which the store cannot become critical again
    std::uint32_t idle = 2;     // clocks without reads after which writes are served

    // Why the values contradict each other; empty if they do not.
    [[nodiscard]] std::string contradiction() const;
};

} // namespace bulkhead::machine::dram
