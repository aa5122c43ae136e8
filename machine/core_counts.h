// SPDX-License-Identifier: Apache-2.0
// What one core counts: the events that a PMU offers, and where its time went. The core writes it
// (machine/core.cpp), device models and reports read it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bulkhead::machine {

enum class core_event : std::uint8_t {
    l1d_refill,     // lines that came into L1, prefetched ones when they were wanted
    l1d_write_back, // dirty lines that left it
    l2d_access,     // the second level, private or shared: lookups for this core and its write-backs
    l2d_refill,     // lines that it had to fetch for this core
    l2d_write_back, // lines that it sent on because of this core, those that were streamed past it too
    bus_access,     // lines read from or written to the interconnect because of this core
    beats,          // of data between the core and what is shared, cached there or not
    uncached,       // accesses past all caches, devices included
    l1_tlb_refill,  // of the first-level TLB for data
    l2_tlb_refill,  // = walks
    memory_access,  // loads and stores of what runs on it, hits included
    l1i_refill,     // lines of code that came into L1I
    l1i_tlb_refill,
    // Cycles that accesses waited for a translation that the first-level TLB did not have: data and code, of
    // the main TLB, and of a walk (as Cortex-A9's events 0x85, 0x84, 0x83, 0x82).
    l1_tlb_stall,
    l1i_tlb_stall,
    l2_tlb_stall,
    l2i_tlb_stall,
    walk_hit, // reads of a walk that a cache served
};
inline constexpr std::size_t core_event_count = 18;
std::string_view name_of(core_event which);

enum class stall_cause : std::uint8_t {
    l2_hit,
    shared_level_hit,
    memory,
    store_buffer,
    walk,
    device,
    maintenance, // that another core has broadcast
    fetch,       // of code that L1I did not have
};
inline constexpr std::size_t stall_cause_count = 8;
std::string_view name_of(stall_cause which);

struct core_counts {
    std::uint64_t instructions = 0;
    std::uint64_t cycles = 0;  // of the core's clock while it did not wait for an interrupt
    std::uint64_t idle_ps = 0; // in wait()
    std::array<std::uint64_t, core_event_count> events{};
    std::array<std::uint64_t, stall_cause_count> stall_ps{};

    [[nodiscard]] std::uint64_t of(core_event which) const { return events[static_cast<std::size_t>(which)]; }
    [[nodiscard]] std::uint64_t of(stall_cause which) const
    {
        return stall_ps[static_cast<std::size_t>(which)];
    }
};

} // namespace bulkhead::machine
