// SPDX-License-Identifier: Apache-2.0
// Replacement policies: which line of a full set is evicted. Each policy is a type with touch(), called on
// every use of a line, and victim(), called when a full set must evict a line; replacement_state holds the
// policy of one cache. Policies know neither tags nor owners.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "machine/cache_geometry.h"
#include "machine/random.h"

namespace bulkhead::machine {

enum class replacement : std::uint8_t { lru, tree_plru, random };

// "lru", "plru" or "random", as in platform files.
std::optional<replacement> replacement_from_name(std::string_view name);
std::string_view replacement_name(replacement policy);

// Ways that must not be evicted, bit w for way w; not all of them.
using locked_ways = std::uint64_t;

// A random way, from a seeded generator.
class random_choice {
public:
    random_choice(const cache_geometry &geometry, std::uint64_t seed) : ways_(geometry.ways()), random_(seed)
    {
    }
    std::uint32_t draw() { return random_.below(ways_); }
    std::uint32_t victim(locked_ways locked) { return locked == 0 ? draw() : unlocked(locked); }

private:
    [[gnu::noinline]] std::uint32_t unlocked(locked_ways locked);

    std::uint32_t ways_;
    quick_random_source random_;
};

// The least recently used way.
class lru_order {
public:
    explicit lru_order(const cache_geometry &geometry)
        : ways_(geometry.ways()), last_use_(std::size_t{geometry.sets()} * geometry.ways())
    {
    }
    void touch(std::size_t set, std::uint32_t way) { last_use_[set * ways_ + way] = ++clock_; }
    [[gnu::noinline]] [[nodiscard]] std::uint32_t victim(std::size_t set, locked_ways locked) const;

private:
    std::uint32_t ways_;
    std::uint64_t clock_ = 0;
    std::vector<std::uint64_t> last_use_; // per line: value of clock_ at its last use
};

// For each set a tree of ways - 1 bits in heap order (root 1, children 2n and 2n + 1): a set bit leads the
// search for a victim to the right half. The leaves are the ways, numbered ways_ + way; the number of ways is
// a power of two.
class plru_trees {
public:
    explicit plru_trees(const cache_geometry &geometry);
    void touch(std::size_t set, std::uint32_t way)
    {
        const turn &away = turns_[way];
        trees_[set] = (trees_[set] & ~away.cleared) | away.set;
    }
    [[nodiscard]] std::uint32_t victim(std::size_t set, locked_ways locked) const
    {
        if (locked != 0) [[unlikely]] {
            return unlocked(set, locked);
        }
        std::uint32_t node = 1;
        while (node < ways_) {
            node = 2 * node + static_cast<std::uint32_t>((trees_[set] >> node) & 1U);
        }
        return node - ways_;
    }

private:
    // Bits to clear and to set so that all nodes on the path to a way point away from it.
    struct turn {
        std::uint64_t cleared = 0;
        std::uint64_t set = 0;
    };
    [[nodiscard]] turn away_from(std::uint32_t way) const;
    [[gnu::noinline]] [[nodiscard]] std::uint32_t unlocked(std::size_t set, locked_ways locked) const;

    std::uint32_t ways_;
    std::vector<std::uint64_t> trees_;
    std::vector<turn> turns_; // per way
};

class replacement_state {
public:
    // Tree pseudo-LRU needs a power of two as number of ways.
    static result<replacement_state> make(const cache_geometry &geometry, replacement policy,
                                          std::uint64_t seed);

    // Checks for random replacement first, as the caches of most cores have it.
    void touch(std::size_t set, std::uint32_t way)
    {
        if (std::holds_alternative<random_choice>(policy_)) [[likely]] {
            return;
        }
        if (auto *const order = std::get_if<lru_order>(&policy_)) {
            order->touch(set, way);
        } else {
            std::get_if<plru_trees>(&policy_)->touch(set, way);
        }
    }
    std::uint32_t victim(std::size_t set, locked_ways locked = 0)
    {
        if (auto *const choice = std::get_if<random_choice>(&policy_)) [[likely]] {
            return choice->victim(locked);
        }
        if (const auto *const order = std::get_if<lru_order>(&policy_)) {
            return order->victim(set, locked);
        }
        return std::get_if<plru_trees>(&policy_)->victim(set, locked);
    }

    // Whether touch() changes the state.
    [[nodiscard]] bool keeps_order() const { return !std::holds_alternative<random_choice>(policy_); }
    // Whether draw() can be called instead of victim().
    [[nodiscard]] bool quick(locked_ways locked) const
    {
        return std::holds_alternative<random_choice>(policy_) && locked == 0;
    }
    std::uint32_t draw() { return std::get_if<random_choice>(&policy_)->draw(); }

private:
    using any = std::variant<random_choice, lru_order, plru_trees>;
    explicit replacement_state(any policy) : policy_(std::move(policy)) {}

    any policy_;
};

} // namespace bulkhead::machine
