// SPDX-License-Identifier: Apache-2.0
// The lines that a core has asked for and whose data have not come yet: which, why, and when they come. Their
// places in the caches are taken already (machine/cache.h marks them). A core owns one
// (machine/load_store_unit.h). What has come is forgotten only when somebody asks how many there are: every
// miss adds an entry, few ask.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "machine/time.h"
#include "machine/types.h"

namespace bulkhead::machine {

class mshr_file {
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
    // How many there are of all purposes whose data have not come by `now`; whether they are `limit` or more,
    // in which case first() may be asked which of them comes first, as far as is known.
    std::uint32_t in_flight(picoseconds now)
    {
        std::uint32_t sum = 0;
        for (queue &one : queues_) {
            one.forget(now);
            sum += one.count;
        }
        return sum;
    }
    bool full(std::uint32_t limit, picoseconds now)
    {
        std::uint32_t known = 0; // some have come, perhaps, which is looked at if it matters
        for (const queue &one : queues_) {
            known += one.count;
        }
        return known >= limit && in_flight(now) >= limit;
    }
    [[nodiscard]] entry first() const
    {
        const entry *found = nullptr;
        for (const queue &one : queues_) {
            for (std::uint32_t i = 0; i < one.count; ++i) {
                const entry &own = one.at(i);
                if (found == nullptr || own.when < found->when ||
                    (own.when == found->when && own.ticket < found->ticket)) {
                    found = &own;
                }
            }
        }
        return *found;
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
            if (one.all_come(now)) {
                continue;
            }
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
                ahead.unknown -= wanted.when == unknown ? 1 : 0;
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
            if (one.unknown != 0 && one.arrives(ticket, when)) {
                return;
            }
        }
    }

private:
    // In the order of asking.
    struct queue {
        std::array<entry, most> entries{};
        std::uint32_t first = 0;
        std::uint32_t count = 0;
        std::uint32_t unknown = 0; // of them, that nobody knows the time of
        bool in_order = true;      // they come as they were asked for
        picoseconds latest{};      // of the others, and of those that have come

        [[nodiscard]] entry &at(std::uint32_t i) { return entries[(first + i) % most]; }
        [[nodiscard]] const entry &at(std::uint32_t i) const { return entries[(first + i) % most]; }
        [[nodiscard]] bool all_come(picoseconds now) const { return unknown == 0 && latest <= now; }
        void push(const entry &added)
        {
            if (added.when == mshr_file::unknown) {
                ++unknown;
            } else {
                if (unknown != 0 || added.when < latest) [[unlikely]] {
                    in_order = false;
                }
                latest = std::max(latest, added.when);
            }
            at(count++) = added;
        }
        void remove(std::uint32_t which)
        {
            for (--count; which < count; ++which) {
                at(which) = at(which + 1);
            }
        }
        bool arrives(std::uint64_t ticket, picoseconds when)
        {
            for (std::uint32_t i = 0; i < count; ++i) {
                entry &own = at(i);
                if (own.ticket == ticket && own.when == mshr_file::unknown) {
                    own.when = when;
                    --unknown;
                    in_order = in_order && (i == 0 || at(i - 1).when <= when);
                    latest = std::max(latest, when);
                    return true;
                }
            }
            return false;
        }
        void forget(picoseconds now)
        {
            for (; count != 0 && at(0).when <= now; --count) {
                first = (first + 1) % most;
            }
            if (!in_order) {
                forget_others(now);
            }
        }
        // Those that came before older ones.
        [[gnu::noinline]] void forget_others(picoseconds now)
        {
            in_order = true;
            for (std::uint32_t i = 1; i < count; ++i) {
                if (at(i).when <= now) [[unlikely]] {
                    remove(i--);
                } else {
                    in_order = in_order && at(i - 1).when <= at(i).when;
                }
            }
        }
    };

    static constexpr std::size_t slot(purpose why) { return static_cast<std::size_t>(why); }
    [[nodiscard]] queue &of(purpose why) { return queues_[slot(why)]; }

    std::array<queue, 3> queues_{};
};

} // namespace bulkhead::machine
