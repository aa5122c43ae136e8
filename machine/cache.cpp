// SPDX-License-Identifier: Apache-2.0
// The miss path of a cache: choosing a slot, counting the eviction, placing the line; see the header.
#include "machine/cache.h"

#include <algorithm>
#include <utility>

namespace bulkhead::machine {

namespace {

// The smallest power of two that is at least `count`.
std::uint32_t shift_of(std::size_t count)
{
    return static_cast<std::uint32_t>(std::countr_zero(std::bit_ceil(count)));
}

} // namespace

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
      line_bits_(geometry.line_bits()), set_mask_(geometry.sets() - 1), ways_(geometry.ways()),
      slots_shift_(shift_of(ways_)), tags_shift_(shift_of(std::max<std::size_t>(ways_, tag_bytes::count))),
      recent_(geometry.sets(), recent{.empty = geometry.ways()}),
      tags_(first_tag(geometry.sets()), tag_of(no_line)),
      slots_(first_slot(geometry.sets()) + tag_bytes::count, nothing)
{
}

std::vector<std::uint64_t> cache::lines_of_owners() const
{
    std::vector<std::uint64_t> lines(statistics_.owner_count());
    for (const contents slot : slots_) {
        if (is_line(slot)) {
            ++lines[owner_of(slot).value];
        }
    }
    return lines;
}

void cache::remark(phys_addr address, line_mark mark)
{
    const place where = place_of(address);
    recent &own = recent_[where.set];
    const std::size_t slot = slots_[own.slot] >> line_shift == where.line ? own.slot : find(where);
    if (slot != absent) {
        slots_[slot] = (slots_[slot] & ~mark_flags) | static_cast<std::uint64_t>(mark);
        remember(own);
    }
}

std::optional<displaced> cache::receive(written_back line, bool dirty, line_mark mark)
{
    owner_statistics &counts = statistics_.of(line.owner);
    counts.received.add();
    const place where = place_of(line.line);
    const std::size_t slot = find(where);
    if (slot != absent) {
        slots_[slot] |= dirty ? dirty_flag : 0;
        if (replacement_.keeps_order()) {
            use(where.set, slot);
        }
        return std::nullopt;
    }
    const contents gone =
        put(where, line.owner, (dirty ? dirty_flag : 0) | static_cast<std::uint64_t>(mark), line.mpam);
    if (gone == not_allocated) [[unlikely]] {
        if (dirty) {
            counts.write_backs.add();
        }
        gone_label_ = line.mpam;
        return displaced{line.owner, dirty, line.line};
    }
    counts.received_misses.add();
    return displaced_from(gone);
}

cache::contents cache::fill_over_slowly(phys_addr address, owner_id owner, std::uint64_t flags,
                                        mpam_label label)
{
    count_miss(owner);
    return put(place_of(address), owner, flags, label);
}

void cache::keep_labels(partitioned_allocation *allocation)
{
    labels_.assign(slots_.size(), {});
    keeps_labels_ = true;
    allocation_ = allocation;
    lock_ways(locked_ways_);
}

// Invalid slots are filled first, the lowest one before the others, whatever the policy.
cache::contents cache::put(const place &where, owner_id owner, std::uint64_t flags, mpam_label label)
{
    if (keeps_labels_) [[unlikely]] {
        return put_labelled(where, owner, flags, label);
    }
    std::uint32_t &empty = recent_[where.set].empty;
    std::uint32_t way = empty == 0 ? no_way : free_way(where.set);
    empty -= way != no_way ? 1 : 0;
    const bool full = way == no_way;
    way = full ? replacement_.victim(where.set, locked_ways_) : way;
    const contents gone = hold(where, way, owner, flags);
    if (full) {
        count_eviction(gone, owner);
    }
    replacement_.touch(where.set, way);
    return gone;
}

// As put(), for caches whose lines have labels. An allocation control, if there is one, decides which ways a
// line may take.
cache::contents cache::put_labelled(const place &where, owner_id owner, std::uint64_t flags, mpam_label label)
{
    const std::size_t first = first_slot(where.set);
    const std::uint64_t empty = empty_ways(where.set);
    std::uint64_t open = ~locked_ways_;
    if (allocation_ != nullptr) {
        open &= allocation_->open_ways(label, where.set, std::span(labels_).subspan(first, ways_), empty);
        if (open == 0) {
            return not_allocated;
        }
    }
    const std::uint64_t free = empty & open;
    const std::uint32_t way = free != 0 ? static_cast<std::uint32_t>(std::countr_zero(free))
                                        : replacement_.victim(where.set, ~open);
    const contents gone = hold(where, way, owner, flags);
    if (const std::size_t parts = statistics_.set_parts(); parts != 0) {
        statistics_.placed(owner, way, where.set * parts / geometry_.sets()).add();
    }
    gone_label_ = std::exchange(labels_[first + way], label);
    if (free != 0) {
        --recent_[where.set].empty;
    } else {
        count_eviction(gone, owner);
    }
    if (allocation_ != nullptr) {
        allocation_->replaced(free != 0 ? std::nullopt : std::optional(gone_label_), label);
    }
    replacement_.touch(where.set, way);
    return gone;
}

std::uint64_t cache::empty_ways(std::size_t set) const
{
    std::uint64_t empty = 0;
    if (recent_[set].empty != 0) {
        for (std::uint32_t way = 0; way < ways_; ++way) {
            empty |= slots_[first_slot(set) + way] == nothing ? std::uint64_t{1} << way : 0;
        }
    }
    return empty;
}

// The lowest empty way that is not locked, or none.
std::uint32_t cache::free_way(std::size_t set) const
{
    for (std::uint32_t way = 0; way < ways_; ++way) {
        if (slots_[first_slot(set) + way] == nothing && (locked_ways_ >> way & 1U) == 0) {
            return way;
        }
    }
    return no_way;
}

std::optional<displaced> cache::invalidate(phys_addr address)
{
    const place where = place_of(address);
    const std::size_t slot = find(where);
    if (slot == absent) {
        return std::nullopt;
    }
    if (keeps_labels_) {
        gone_label_ = labels_[slot];
    }
    const std::optional<displaced> was = displaced_from(slots_[slot]);
    if (allocation_ != nullptr) {
        allocation_->left(gone_label_);
    }
    slots_[slot] = nothing;
    tags_[first_tag(where.set) + way_of(where.set, slot)] = tag_of(no_line);
    recent &own = recent_[where.set];
    remember(own);
    ++own.empty;
    return was;
}

bool cache::clean(phys_addr address)
{
    const place where = place_of(address);
    const std::size_t slot = find(where);
    if (slot == absent || (slots_[slot] & dirty_flag) == 0) {
        return false;
    }
    slots_[slot] &= ~dirty_flag;
    remember(recent_[where.set]);
    return true;
}

} // namespace bulkhead::machine
