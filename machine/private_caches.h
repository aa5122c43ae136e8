// SPDX-License-Identifier: Apache-2.0
// The caches of one core: L1 for data and, where the platform has one, a private L2. A fill evicts a line:
// L1's dirty lines, and its clean ones if the next level takes lines on eviction, go to the L2, or without an
// L2 to the bus unit; evictions of the L2 go to the bus unit too. These caches do not know time. The
// load/store unit owns them; accesses of other cores to shared frames reach them through snoops.
#pragma once

#include <optional>

#include "machine/bus_unit.h"
#include "machine/cache.h"
#include "machine/event_tallies.h"
#include "machine/settings.h"

namespace bulkhead::machine {

class private_caches {
public:
    // Set in the addresses of lines of shared frames, so that the fast path never hits them and their
    // accesses are made in order. These lines are never in the L2.
    static constexpr std::uint64_t shared_tag = std::uint64_t{1} << 52U;

    private_caches(const core_settings &wanted, cache l1d, std::optional<cache> l2, bus_unit &bus,
                   event_tallies &tallies)
        : l1d_(std::move(l1d)), l2_(std::move(l2)), bus_(bus), tallies_(tallies),
          l2_fills_(wanted.l2 && !wanted.l2->on_eviction),
          keeps_clean_(wanted.l2 ? wanted.l2->on_eviction : bus.keeps_clean())
    {
        l1d_.lock_ways(wanted.l1d.locked_ways);
        if (l2_) {
            l2_->lock_ways(wanted.l2->locked_ways);
        }
    }

    [[nodiscard]] cache &l1d() { return l1d_; }
    [[nodiscard]] const cache &l1d() const { return l1d_; }
    [[nodiscard]] cache *l2() { return l2_ ? &*l2_ : nullptr; }
    [[nodiscard]] const cache *l2() const { return l2_ ? &*l2_ : nullptr; }
    [[nodiscard]] bool contains(phys_addr line) const
    {
        return l1d_.contains(line) || (l2_ && l2_->contains(line));
    }

    // Also finds lines of shared frames.
    [[nodiscard]] bool holds(phys_addr line) const
    {
        return contains(line) || l1d_.contains(phys_addr{line.value | shared_tag});
    }

    // Allocates a line that missed, in L1 and, if it is filled on fetches, in the L2.
    void fill(phys_addr line, access_kind kind, owner_id owner, line_mark mark)
    {
        if (l2_fills_) {
            fill_l2(line, owner);
        }
        fill_l1(line, kind, owner, mark);
    }
    void fill_l1(phys_addr line, access_kind kind, owner_id owner, line_mark mark)
    {
        const cache::contents gone = l1d_.fill_over(line, owner, kind, mark, bus_.label());
        if (cache::is_dirty(gone)) [[unlikely]] {
            l1_gives_up(l1d_.given_up(gone));
        } else if (keeps_clean_ && cache::is_line(gone)) {
            l1_gives_up_clean(gone);
        }
    }
    [[gnu::noinline]] void fill_l2(phys_addr line, owner_id owner);

    // Takes a line out, also one of a shared frame. Returns the newest contents if they were dirty.
    std::optional<written_back> drop(phys_addr line);
    // Clears the dirty flag of a line, which stays. Returns whether it was dirty.
    bool clean(phys_addr line);
    // Snoop for another core's access to a line of a shared frame: a write invalidates the line here, a read
    // leaves it here clean; dirty contents go to the shared level. True: this was necessary.
    bool snoop(phys_addr line, access_kind kind, owner_id owner, picoseconds when);

private:
    [[gnu::noinline]] void l1_gives_up(written_back gone);
    [[gnu::noinline]] void l1_gives_up_clean(cache::contents slot);
    void l2_gives_up(const std::optional<displaced> &gone);

    cache l1d_;
    std::optional<cache> l2_;
    bus_unit &bus_;
    event_tallies &tallies_;
    bool l2_fills_;    // there is an L2, and it is filled when lines are fetched
    bool keeps_clean_; // the level below L1 takes clean lines that L1 evicts
};

} // namespace bulkhead::machine
