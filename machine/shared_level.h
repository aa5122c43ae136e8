// SPDX-License-Identifier: Apache-2.0
// A cache level that several cores share, with its timing: every lookup has a latency and occupies the only
// port for a while, so that cores delay each other. The level below is another shared level or memory, which
// the caller (machine/memory_system.h) asks next.
#pragma once

#include <algorithm>
#include <array>

#include "machine/cache.h"
#include "machine/memory_request.h"
#include "machine/settings.h"
#include "machine/time.h"

namespace bulkhead::machine {

class shared_level {
public:
    shared_level(cache storage, const level_settings &wanted) : storage_(std::move(storage)), wanted_(wanted)
    {
        storage_.lock_ways(wanted.cache.locked_ways);
    }

    // A lookup for a demand access at `when`; demand accesses come in order of time. Returns when the data of
    // a hit are there, or when the level below is asked.
    picoseconds pass(picoseconds when) { return take_port(when) + picoseconds{wanted_.latency_ps}; }
    // Allocates a line that missed, marked as coming; the caller keeps the time of arrival. Returns the
    // evicted contents.
    cache::contents take_in(phys_addr line, owner_id owner, mpam_label label, std::uint8_t requester)
    {
        choose_ways(requester);
        return storage_.fill_over(line, owner, access_kind::read, line_mark::coming, label);
    }

    // Takes a line that the level above gives up. Returns the evicted line, which is the given line itself if
    // the requester may allocate in no way.
    std::optional<displaced> receive(const line_request &given)
    {
        if (is_closed_to(given.requester) && !storage_.contains(given.line)) [[unlikely]] {
            return displaced{given.owner, !given.clean, given.line};
        }
        choose_ways(given.requester);
        return storage_.receive(given.as_written_back(), !given.clean,
                                given.coming ? line_mark::coming : line_mark::none);
    }

    // Lockdown at run time (PL310: DDI 0246H, 3.3.11): ways in which this requester allocates no lines from
    // now on, possibly all ways; lines in them can still be hit. Requesters from `requesters` on are treated
    // as the last one.
    static constexpr std::size_t requesters = 16;
    void lock_ways(std::uint8_t requester, std::uint64_t ways)
    {
        if (!locked_by_requester_) {
            locked_.fill(wanted_.cache.locked_ways);
            locked_by_requester_ = true;
        }
        locked_[std::min<std::size_t>(requester, requesters - 1)] = ways & all_ways();
    }
    // Whether this requester may allocate in no way.
    [[nodiscard]] bool is_closed_to(std::uint8_t requester) const
    {
        return locked_by_requester_ && locked_for(requester) == all_ways();
    }

    // Whether lines are allocated when the level above evicts them, dirty or clean, and not when they are
    // requested.
    [[nodiscard]] bool takes_victims() const { return wanted_.cache.on_eviction; }

    // Occupies the port for a lookup, a fill or a line from the level above, from `when` on, or later when it
    // is free. Returns the time from which it is occupied.
    picoseconds take_port(picoseconds when)
    {
        const picoseconds start = std::max(when, free_from_);
        free_from_ = start + picoseconds{wanted_.occupancy_ps};
        return start;
    }

    [[nodiscard]] const level_settings &settings() const { return wanted_; }
    [[nodiscard]] const cache &storage() const { return storage_; }
    [[nodiscard]] cache &storage() { return storage_; }

private:
    [[nodiscard]] std::uint64_t all_ways() const
    {
        return wanted_.cache.ways == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << wanted_.cache.ways) - 1;
    }
    [[nodiscard]] std::uint64_t locked_for(std::uint8_t requester) const
    {
        return locked_[std::min<std::size_t>(requester, requesters - 1)];
    }
    void choose_ways(std::uint8_t requester)
    {
        if (locked_by_requester_) [[unlikely]] {
            storage_.lock_ways(locked_for(requester));
        }
    }

    cache storage_;
    level_settings wanted_;
    picoseconds free_from_{};
    bool locked_by_requester_ = false;
    std::array<std::uint64_t, requesters> locked_{};
};

} // namespace bulkhead::machine
