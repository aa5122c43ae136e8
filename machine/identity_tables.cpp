// SPDX-License-Identifier: Apache-2.0
// Lays out identity tables; see the header. Names of bits are those of DDI 0487 D8.3.
#include "machine/identity_tables.h"

#include <algorithm>
#include <string>

namespace bulkhead::machine {

namespace {

constexpr std::uint32_t page_bits = 12;
constexpr std::uint32_t level_bits = 9;
constexpr std::uint32_t most_levels = 4;
constexpr std::uint64_t valid_table_or_page = 3;
constexpr std::uint64_t accessed = 1U << 10U;
constexpr std::uint64_t normal_memory = 0xFF; // attribute 0 of MAIR

} // namespace

result<identity_tables> identity_tables::make(std::uint32_t levels,
                                              const std::vector<std::uint64_t> &addresses,
                                              const std::vector<std::uint64_t> &frames)
{
    if (levels == 0 || levels > most_levels) {
        return refusal{"tables of " + std::to_string(levels) + " levels: 1 to 4 are possible"};
    }
    if (frames.empty() ||
        std::ranges::any_of(frames, [](std::uint64_t frame) { return frame % table_bytes != 0; })) {
        return refusal{"tables need frames that are aligned to 4 KiB"};
    }
    identity_tables made;
    const std::uint32_t input_bits = page_bits + level_bits * levels;
    made.regime_.stage1 = {.on = true,
                           .root = phys_addr{frames.front()},
                           .input_bits = input_bits,
                           .start_level = most_levels - levels};
    made.regime_.mair = normal_memory;
    made.tables_[frames.front()] = {};
    for (const std::uint64_t address : addresses) {
        if (address >> input_bits != 0) {
            return refusal{"an address beyond the " + std::to_string(input_bits) + " bits of " +
                           std::to_string(levels) + " levels"};
        }
        std::uint64_t frame = frames.front();
        for (std::uint32_t shift = input_bits - level_bits;; shift -= level_bits) {
            std::uint64_t &entry = made.tables_[frame].at(address >> shift & (table{}.size() - 1));
            if (shift == page_bits) {
                entry = address >> page_bits << page_bits | accessed | valid_table_or_page;
                break;
            }
            if (entry == 0) {
                if (made.tables_.size() == frames.size()) {
                    return refusal{"the tables do not fit into " + std::to_string(frames.size()) + " frames"};
                }
                entry = frames[made.tables_.size()] | valid_table_or_page;
                made.tables_[entry - valid_table_or_page] = {};
            }
            frame = entry - valid_table_or_page;
        }
    }
    return made;
}

std::optional<std::uint64_t> identity_tables::read(phys_addr where) const
{
    const auto found = tables_.find(where.value & ~(table_bytes - 1));
    if (found == tables_.end()) {
        return std::nullopt;
    }
    return found->second.at((where.value & (table_bytes - 1)) / sizeof(std::uint64_t));
}

} // namespace bulkhead::machine
