// SPDX-License-Identifier: Apache-2.0
// A cache level that several cores share, with its time: every lookup costs a latency and occupies the one
// port for a while, so that cores delay each other. Below it is another level or memory, which the caller
// (machine/memory_system.h) asks next.
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

    // A lookup for a demand at `when`; demands come in order of time. When it has the data, or asks the level
    // below.
    picoseconds pass(picoseconds when) { return take_port(when) + picoseconds{wanted_.latency_ps}; }
    // A line that is not here takes its place at once, marked as coming; the caller knows when it comes. Says
    // what had to go.
    cache::contents take_in(phys_addr line, owner_id owner, mpam_label label, std::uint8_t requester)
    {
        choose_ways(requester);
        return storage_.fill_over(line, owner, access_kind::read, line_mark::coming, label);
    }

    // A line that the level above gives up. Says what had to go: it itself where no way is open.
    std::optional<displaced> receive(const line_request &given)
    {
        if (is_closed_to(given.requester) && !storage_.contains(given.line)) [[unlikely]] {
            return displaced{given.owner, !given.clean, given.line};
        }
        choose_ways(given.requester);
        return storage_.receive(given.as_written_back(), !given.clean,
                                given.coming ? line_mark::coming : line_mark::none);
    }

    // Lockdown while it runs (PL310: DDI 0246H, 3.3.11): ways that take no lines of that requester from now
    // on, be they all of them; what they hold is hit. All requesters from `requesters` on are like the last.
    static constexpr std::size_t requesters = 16;
    void lock_ways(std::uint8_t requester, std::uint64_t ways)
    {
        if (!locked_by_requester_) {
            locked_.fill(wanted_.cache.locked_ways);
            locked_by_requester_ = true;
        }
        locked_[std::min<std::size_t>(requester, requesters - 1)] = ways & all_ways();
    }
    // Whether what it asks for takes no place.
    [[nodiscard]] bool is_closed_to(std::uint8_t requester) const
    {
        return locked_by_requester_ && locked_for(requester) == all_ways();
    }

    // Whether lines enter it when the level above gives them up, clean ones too, and not when it is asked for
    // them.
    [[nodiscard]] bool takes_victims() const { return wanted_.cache.on_eviction; }

    // Holds the port for a lookup, a fill or what the level above gives up, from `when` on, or from when it
    // is free; says from when.
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
