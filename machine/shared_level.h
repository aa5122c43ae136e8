// SPDX-License-Identifier: Apache-2.0
// A cache level that several cores share, with its time: every lookup costs a latency and occupies the one
// port for a while, so that cores delay each other. Below it is another level or memory, which the caller
// (machine/memory_system.h) asks next.
#pragma once

#include <algorithm>

#include "machine/cache.h"
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
    cache::contents take_in(phys_addr line, owner_id owner, mpam_label label)
    {
        return storage_.fill_over(line, owner, access_kind::read, line_mark::coming, label);
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
    cache storage_;
    level_settings wanted_;
    picoseconds free_from_{};
};

} // namespace bulkhead::machine
