// SPDX-License-Identifier: Apache-2.0
// Prepares a channel's constraints; see the header. Called once, before a run.
#include "machine/dram/banks.h"

namespace bulkhead::machine::dram {

banks::banks(const organization &shape, const timing &timing)
    : faw_(timing.faw), count_(shape.banks_per_channel()), rank_count_(shape.of().ranks)
{
    open_.fill(no_row);
    for (std::uint32_t bank = 0; bank < count_; ++bank) {
        const std::uint32_t group = bank / shape.of().banks;
        const std::uint32_t rank = group / shape.of().groups;
        where_[bank] = {group, rank};
        ranks_[rank].banks |= std::uint64_t{1} << bank;
    }
    for (const constraint &one : timing.constraints()) {
        add(one);
    }
}

void banks::add(const constraint &one)
{
    rules &known = rules_[static_cast<std::size_t>(one.where)][static_cast<std::size_t>(one.first)];
    known.all[known.count++] = {static_cast<std::uint32_t>(one.then), one.distance};
}

} // namespace bulkhead::machine::dram
