// SPDX-License-Identifier: Apache-2.0
// Accesses of the load/store unit to frames that several cores use at once: each comes in order, hits
// included, and sees what other cores' private caches hold. They pass by the private second level.
#include "machine/load_store_unit.h"

namespace bulkhead::machine {

// What the others hold of a line: for a write it leaves them, for a read it stays but is not newer than the
// shared level any more. True: somebody had to be asked.
bool load_store_unit::snoop_others(phys_addr line, access_kind kind, owner_id owner)
{
    bool found = false;
    for (load_store_unit *const other : around_.snooped) {
        if (other != this) {
            found = other->caches_.snoop(line, kind, owner, turn_.settled()) || found;
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
    const bool asked = (write || !here) && snoop_others(line, what.kind, owner);
    if (here) {
        caches_.l1d().demand_uncounted(tagged, what.kind);
        if (what.dependent) {
            turn_.clock().add_load_use();
        }
    } else {
        tallies_.count(core_event::l1d_refill);
        const memory_system::reply reply = bus_.fetch(line, owner, now);
        caches_.fill_l1(tagged, what.kind, owner, line_mark::none);
        wait_for_reply(reply, cause_of(reply.from_memory));
    }
    if (asked && !bus_.way().levels.empty()) {
        const level_settings &level = around_.memory.level(bus_.way().levels.front()).settings();
        turn_.wait_until(turn_.settled() + picoseconds{level.snoop_ps}, stall_cause::shared_level_hit);
    }
}

} // namespace bulkhead::machine
