// SPDX-License-Identifier: Apache-2.0
// What a cache counts, per owner of memory: accesses, misses, write-backs, and the matrix of which owner
// evicted which. The cache writes the counters; reports read them, also from another thread if they accept
// that the counters continue meanwhile.
#pragma once

#include <cstddef>
#include <vector>

#include "machine/counter.h"
#include "machine/types.h"

namespace bulkhead::machine {

struct owner_statistics {
    counter accesses;        // demand accesses: loads, stores, instruction fetches, or misses of the level
                             // above
    counter misses;          // accesses whose line had to be fetched
    counter received;        // lines that the level above gave up to this one
    counter received_misses; // of `received`: lines that were not present and were allocated
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

    // Number of lines of `victim` that were evicted for a line of `evictor`.
    [[nodiscard]] counter &evicted(owner_id victim, owner_id evictor)
    {
        return evictions_[victim.value * count_ + evictor.value];
    }
    [[nodiscard]] const counter &evicted(owner_id victim, owner_id evictor) const
    {
        return evictions_[victim.value * count_ + evictor.value];
    }
    [[nodiscard]] std::uint64_t evicted_by_others(owner_id victim) const;

    // From now on a partitioned cache counts where the lines of each owner are allocated: by way, and by
    // equal parts of the sets. The places are those where lines really are, not those that a partition was
    // assigned.
    void count_places(std::size_t ways, std::size_t set_parts);
    [[nodiscard]] std::size_t set_parts() const { return set_parts_; } // 0: places are not counted
    [[nodiscard]] std::size_t ways() const { return ways_; }
    // Number of an owner's lines that were allocated in a way, in one part of the sets.
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
    std::size_t count_; // number of owners
    std::vector<owner_statistics> owners_;
    std::vector<counter> evictions_;
    std::size_t ways_ = 0;
    std::size_t set_parts_ = 0;
    std::vector<counter> placed_;
};

} // namespace bulkhead::machine
