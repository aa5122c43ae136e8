// SPDX-License-Identifier: Apache-2.0
// Sums and reset of a cache's statistics; see the header. Not called on the path of an access.
#include "machine/cache_statistics.h"

#include <algorithm>

namespace bulkhead::machine {

std::uint64_t cache_statistics::evicted_by_others(owner_id victim) const
{
    std::uint64_t sum = 0;
    for (std::size_t evictor = 0; evictor < owners_.size(); ++evictor) {
        if (evictor != victim.value) {
            sum += evicted(victim, owner_id{static_cast<std::uint8_t>(evictor)}).get();
        }
    }
    return sum;
}

void cache_statistics::count_places(std::size_t ways, std::size_t set_parts)
{
    ways_ = ways;
    set_parts_ = set_parts;
    placed_.assign(count_ * ways * set_parts, counter{});
}

void cache_statistics::reset()
{
    std::fill(owners_.begin(), owners_.end(), owner_statistics{});
    std::fill(evictions_.begin(), evictions_.end(), counter{});
    std::fill(placed_.begin(), placed_.end(), counter{});
}

} // namespace bulkhead::machine
