// SPDX-License-Identifier: Apache-2.0
// Construction and the slow half of the replacement policies; see the header for what each one does.
#include "machine/replacement.h"

#include <algorithm>
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
    return replacement_state{geometry, policy, seed};
}

replacement_state::replacement_state(const cache_geometry &geometry, replacement policy, std::uint64_t seed)
    : policy_(policy), ways_(geometry.ways()), random_(seed)
{
    if (policy == replacement::lru) {
        last_use_.resize(std::size_t{geometry.sets()} * geometry.ways());
    } else if (policy == replacement::tree_plru) {
        trees_.resize(geometry.sets());
        for (std::uint32_t way = 0; way < ways_; ++way) {
            turns_.push_back(away_from(way));
        }
    }
}

replacement_state::turn replacement_state::away_from(std::uint32_t way) const
{
    turn all;
    for (std::uint32_t node = ways_ + way; node > 1; node >>= 1U) {
        const std::uint64_t bit = std::uint64_t{1} << (node >> 1U);
        const bool came_from_right = (node & 1U) != 0;
        (came_from_right ? all.cleared : all.set) |= bit;
    }
    return all;
}

std::uint32_t replacement_state::least_recently_used(std::size_t set) const
{
    const auto first = last_use_.begin() + static_cast<std::ptrdiff_t>(set * ways_);
    return static_cast<std::uint32_t>(std::min_element(first, first + ways_) - first);
}

// Among the ways that are not locked: the least recently used, a random one, or where the tree points when it
// is turned away from halves that are locked altogether.
std::uint32_t replacement_state::unlocked_victim(std::size_t set, std::uint64_t locked)
{
    const auto free = [&](std::uint32_t way) { return (locked >> way & 1U) == 0; };
    if (policy_ == replacement::tree_plru) {
        std::uint32_t node = 1;
        for (std::uint32_t span = ways_ / 2; span != 0; span /= 2) {
            node = 2 * node + static_cast<std::uint32_t>((trees_[set] >> node) & 1U);
            const std::uint32_t first = node * span - ways_; // the first way below this node
            bool any = false;
            for (std::uint32_t way = first; way < first + span; ++way) {
                any = any || free(way);
            }
            node = any ? node : node ^ 1U;
        }
        return node - ways_;
    }
    std::uint32_t found = 0;
    std::uint32_t seen = 0;
    for (std::uint32_t way = 0; way < ways_; ++way) {
        if (!free(way)) {
            continue;
        }
        const bool older = policy_ == replacement::lru &&
                           (seen == 0 || last_use_[set * ways_ + way] < last_use_[set * ways_ + found]);
        const bool drawn = policy_ == replacement::random && random_.below(seen + 1) == 0;
        found = older || drawn ? way : found;
        ++seen;
    }
    return found;
}

} // namespace bulkhead::machine
