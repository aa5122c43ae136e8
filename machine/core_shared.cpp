// SPDX-License-Identifier: Apache-2.0
// Accesses to frames that several cores use at once: each comes in order, hits included, and sees what other
// cores' private caches hold. They pass by the private second level.
#include "machine/core.h"

#include <algorithm>

namespace bulkhead::machine {

// What the others of the cluster hold of a line: for a write it leaves them, for a read it stays but is not
// newer than the shared level any more.
core::beside core::snoop(phys_addr tagged, access_kind kind)
{
    beside found;
    for (const std::unique_ptr<core> &other : cores_) {
        if (other.get() == this || !shares_a_level(*other) || !other->l1d_.contains(tagged)) {
            continue;
        }
        found.held = true;
        bool dirty = false;
        if (kind == access_kind::write) {
            const std::optional<displaced> was = other->l1d_.invalidate(tagged);
            dirty = was && was->dirty;
            found.asked = true;
        } else {
            dirty = other->l1d_.clean(tagged);
            found.asked = found.asked || dirty;
        }
        if (dirty) {
            other->count(core_event::l1d_write_back);
            const phys_addr line{tagged.value & ~shared_tag & ~line_mask_};
            memory_.write_back(other->route_, {line, ram_.find(line)->owner}, clock_now());
        }
    }
    return found;
}

// A line that no level of the core's way has: a neighbour's L1 gives it, or another cluster.
void core::fill_from_cache(phys_addr line, access_kind kind, owner_id owner, bool own_cluster,
                           picoseconds now)
{
    count(core_event::l1d_refill);
    count(core_event::l2d_access);
    if (!own_cluster) {
        count(core_event::l2d_refill);
        count(core_event::bus_access);
    }
    count_beats();
    fill_l1(phys_addr{line.value | shared_tag}, kind, owner, line_mark::none);
    if (!route_.levels.empty()) {
        wait_until(memory_.level(route_.levels.front()).pass(now), stall_cause::shared_level_hit);
    }
}

void core::shared_access(phys_addr address, access_kind kind, bool dependent, owner_id owner)
{
    picoseconds now = order();
    const phys_addr line{address.value & ~line_mask_};
    const phys_addr tagged{line.value | shared_tag};
    memory_.events().add(
        now, (kind == access_kind::write ? shared_write_code : shared_read_code) << 32U | id_.value,
        line.value);
    const bool here = l1d_.contains(tagged);
    beside near;
    std::optional<picoseconds> others;
    if (kind == access_kind::write || !here) {
        near = snoop(tagged, kind);
        others = memory_.snoop_others(route_, line, kind, here || near.held, now);
    }
    const stall_cause cause = stall_cause::shared_level_hit;
    if (here) {
        l1d_.demand_uncounted(tagged, kind);
        clock_fs_ += dependent ? load_use_fs_ : 0;
    } else if ((near.held || others) && !memory_.has_on_way(route_, line)) {
        fill_from_cache(line, kind, owner, near.held, now);
        near.asked = near.asked || near.held;
    } else {
        count(core_event::l1d_refill);
        const memory_system::reply reply = fetch(route_, line, owner, now);
        fill_l1(tagged, kind, owner, line_mark::none);
        wait_for_reply(reply, cause_of(reply.from_memory));
    }
    if (others) { // the data, or that nobody else has them any more
        wait_until(*others, cause);
    }
    if (near.asked && !route_.levels.empty()) {
        const level_settings &level = memory_.level(route_.levels.front()).settings();
        wait_until(clock_now() + picoseconds{level.snoop_ps}, cause);
    }
}

} // namespace bulkhead::machine
