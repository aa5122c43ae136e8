// SPDX-License-Identifier: Apache-2.0
// What one core counts: the events that a PMU offers, and the causes of its stalls. The core writes it
// (machine/core.cpp); device models and reports read it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bulkhead::machine {

enum class core_event : std::uint8_t {
    l1d_refill,     // lines that came into L1; prefetched ones are counted at their first demand access
    l1d_write_back, // dirty lines evicted from L1
    l2d_access,     // second level, private or shared: lookups and write-backs of this core
    l2d_refill,     // lines that the second level had to fetch for this core
    l2d_write_back, // lines that the second level wrote back because of this core, including streamed writes
                    // past it
    bus_access,     // lines read from or written to the interconnect because of this core
    beats,          // beats of data between the core and the shared part, cached there or not
    uncached,       // accesses past all caches, including devices
    l1_tlb_refill,  // refills of the first-level TLB for data
    l2_tlb_refill,  // page-table walks
    memory_access,  // loads and stores of the software on the core, including hits
    l1i_refill,     // lines of code that were fetched into L1I
    l1i_tlb_refill,
    // Cycles that accesses waited for a translation that missed in the first-level TLB: for data and for
    // code, from the main TLB on, and for a walk (as Cortex-A9's events 0x85, 0x84, 0x83, 0x82).
    l1_tlb_stall,
    l1i_tlb_stall,
    l2_tlb_stall,
    l2i_tlb_stall,
    walk_hit, // reads of a walk that hit in a cache
    // Cacheable reads of this core that a shared level behind its second level did not answer either: lines
    // from memory or from another cluster. No core without such a level counts them.
    l3d_refill,
};
inline constexpr std::size_t core_event_count = 19;
std::string_view name_of(core_event which);

enum class stall_cause : std::uint8_t {
    l2_hit,
    shared_level_hit,
    memory,
    store_buffer,
    walk,
    device,
    maintenance, // maintenance that another core has broadcast
    fetch,       // code that missed in L1I
};
inline constexpr std::size_t stall_cause_count = 8;
std::string_view name_of(stall_cause which);

struct core_counts {
    std::uint64_t instructions = 0;
    std::uint64_t cycles = 0;  // core clock cycles while it did not wait for an interrupt
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
