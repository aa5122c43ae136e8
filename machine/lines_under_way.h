// SPDX-License-Identifier: Apache-2.0
// The lines that a core has asked for and whose data have not come yet: which, why, and when they come. Their
// places in the caches are taken already (machine/cache.h marks them). A core owns one (machine/core.h). What
// has come is forgotten only when somebody asks how many there are: every miss adds an entry, few ask.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "machine/time.h"
#include "machine/types.h"

namespace bulkhead::machine {

class lines_under_way {
public:
    static constexpr std::uint32_t most = 32;                // of each purpose
    static constexpr picoseconds unknown{~std::uint64_t{0}}; // until memory says

    enum class purpose : std::uint8_t { load, store, prefetch };
    struct entry {
        phys_addr line;
        std::uint64_t ticket;
        std::uint64_t instruction; // when it began, by the count of instructions
        picoseconds when;          // of the data
        bool from_memory;
    };

    // Whether there are `limit` or more of a purpose whose data have not come by `now`.
    bool full(purpose why, std::uint32_t limit, picoseconds now)
    {
        queue &own = of(why);
        if (own.count < limit) {
            return false;
        }
        own.forget(now);
        return own.count >= limit;
    }
    // Whether there is any; the oldest of them.
    bool any(purpose why, picoseconds now) { return full(why, 1, now); }
    [[nodiscard]] const entry &oldest(purpose why) const { return queues_[slot(why)].at(0); }

    // The last to come of those for a line (it can be given up and asked for again before it has come), or
    // null. Valid until the next change.
    [[nodiscard]] const entry *find(phys_addr line, picoseconds now) const
    {
        const entry *found = nullptr;
        for (const queue &one : queues_) {
            for (std::uint32_t i = 0; i < one.count; ++i) {
                const entry &own = one.at(i);
                if (own.line == line && own.when > now && (found == nullptr || own.when > found->when)) {
                    found = &own;
                }
            }
        }
        return found;
    }

    // Not when full(why, most).
    void add(purpose why, const entry &added) { of(why).push(added); }
    // A prefetched line is wanted now, if it is still on its way.
    void want(phys_addr line, purpose why, std::uint64_t instruction, picoseconds now)
    {
        queue &ahead = of(purpose::prefetch);
        ahead.forget(now);
        for (std::uint32_t i = 0; i < ahead.count; ++i) {
            if (ahead.at(i).line == line) {
                entry wanted = ahead.at(i);
                wanted.instruction = instruction;
                ahead.remove(i);
                of(why).push(wanted);
                return;
            }
        }
    }
    // Memory has said when the line of a ticket comes.
    void arrives(std::uint64_t ticket, picoseconds when)
    {
        for (queue &one : queues_) {
            for (std::uint32_t i = 0; i < one.count; ++i) {
                entry &own = one.at(i);
                if (own.ticket == ticket && own.when == unknown) {
                    own.when = when;
                    one.arrivals[one.place(i)] = when;
                    return;
                }
            }
        }
    }

private:
    // In the order of asking.
    struct queue {
        std::array<picoseconds, most> arrivals{}; // of the entries, for those who look at no more
        std::array<entry, most> entries{};
        std::uint32_t first = 0;
        std::uint32_t count = 0;

        [[nodiscard]] std::uint32_t place(std::uint32_t i) const { return (first + i) % most; }
        [[nodiscard]] entry &at(std::uint32_t i) { return entries[place(i)]; }
        [[nodiscard]] const entry &at(std::uint32_t i) const { return entries[place(i)]; }
        void push(const entry &added)
        {
            const std::uint32_t last = place(count++);
            entries[last] = added;
            arrivals[last] = added.when;
        }
        void remove(std::uint32_t which)
        {
            for (--count; which < count; ++which) {
                at(which) = at(which + 1);
                arrivals[place(which)] = arrivals[place(which + 1)];
            }
        }
        void forget(picoseconds now)
        {
            for (; count != 0 && arrivals[first] <= now; --count) {
                first = (first + 1) % most;
            }
            for (std::uint32_t i = 1; i < count; ++i) {
                if (arrivals[place(i)] <= now) [[unlikely]] {
                    remove(i--);
                }
            }
        }
    };

    static constexpr std::size_t slot(purpose why) { return static_cast<std::size_t>(why); }
    [[nodiscard]] queue &of(purpose why) { return queues_[slot(why)]; }

    std::array<queue, 3> queues_{};
};

} // namespace bulkhead::machine
