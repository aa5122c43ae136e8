// SPDX-License-Identifier: Apache-2.0
// The miss path of a cache: choosing a slot, counting the eviction, placing the line; see the header.
#include "machine/cache.h"

#include <algorithm>
#include <utility>

namespace bulkhead::machine {

result<cache> cache::make(const cache_geometry &geometry, replacement policy, std::size_t owners,
                          std::uint64_t seed)
{
    if (owners == 0 || owners > 256) {
        return refusal{std::to_string(owners) + " owners: 1 to 256 are possible"};
    }
    auto state = replacement_state::make(geometry, policy, seed);
    if (auto *refused = std::get_if<refusal>(&state)) {
        return std::move(*refused);
    }
    return cache{geometry, std::move(std::get<replacement_state>(state)), owners};
}

cache::cache(const cache_geometry &geometry, replacement_state state, std::size_t owners)
    : geometry_(geometry), replacement_(std::move(state)), statistics_(owners),
      set_bits_(static_cast<std::uint32_t>(std::countr_zero(geometry.sets()))),
      way_bits_(static_cast<std::uint32_t>(std::bit_width(geometry.ways() - 1U))),
      tag_blocks_((geometry.ways() + tag_bytes::count - 1) / tag_bytes::count),
      ways_of_block_((1U << std::min(1U << way_bits_, tag_bytes::count)) - 1),
      recent_(geometry.sets(), recent{.empty = geometry.ways()}),
      tags_(std::size_t{geometry.sets()} * tag_blocks_), slots_(first_slot(geometry.sets()), nothing)
{
    for (tag_bytes &block : tags_) {
        block.bytes.fill(tag_of(no_line));
    }
}

void cache::remark(phys_addr address, line_mark mark)
{
    const std::uint32_t set = geometry_.set_of(address);
    const std::uint64_t line = line_of(address);
    const std::size_t last = recent_[set].slot;
    const std::size_t slot = slots_[last] >> line_shift == line ? last : find(set, line);
    if (slot != absent) {
        slots_[slot] = (slots_[slot] & ~mark_flags) | static_cast<std::uint64_t>(mark);
        remember(set);
    }
}

std::optional<displaced> cache::receive(written_back line)
{
    owner_statistics &counts = statistics_.of(line.owner);
    counts.received.add();
    const std::uint32_t set = geometry_.set_of(line.line);
    const std::size_t slot = find(set, line_of(line.line));
    if (slot != absent) {
        slots_[slot] |= dirty_flag;
        use(set, slot);
        return std::nullopt;
    }
    counts.received_misses.add();
    return place(line.line, line.owner, dirty_flag);
}

// The lowest empty way that may take a line, or none.
std::uint32_t cache::free_way(std::uint32_t set) const
{
    for (std::uint32_t way = 0; way < geometry_.ways(); ++way) {
        if (slots_[first_slot(set) + way] == nothing && (locked_ways_ >> way & 1U) == 0) {
            return way;
        }
    }
    return no_way;
}

std::optional<displaced> cache::invalidate(phys_addr address)
{
    const std::uint32_t set = geometry_.set_of(address);
    const std::size_t slot = find(set, line_of(address));
    if (slot == absent) {
        return std::nullopt;
    }
    const displaced was = displaced_from(slots_[slot]);
    hold(set, static_cast<std::uint32_t>(slot - first_slot(set)), nothing);
    remember(set);
    ++recent_[set].empty;
    return was;
}

bool cache::clean(phys_addr address)
{
    const std::uint32_t set = geometry_.set_of(address);
    const std::size_t slot = find(set, line_of(address));
    if (slot == absent || (slots_[slot] & dirty_flag) == 0) {
        return false;
    }
    slots_[slot] &= ~dirty_flag;
    remember(set);
    return true;
}

} // namespace bulkhead::machine
