// SPDX-License-Identifier: Apache-2.0
// Prepares a channel's constraints; see the header. Called once, before a run.
#include "machine/dram/banks.h"

namespace bulkhead::machine::dram {

banks::banks(const organization &shape, const timing &timing)
    : faw_(timing.faw), ranks_(shape.of().ranks), groups_(shape.groups_per_channel())
{
    for (std::uint32_t bank = 0; bank < shape.banks_per_channel(); ++bank) {
        const std::uint32_t group = bank / shape.of().banks;
        rank_state &rank = ranks_[group / shape.of().groups];
        rank.banks |= std::uint64_t{1} << bank;
        banks_.push_back({.group = &groups_[group], .rank = &rank});
    }
    std::transform(rules.begin(), rules.end(), distance_.begin(),
                   [&timing](const rule &one) { return one.distance(timing); });
}

clocks banks::earliest_refresh(std::uint32_t rank) const
{
    clocks when = ranks_[rank].next[slot(command::refresh)];
    for (const bank_state &bank : banks_) {
        when = bank.rank == &ranks_[rank] ? std::max(when, bank.next[slot(command::activate)]) : when;
    }
    return when;
}

} // namespace bulkhead::machine::dram
