// SPDX-License-Identifier: Apache-2.0
// Private L1 caches over one shared last-level cache: what each core puts between itself and memory. The
// hierarchy is non-inclusive: an L1 miss reads the LLC, a dirty L1 victim is written into it, an LLC eviction
// leaves the L1s alone. `Shared` says how the LLC is reached (directly, or under a lock); cores must not
// share an l1_pair. There is no coherence between L1s: copies of a line that two cores hold stay where they
// are.
#pragma once

#include <utility>

#include "machine/cache.h"

namespace bulkhead::machine {

enum class l1_side : std::uint8_t { instruction, data };

// An L1 miss as the shared level sees it: the demanded line, and the dirty line that had to go for it.
struct l1_miss {
    phys_addr address;
    owner_id owner;
    std::optional<written_back> victim;
};

// The demand goes first, the write-back of the victim after it, as through a victim buffer.
inline bool serve(cache &shared, const l1_miss &miss)
{
    const bool hit = shared.access(miss.address, miss.owner, access_kind::read).hit;
    if (miss.victim) {
        shared.receive(*miss.victim);
    }
    return hit;
}

// The private caches of one core. One thread at a time.
class l1_pair {
public:
    l1_pair(cache instruction, cache data) : instruction_(std::move(instruction)), data_(std::move(data)) {}

    [[nodiscard]] cache &side(l1_side side) { return side == l1_side::instruction ? instruction_ : data_; }
    [[nodiscard]] const cache &side(l1_side side) const
    {
        return side == l1_side::instruction ? instruction_ : data_;
    }

    // `owner_of(address)` is asked on a miss only and gives an optional<owner_id>; `shared(l1_miss)` takes
    // what L1 could not serve. False: nobody can own that address, so it is not cached, and nothing was
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
