// SPDX-License-Identifier: Apache-2.0
// The miss path of a cache: choosing a slot, counting the eviction, placing the line; see the header.
#include "machine/cache.h"

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
      mark_words_((geometry.ways() + 7) / 8),
      last_marks_(0x8080808080808080 >> (mark_words_ * 8 - geometry.ways()) * 8),
      latest_(geometry.sets(), no_line), latest_dirty_(geometry.sets(), no_line),
      latest_slot_(geometry.sets()), marks_(geometry.sets() * mark_words_, no_line),
      empty_(geometry.sets(), static_cast<std::uint8_t>(geometry.ways())),
      lines_(std::size_t{geometry.sets()} * geometry.ways(), no_line), owners_(lines_.size()),
      dirty_(lines_.size())
{
}

std::optional<displaced> cache::fill(phys_addr address, owner_id owner, access_kind kind)
{
    owner_statistics &counts = statistics_.of(owner);
    counts.accesses.add();
    counts.misses.add();
    return place(address, owner, kind == access_kind::write);
}

std::optional<displaced> cache::receive(written_back line)
{
    owner_statistics &counts = statistics_.of(line.owner);
    counts.received.add();
    const std::uint64_t number = line.line.value >> geometry_.line_bits();
    const std::uint32_t set = geometry_.set_of(line.line);
    const std::size_t slot = find(set, number);
    if (slot != absent) {
        dirty_[slot] = 1;
        use(set, slot);
        return std::nullopt;
    }
    counts.received_misses.add();
    return place(line.line, line.owner, true);
}

// The lowest empty slot that may take a line, or none.
std::size_t cache::free_slot(std::uint32_t set) const
{
    if (empty_[set] == 0) {
        return absent;
    }
    if (locked_ways_ == 0) {
        return find(set, no_line);
    }
    const std::size_t first = std::size_t{set} * geometry_.ways();
    for (std::uint32_t way = 0; way < geometry_.ways(); ++way) {
        if (lines_[first + way] == no_line && (locked_ways_ >> way & 1U) == 0) {
            return first + way;
        }
    }
    return absent;
}

std::optional<displaced> cache::invalidate(phys_addr address)
{
    const std::uint32_t set = geometry_.set_of(address);
    const std::size_t slot = find(set, address.value >> geometry_.line_bits());
    if (slot == absent) {
        return std::nullopt;
    }
    const displaced was{owners_[slot], dirty_[slot] != 0, phys_addr{lines_[slot] << geometry_.line_bits()}};
    hold(set, slot, no_line);
    dirty_[slot] = 0;
    if (latest_slot_[set] == slot) {
        latest_[set] = no_line;
        latest_dirty_[set] = no_line;
    }
    ++empty_[set];
    return was;
}

bool cache::clean(phys_addr address)
{
    const std::uint32_t set = geometry_.set_of(address);
    const std::size_t slot = find(set, address.value >> geometry_.line_bits());
    if (slot == absent || dirty_[slot] == 0) {
        return false;
    }
    dirty_[slot] = 0;
    latest_dirty_[set] = latest_slot_[set] == slot ? no_line : latest_dirty_[set];
    return true;
}

// Invalid slots go first, the lowest one before the others, whatever the policy.
std::optional<displaced> cache::place(phys_addr address, owner_id owner, bool dirty)
{
    const std::uint64_t line = address.value >> geometry_.line_bits();
    const std::uint32_t set = geometry_.set_of(address);
    std::optional<displaced> victim;
    std::size_t slot = free_slot(set);
    if (slot == absent) {
        slot = std::size_t{set} * geometry_.ways() + replacement_.victim(set, locked_ways_);
        victim =
            displaced{owners_[slot], dirty_[slot] != 0, phys_addr{lines_[slot] << geometry_.line_bits()}};
        statistics_.evicted(victim->owner, owner).add();
        if (victim->dirty) {
            statistics_.of(victim->owner).write_backs.add();
        }
    } else {
        --empty_[set];
    }
    hold(set, slot, line);
    owners_[slot] = owner;
    dirty_[slot] = dirty ? 1 : 0;
    use(set, slot);
    return victim;
}

} // namespace bulkhead::machine
