// SPDX-License-Identifier: Apache-2.0
// Accesses of the load/store unit to frames that several cores use at once: each is made in order, hits
// included, and snoops other cores' private caches. They bypass the private second level.
#include "machine/load_store_unit.h"

namespace bulkhead::machine {

// Snoops the copies of a line in the cluster's other cores. For a write they are removed; for a read they
// stay, but are no longer newer than the shared level.
load_store_unit::beside load_store_unit::snoop_cluster(phys_addr line, access_kind kind, owner_id owner)
{
    beside found;
    for (load_store_unit *const other : around_.snooped) {
        if (other != this && shares_a_level(*other)) {
            found.held = other->caches_.holds(line) || found.held;
            found.asked = other->caches_.snoop(line, kind, owner, turn_.settled()) || found.asked;
        }
    }
    return found;
}

void load_store_unit::shared(access what, owner_id owner)
{
    picoseconds now = turn_.order();
    const phys_addr line = line_of(what.address);
    const phys_addr tagged{line.value | private_caches::shared_tag};
    const bool write = what.kind == access_kind::write;
    around_.memory.events().add(now, (write ? shared_write_code : shared_read_code) << 32U | turn_.id().value,
                                line.value);
    const bool here = caches_.l1d().contains(tagged);
    beside near;
    std::optional<picoseconds> others;
    if (write || !here) {
        const std::uint64_t written = around_.memory.counts().line_writes;
        near = snoop_cluster(line, what.kind, owner);
        others = bus_.snoop_others(line, what.kind, owner, here || near.held, now);
        bus_.count_sent(written);
    }
    if (here) {
        caches_.l1d().demand_uncounted(tagged, what.kind);
        if (what.dependent) {
            turn_.clock().add_load_use();
        }
    } else if ((near.held || others) && !around_.memory.has_on_way(bus_.way(), line, now)) {
        // A neighbour's L1 supplies the line, or another cluster does.
        tallies_.count(core_event::l1d_refill);
        bus_.count_from_cache(near.held);
        caches_.fill_l1(tagged, what.kind, owner, line_mark::none);
        if (!bus_.way().levels.empty()) {
            turn_.wait_until(around_.memory.level(bus_.way().levels.front()).pass(now),
                             stall_cause::shared_level_hit);
        }
        near.asked = near.asked || near.held;
    } else {
        tallies_.count(core_event::l1d_refill);
        const memory_system::reply reply = bus_.fetch(line, owner, now);
        caches_.fill_l1(tagged, what.kind, owner, line_mark::none);
        wait_for_reply(reply, cause_of(reply.from_memory));
    }
    if (others) { // waits for the data, or for the answer that no other core has the line
        turn_.wait_until(*others, stall_cause::shared_level_hit);
    }
    if (near.asked && !bus_.way().levels.empty()) {
        const level_settings &level = around_.memory.level(bus_.way().levels.front()).settings();
        turn_.wait_until(turn_.settled() + picoseconds{level.snoop_ps}, stall_cause::shared_level_hit);
    }
}

} // namespace bulkhead::machine
