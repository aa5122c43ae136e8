// SPDX-License-Identifier: Apache-2.0
// Kinds of events in a run's digest. The first argument of digest::add() is one of these, shifted left by 32,
// combined with the number of a core, master or device.
#pragma once

#include <cstdint>

namespace bulkhead::machine {

inline constexpr std::uint64_t fetch_code = 1;      // a line was requested
inline constexpr std::uint64_t write_back_code = 2; // a dirty line was written to the level below
inline constexpr std::uint64_t write_past_code = 3; // a write past the shared levels
inline constexpr std::uint64_t answer_code = 4;     // answer of DRAM, with the time of the data
inline constexpr std::uint64_t uncached_code = 5;
inline constexpr std::uint64_t shared_read_code = 6; // read of a frame that cores share
inline constexpr std::uint64_t shared_write_code = 7;
inline constexpr std::uint64_t snoop_code = 8;  // a snoop by the interconnect that found the line
inline constexpr std::uint64_t device_code = 9; // first of the codes that devices use

} // namespace bulkhead::machine
