// SPDX-License-Identifier: Apache-2.0
// What kinds of happenings a run's digest is made of; the first argument of digest::add() is one of these,
// shifted by 32, and a core, master or device.
#pragma once

#include <cstdint>

namespace bulkhead::machine {

inline constexpr std::uint64_t fetch_code = 1;      // a line was asked for
inline constexpr std::uint64_t write_back_code = 2; // a dirty line went down
inline constexpr std::uint64_t write_past_code = 3; // past the shared levels
inline constexpr std::uint64_t answer_code = 4;     // DRAM's, with the time of the data
inline constexpr std::uint64_t uncached_code = 5;
inline constexpr std::uint64_t shared_read_code = 6; // of a frame that cores share
inline constexpr std::uint64_t shared_write_code = 7;
inline constexpr std::uint64_t snoop_code = 8;  // by the interconnect, that found something
inline constexpr std::uint64_t device_code = 9; // first of the devices' own

} // namespace bulkhead::machine
