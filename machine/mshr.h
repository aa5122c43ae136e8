// SPDX-License-Identifier: Apache-2.0
// The lines that a core has requested and whose data have not arrived yet: line, purpose, and time of
// arrival. They are allocated in the caches already (machine/cache.h marks them). A core owns one
// (machine/load_store_unit.h). Entries whose data have arrived are removed only when the number of entries is
// asked for: every miss adds an entry, but the number is needed rarely.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "machine/time.h"
#include "machine/types.h"

namespace bulkhead::machine {

class mshr_file {
public:
    static constexpr std::uint32_t most = 32;                // entries of each purpose
    static constexpr picoseconds unknown{~std::uint64_t{0}}; // until memory has decided

    enum class purpose : std::uint8_t { load, store, prefetch };
    struct entry {
        phys_addr line;
        std::uint64_t ticket;
        std::uint64_t instruction; // count of instructions when the miss began
        picoseconds when;          // when the data arrive
        bool from_memory;
    };

    // Whether `limit` or more entries of a purpose have not received their data by `now`.
    bool full(purpose why, std::uint32_t limit, picoseconds now)
    {
        queue &own = of(why);
        if (own.count < limit) {
            return false;
        }
        own.forget(now);
        return own.count >= limit;
    }
    // in_flight(): the number of entries of all purposes that have not received their data by `now`. full():
    // whether these are `limit` or more; if so, first() returns the one that arrives first, as far as known.
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
        std::uint32_t known = 0; // may include entries that have arrived; those are removed only if it
                                 // matters
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
    // any(): whether there is an entry in flight; oldest(): the oldest entry.
    bool any(purpose why, picoseconds now) { return full(why, 1, now); }
    [[nodiscard]] const entry &oldest(purpose why) const { return queues_[slot(why)].at(0); }

    // The entry of a line that arrives last (a line can be evicted and requested again before it has
    // arrived), or null. Valid until the next change.
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

    // Must not be called when full(why, most).
    void add(purpose why, const entry &added) { of(why).push(added); }
    // A demand access hit a prefetched line: moves its entry to `why`, if it is still in flight.
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
    // Memory has decided when the line of a ticket arrives.
    void arrives(std::uint64_t ticket, picoseconds when)
    {
        for (queue &one : queues_) {
            if (one.unknown != 0 && one.arrives(ticket, when)) {
                return;
            }
        }
    }

private:
    // Entries in the order of the requests.
    struct queue {
        std::array<entry, most> entries{};
        std::uint32_t first = 0;
        std::uint32_t count = 0;
        std::uint32_t unknown = 0; // entries whose time of arrival is not known
        bool in_order = true;      // entries arrive in the order of the requests
        picoseconds latest{};      // latest known time of arrival, including entries that have arrived

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
        // Removes entries that arrived before older ones.
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
