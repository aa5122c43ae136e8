// SPDX-License-Identifier: Apache-2.0
// Private L1 caches over one shared last-level cache. The hierarchy is non-inclusive: an L1 miss reads the
// LLC, a dirty L1 victim is written into it, and an LLC eviction does not affect the L1s. `Shared` says how
// the LLC is accessed (directly, or under a lock); cores must not share an l1_pair. There is no coherence
// between L1s: copies of one line in two L1s both stay.
#pragma once

#include <utility>

#include "machine/cache.h"

namespace bulkhead::machine {

enum class l1_side : std::uint8_t { instruction, data };

// An L1 miss as the shared level sees it: the demanded line, and the dirty line that was evicted for it.
struct l1_miss {
    phys_addr address;
    owner_id owner;
    std::optional<written_back> victim;
};

// The demand is served first and the victim's write-back after it, as with a victim buffer.
inline bool serve(cache &shared, const l1_miss &miss)
{
    const bool hit = shared.access(miss.address, miss.owner, access_kind::read).hit;
    if (miss.victim) {
        shared.receive(*miss.victim);
    }
    return hit;
}

// The private caches of one core. Used by one thread at a time.
class l1_pair {
public:
    l1_pair(cache instruction, cache data) : instruction_(std::move(instruction)), data_(std::move(data)) {}

    [[nodiscard]] cache &side(l1_side side) { return side == l1_side::instruction ? instruction_ : data_; }
    [[nodiscard]] const cache &side(l1_side side) const
    {
        return side == l1_side::instruction ? instruction_ : data_;
    }

    // `owner_of(address)` is called on a miss only and returns an optional<owner_id>; `shared(l1_miss)`
    // serves what missed in L1. False: the address has no owner, so it is not cached, and nothing was
    // counted.
    template <class OwnerOf, class Shared>
    bool access(l1_side which, phys_addr address, access_kind kind, OwnerOf &&owner_of, Shared &&shared)
    {
        cache &level1 = side(which);
        if (level1.hit(address, kind)) [[likely]] {
            return true;
        }
        const std::optional<owner_id> owner = owner_of(address);
        if (!owner) {
            return false;
        }
        l1_miss miss{address, *owner, std::nullopt};
        if (const auto victim = level1.fill(address, *owner, kind); victim && victim->dirty) {
            miss.victim = written_back{victim->line, victim->owner};
        }
        shared(miss);
        return true;
    }

private:
    cache instruction_;
    cache data_;
};

} // namespace bulkhead::machine
