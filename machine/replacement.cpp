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
    }
}

std::uint32_t replacement_state::least_recently_used(std::uint32_t set) const
{
    const auto first = last_use_.begin() + static_cast<std::ptrdiff_t>(std::size_t{set} * ways_);
    return static_cast<std::uint32_t>(std::min_element(first, first + ways_) - first);
}

} // namespace bulkhead::machine
