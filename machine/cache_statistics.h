// SPDX-License-Identifier: Apache-2.0
// What a cache counts, per owner of memory: accesses, misses, write-backs, and the matrix of who evicted
// whom. The cache writes it, reports read it, from another thread too if they accept that counters move on.
#pragma once

#include <cstddef>
#include <vector>

#include "machine/counter.h"
#include "machine/types.h"

namespace bulkhead::machine {

struct owner_statistics {
    counter accesses;        // demand: loads, stores, instruction fetches, or misses of the level above
    counter misses;          // of them, lines that had to be fetched
    counter received;        // lines that the level above gave up to this one
    counter received_misses; // of them, lines that were not here and were allocated
    counter write_backs;     // dirty lines sent to the level below
};

class cache_statistics {
public:
    explicit cache_statistics(std::size_t owners)
        : count_(owners), owners_(owners), evictions_(owners * owners)
    {
    }

    [[nodiscard]] std::size_t owner_count() const { return count_; }
    [[nodiscard]] owner_statistics &of(owner_id owner) { return owners_[owner.value]; }
    [[nodiscard]] const owner_statistics &of(owner_id owner) const { return owners_[owner.value]; }

    // Lines of `victim` that had to go for a line of `evictor`.
    [[nodiscard]] counter &evicted(owner_id victim, owner_id evictor)
    {
        return evictions_[victim.value * count_ + evictor.value];
    }
    [[nodiscard]] const counter &evicted(owner_id victim, owner_id evictor) const
    {
        return evictions_[victim.value * count_ + evictor.value];
    }
    [[nodiscard]] std::uint64_t evicted_by_others(owner_id victim) const;

    // From now on a cache that is partitioned counts where the lines of each owner go: by way, and by equal
    // parts of the sets. Places follow from where lines are, not from what a partition was given.
    void count_places(std::size_t ways, std::size_t set_parts);
    [[nodiscard]] std::size_t set_parts() const { return set_parts_; } // 0: nothing of that is counted
    [[nodiscard]] std::size_t ways() const { return ways_; }
    // Lines of an owner that a way took in, in a part of the sets.
    [[nodiscard]] counter &placed(owner_id owner, std::size_t way, std::size_t part)
    {
        return placed_[(owner.value * ways_ + way) * set_parts_ + part];
    }
    [[nodiscard]] const counter &placed(owner_id owner, std::size_t way, std::size_t part) const
    {
        return placed_[(owner.value * ways_ + way) * set_parts_ + part];
    }

    void reset();

private:
    std::size_t count_; // of owners
    std::vector<owner_statistics> owners_;
    std::vector<counter> evictions_;
    std::size_t ways_ = 0;
    std::size_t set_parts_ = 0;
    std::vector<counter> placed_;
};

} // namespace bulkhead::machine
