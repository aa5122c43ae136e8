// SPDX-License-Identifier: Apache-2.0
// Which line of a full set goes: exact LRU, tree pseudo-LRU, or seeded random. Caches call touch() on every
// use and victim() when a full set must give up a line; nothing here knows tags or owners.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "machine/cache_geometry.h"
#include "machine/random.h"

namespace bulkhead::machine {

enum class replacement : std::uint8_t { lru, tree_plru, random };

// "lru", "plru" or "random", as platform files say it.
std::optional<replacement> replacement_from_name(std::string_view name);
std::string_view replacement_name(replacement policy);

class replacement_state {
public:
    // Tree pseudo-LRU needs a power of two of ways.
    static result<replacement_state> make(const cache_geometry &geometry, replacement policy,
                                          std::uint64_t seed);

    [[nodiscard]] replacement policy() const { return policy_; }

    // `slot`: set * ways + way.
    void touch(std::size_t set, std::size_t slot)
    {
        if (policy_ == replacement::random) [[likely]] {
            return;
        }
        if (policy_ == replacement::lru) {
            last_use_[slot] = ++clock_;
        } else {
            const turn &away = turns_[slot - set * ways_];
            trees_[set] = (trees_[set] & ~away.cleared) | away.set;
        }
    }

    // `locked`: ways that must not go (bit w: way w), not all of them.
    std::uint32_t victim(std::size_t set, std::uint64_t locked = 0)
    {
        if (locked != 0) [[unlikely]] {
            return unlocked_victim(set, locked);
        }
        if (policy_ == replacement::random) [[likely]] {
            return random_.below(ways_);
        }
        return policy_ == replacement::lru ? least_recently_used(set) : pointed_at(trees_[set]);
    }

    // Whether draw() does for victim().
    [[nodiscard]] bool quick(std::uint64_t locked) const
    {
        return policy_ == replacement::random && locked == 0;
    }
    std::uint32_t draw() { return random_.below(ways_); }

private:
    replacement_state(const cache_geometry &geometry, replacement policy, std::uint64_t seed);

    [[gnu::noinline]] [[nodiscard]] std::uint32_t least_recently_used(std::size_t set) const;
    [[gnu::noinline]] std::uint32_t unlocked_victim(std::size_t set, std::uint64_t locked);

    // A tree of ways - 1 bits in heap order (root 1, children 2n and 2n + 1): a set bit sends the search for
    // a victim to the right half. The leaves are the ways, numbered ways_ + way.
    struct turn {
        std::uint64_t cleared = 0;
        std::uint64_t set = 0;
    };
    [[nodiscard]] turn away_from(std::uint32_t way) const;

    [[nodiscard]] std::uint32_t pointed_at(std::uint64_t tree) const
    {
        std::uint32_t node = 1;
        while (node < ways_) {
            node = 2 * node + static_cast<std::uint32_t>((tree >> node) & 1U);
        }
        return node - ways_;
    }

    replacement policy_;
    std::uint32_t ways_;
    std::uint64_t clock_ = 0;
    std::vector<std::uint64_t> last_use_; // per line: when, on clock_ (LRU)
    std::vector<std::uint64_t> trees_;    // per set (tree pseudo-LRU)
    std::vector<turn> turns_;             // per way: what turns its tree's nodes away from it
    quick_random_source random_;
};

} // namespace bulkhead::machine
