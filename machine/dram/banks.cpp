// SPDX-License-Identifier: Apache-2.0
// Prepares a channel's constraints; see the header. Called once, before a run.
#include "machine/dram/banks.h"

namespace bulkhead::machine::dram {

banks::banks(const organization &shape, const timing &timing)
    : faw_(timing.faw), count_(shape.banks_per_channel()), rank_count_(shape.of().ranks)
{
    for (std::uint32_t bank = 0; bank < count_; ++bank) {
        const std::uint32_t group = bank / shape.of().banks;
        banks_[bank].group = group;
        banks_[bank].rank = group / shape.of().groups;
        ranks_[banks_[bank].rank].banks |= std::uint64_t{1} << bank;
    }
    std::transform(rules.begin(), rules.end(), distance_.begin(),
                   [&timing](const rule &one) { return one.distance(timing); });
}

clocks banks::earliest_refresh(std::uint32_t rank) const
{
    clocks when = ranks_[rank].next[slot(command::refresh)];
    for (std::uint32_t bank = 0; bank < count_; ++bank) {
        when = banks_[bank].rank == rank ? std::max(when, banks_[bank].next[slot(command::activate)]) : when;
    }
    return when;
}

} // namespace bulkhead::machine::dram
