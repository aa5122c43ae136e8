// SPDX-License-Identifier: Apache-2.0
// Watches for counts; see the header.
#include "machine/event_tallies.h"

#include <utility>

namespace bulkhead::machine {

void event_tallies::watch(core_event which, std::uint64_t count, std::function<void()> reached)
{
    tally &own = tallies_[slot(which)];
    const std::uint64_t counted = of(which);
    own.left = count > counted ? count - counted : tally::far;
    own.goal = counted + own.left;
    reached_[slot(which)] = std::move(reached);
}

void event_tallies::reach(core_event which)
{
    const std::uint64_t counted = of(which);
    tallies_[slot(which)] = {tally::far, counted + tally::far};
    if (const std::function<void()> reached = reached_[slot(which)]) { // a copy: the call may set a new watch
        reached();
    }
}

} // namespace bulkhead::machine
