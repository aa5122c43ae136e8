// SPDX-License-Identifier: Apache-2.0
// A naive cache whose correctness is obvious, written without regard to speed: lists, maps, recursion.
// Property tests compare the real model with it access by access; it shares no code with the model except the
// random generator.
#pragma once

#include <list>
#include <map>
#include <optional>
#include <vector>

#include "machine/cache.h"
#include "machine/random.h"

namespace bulkhead::machine::test {

class reference_cache {
public:
    reference_cache(std::uint64_t sets, std::uint32_t ways, std::uint64_t line_bytes, replacement policy,
                    std::uint64_t seed);

    cache::outcome access(std::uint64_t address, owner_id owner, bool write);
    std::optional<displaced> receive(std::uint64_t address, owner_id owner);

    std::map<owner_id, std::uint64_t> accesses, misses, received, received_misses, write_backs;
    std::map<std::pair<owner_id, owner_id>, std::uint64_t> evicted; // (victim, evictor)

private:
    struct held_line {
        std::uint64_t line;
        owner_id owner;
        bool dirty;
    };
    struct set_state {
        std::vector<std::optional<held_line>> ways;
        std::list<std::uint32_t> recency; // most recent first
        std::map<std::pair<std::uint32_t, std::uint32_t>, bool>
            right; // [low, high) of a subtree: whether the victim is in the right half
    };

    held_line *find(std::uint64_t line);
    void touch(set_state &set, std::uint32_t way);
    std::uint32_t choose(set_state &set);
    std::optional<displaced> place(std::uint64_t line, owner_id owner, bool dirty);
    void point_away(set_state &set, std::uint32_t low, std::uint32_t high, std::uint32_t way);
    std::uint32_t follow(set_state &set, std::uint32_t low, std::uint32_t high);

    std::uint64_t line_bytes_;
    std::uint32_t ways_;
    replacement policy_;
    quick_random_source random_;
    std::vector<set_state> sets_;
};

} // namespace bulkhead::machine::test
