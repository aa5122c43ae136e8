// SPDX-License-Identifier: Apache-2.0
// Accesses to frames that several cores use at once: each comes in order, hits included, and sees what other
// cores' private caches hold. They pass by the private second level.
#include "machine/core.h"

#include <algorithm>

namespace bulkhead::machine {

// What the others hold of a line: for a write it leaves them, for a read it stays but is not newer than the
// shared level any more. True: somebody had to be asked.
bool core::snoop(phys_addr tagged, access_kind kind)
{
    bool found = false;
    for (const std::unique_ptr<core> &other : cores_) {
        if (other.get() == this || !other->l1d_.contains(tagged)) {
            continue;
        }
        bool dirty = false;
        if (kind == access_kind::write) {
            const std::optional<displaced> was = other->l1d_.invalidate(tagged);
            dirty = was && was->dirty;
            found = true;
        } else {
            dirty = other->l1d_.clean(tagged);
            found = found || dirty;
        }
        if (dirty) {
            other->count(core_event::l1d_write_back);
            const phys_addr line{tagged.value & ~shared_tag & ~line_mask_};
            memory_.write_back(other->route_, {line, ram_.find(line)->owner}, clock_now());
        }
    }
    return found;
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
    const bool asked = (kind == access_kind::write || !here) && snoop(tagged, kind);
    const stall_cause cause = stall_cause::shared_level_hit;
    if (here) {
        l1d_.demand_uncounted(tagged, kind);
        clock_fs_ += dependent ? load_use_fs_ : 0;
    } else {
        count(core_event::l1d_refill);
        const memory_system::reply reply = fetch(route_, line, owner, now);
        fill_l1(tagged, kind, owner, line_mark::none);
        wait_for_reply(reply, cause_of(reply.from_memory));
    }
    if (asked && !route_.levels.empty()) {
        const level_settings &level = memory_.level(route_.levels.front()).settings();
        wait_until(clock_now() + picoseconds{level.snoop_ps}, cause);
    }
}

} // namespace bulkhead::machine
