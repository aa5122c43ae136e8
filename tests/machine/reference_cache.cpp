// SPDX-License-Identifier: Apache-2.0
// The naive cache; see the header.
#include "reference_cache.h"

namespace bulkhead::machine::test {

reference_cache::reference_cache(std::uint64_t sets, std::uint32_t ways, std::uint64_t line_bytes,
                                 replacement policy, std::uint64_t seed)
    : line_bytes_(line_bytes), ways_(ways), policy_(policy), random_(seed), sets_(sets)
{
    for (auto &set : sets_) {
        set.ways.resize(ways);
    }
}

cache::outcome reference_cache::access(std::uint64_t address, owner_id owner, bool write)
{
    ++accesses[owner];
    const std::uint64_t line = address / line_bytes_;
    if (held_line *held = find(line)) {
        held->dirty = held->dirty || write;
        return {true, std::nullopt};
    }
    ++misses[owner];
    return {false, place(line, owner, write)};
}

std::optional<displaced> reference_cache::receive(std::uint64_t address, owner_id owner)
{
    ++received[owner];
    const std::uint64_t line = address / line_bytes_;
    if (held_line *held = find(line)) {
        held->dirty = true;
        return std::nullopt;
    }
    ++received_misses[owner];
    return place(line, owner, true);
}

reference_cache::held_line *reference_cache::find(std::uint64_t line)
{
    set_state &set = sets_[line % sets_.size()];
    for (std::uint32_t way = 0; way < ways_; ++way) {
        if (set.ways[way] && set.ways[way]->line == line) {
            touch(set, way);
            return &*set.ways[way];
        }
    }
    return nullptr;
}

std::optional<displaced> reference_cache::place(std::uint64_t line, owner_id owner, bool dirty)
{
    set_state &set = sets_[line % sets_.size()];
    const std::uint32_t way = choose(set);
    std::optional<displaced> victim;
    if (const auto &old = set.ways[way]) {
        victim = displaced{old->owner, old->dirty, phys_addr{old->line * line_bytes_}};
        ++evicted[{old->owner, owner}];
        if (old->dirty) {
            ++write_backs[old->owner];
        }
    }
    set.ways[way] = held_line{line, owner, dirty};
    touch(set, way);
    return victim;
}

void reference_cache::touch(set_state &set, std::uint32_t way)
{
    set.recency.remove(way);
    set.recency.push_front(way);
    point_away(set, 0, ways_, way);
}

std::uint32_t reference_cache::choose(set_state &set)
{
    for (std::uint32_t way = 0; way < ways_; ++way) {
        if (!set.ways[way]) {
            return way;
        }
    }
    switch (policy_) {
    case replacement::lru:
        return set.recency.back();
    case replacement::tree_plru:
        return follow(set, 0, ways_);
    case replacement::random:
        break;
    }
    return random_.below(ways_);
}

void reference_cache::point_away(set_state &set, std::uint32_t low, std::uint32_t high, std::uint32_t way)
{
    if (high - low < 2) {
        return;
    }
    const std::uint32_t middle = (low + high) / 2;
    const bool in_right = way >= middle;
    set.right[{low, high}] = !in_right;
    in_right ? point_away(set, middle, high, way) : point_away(set, low, middle, way);
}

std::uint32_t reference_cache::follow(set_state &set, std::uint32_t low, std::uint32_t high)
{
    if (high - low < 2) {
        return low;
    }
    const std::uint32_t middle = (low + high) / 2;
    return set.right[{low, high}] ? follow(set, middle, high) : follow(set, low, middle);
}

} // namespace bulkhead::machine::test
