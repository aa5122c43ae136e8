// SPDX-License-Identifier: Apache-2.0
// Names of a core's counts, as in reports.
#include "machine/core_counts.h"

namespace bulkhead::machine {

std::string_view name_of(core_event which)
{
    constexpr std::array<std::string_view, core_event_count> names{
        "l1d_refill",    "l1d_write_back", "l2d_access",     "l2d_refill",    "l2d_write_back",
        "bus_access",    "beats",          "uncached",       "l1_tlb_refill", "l2_tlb_refill",
        "memory_access", "l1i_refill",     "l1i_tlb_refill", "l1_tlb_stall",  "l1i_tlb_stall",
        "l2_tlb_stall",  "l2i_tlb_stall",  "walk_hit",       "l3d_refill"};
    return names.at(static_cast<std::size_t>(which));
}

std::string_view name_of(stall_cause which)
{
    constexpr std::array<std::string_view, stall_cause_count> names{
        "l2_hit", "shared_level_hit", "memory", "store_buffer", "walk", "device", "maintenance", "fetch"};
    return names.at(static_cast<std::size_t>(which));
}

} // namespace bulkhead::machine
