// SPDX-License-Identifier: Apache-2.0
// Counts of a core's events, and callbacks for when a count is reached (a PMU's overflow). All parts of a
// core count here. An event's count is goal - left: `left` is counted down to the watched value, so that one
// comparison serves both purposes.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "machine/core_counts.h"

namespace bulkhead::machine {

class event_tallies {
public:
    void count(core_event which)
    {
        if (--tallies_[slot(which)].left == 0) [[unlikely]] {
            reach(which);
        }
    }
    void count(core_event which, std::uint64_t times)
    {
        tally &own = tallies_[slot(which)];
        const bool reached = own.left <= times;
        own.left -= times;
        if (reached) [[unlikely]] {
            reach(which);
        }
    }
    [[nodiscard]] std::uint64_t of(core_event which) const
    {
        const tally &own = tallies_[slot(which)];
        return own.goal - own.left;
    }

    // `reached` is called during the access that counts the event for the `count`th time; it may call watch()
    // again. count 0: never.
    void watch(core_event which, std::uint64_t count, std::function<void()> reached);

private:
    struct tally {
        static constexpr std::uint64_t far = std::uint64_t{1} << 63U;
        std::uint64_t left = far;
        std::uint64_t goal = far;
    };

    static constexpr std::size_t slot(core_event which) { return static_cast<std::size_t>(which); }
    [[gnu::noinline, gnu::cold]] void reach(core_event which);

    std::array<tally, core_event_count> tallies_;
    std::array<std::function<void()>, core_event_count> reached_;
};

} // namespace bulkhead::machine
