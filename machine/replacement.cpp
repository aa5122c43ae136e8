// SPDX-License-Identifier: Apache-2.0
// Construction and the slow paths of the replacement policies; the header describes each policy.
#include "machine/replacement.h"

#include <array>
#include <bit>
#include <utility>

namespace bulkhead::machine {

namespace {

constexpr std::array<std::pair<std::string_view, replacement>, 3> policy_names{{
    {"lru", replacement::lru},
    {"plru", replacement::tree_plru},
    {"random", replacement::random},
}};

} // namespace

std::optional<replacement> replacement_from_name(std::string_view name)
{
    for (const auto &[known, policy] : policy_names) {
        if (known == name) {
            return policy;
        }
    }
    return std::nullopt;
}

std::string_view replacement_name(replacement policy)
{
    for (const auto &[name, known] : policy_names) {
        if (known == policy) {
            return name;
        }
    }
    return "unknown";
}

result<replacement_state> replacement_state::make(const cache_geometry &geometry, replacement policy,
                                                  std::uint64_t seed)
{
    if (policy == replacement::tree_plru && !std::has_single_bit(geometry.ways())) {
        return refusal{"tree pseudo-LRU over " + std::to_string(geometry.ways()) +
                       " ways: a power of two is needed"};
    }
    switch (policy) {
    case replacement::lru:
        return replacement_state{lru_order(geometry)};
    case replacement::tree_plru:
        return replacement_state{plru_trees(geometry)};
    case replacement::random:
        break;
    }
    return replacement_state{random_choice(geometry, seed)};
}

// --- Random ---

// Each free way is equally likely.
std::uint32_t random_choice::unlocked(locked_ways locked)
{
    std::uint32_t found = 0;
    std::uint32_t seen = 0;
    for (std::uint32_t way = 0; way < ways_; ++way) {
        if ((locked >> way & 1U) == 0) {
            found = random_.below(seen + 1) == 0 ? way : found;
            ++seen;
        }
    }
    return found;
}

// --- LRU ---

std::uint32_t lru_order::victim(std::size_t set, locked_ways locked) const
{
    const std::uint64_t *const uses = last_use_.data() + set * ways_;
    std::uint32_t oldest = ways_;
    for (std::uint32_t way = 0; way < ways_; ++way) {
        if ((locked >> way & 1U) == 0 && (oldest == ways_ || uses[way] < uses[oldest])) {
            oldest = way;
        }
    }
    return oldest;
}

// --- Tree pseudo-LRU ---

plru_trees::plru_trees(const cache_geometry &geometry) : ways_(geometry.ways()), trees_(geometry.sets())
{
    for (std::uint32_t way = 0; way < ways_; ++way) {
        turns_.push_back(away_from(way));
    }
}

plru_trees::turn plru_trees::away_from(std::uint32_t way) const
{
    turn all;
    for (std::uint32_t node = ways_ + way; node > 1; node >>= 1U) {
        const std::uint64_t bit = std::uint64_t{1} << (node >> 1U);
        const bool came_from_right = (node & 1U) != 0;
        (came_from_right ? all.cleared : all.set) |= bit;
    }
    return all;
}

// The way that the tree points to, avoiding halves that are completely locked.
std::uint32_t plru_trees::unlocked(std::size_t set, locked_ways locked) const
{
    std::uint32_t node = 1;
    for (std::uint32_t span = ways_ / 2; span != 0; span /= 2) {
        node = 2 * node + static_cast<std::uint32_t>((trees_[set] >> node) & 1U);
        const std::uint32_t first = node * span - ways_; // the first way below this node
        bool any = false;
        for (std::uint32_t way = first; way < first + span; ++way) {
            any = any || (locked >> way & 1U) == 0;
        }
        node = any ? node : node ^ 1U;
    }
    return node - ways_;
}

} // namespace bulkhead::machine
