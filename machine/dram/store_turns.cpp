// SPDX-License-Identifier: Apache-2.0
// When stores become critical, are served and rest; see the header.
#include "machine/dram/store_turns.h"

namespace bulkhead::machine::dram {

void store_turns::look(store &which, std::uint32_t size, clocks now)
{
    if (which.size == 0 && size != 0) {
        which.unserved = now;
    } else if (which.size != 0 && size == 0) {
        which.emptied = now;
    }
    which.size = size;
}

// An empty store never becomes critical.
clocks store_turns::critical_at(const store &which) const
{
    return which.size == 0 ? ~clocks{0} : std::max(which.unserved + how_.starve, which.rests_until);
}

void store_turns::give_turn(bool writing, std::uint32_t run)
{
    writing_ = writing;
    run_left_ = run;
}

turn store_turns::take(const queued_requests &all, clocks now)
{
    look(stores_[0], all.reads.size(), now);
    look(stores_[1], all.writes.size(), now);
    const store &own = stores_[writing_ ? 1 : 0];
    const store &other = stores_[writing_ ? 0 : 1];
    if (run_left_ != 0 && own.size != 0) {
        return {.writing = writing_};
    }
    // Reads have the turn by default: it returns to them at once.
    const clocks idle_until = own.size != 0 ? ~clocks{0} : own.emptied + (writing_ ? 0 : how_.idle);
    const clocks critical = critical_at(other);
    if (other.size != 0 && (critical <= now || idle_until <= now)) {
        give_turn(!writing_, critical <= now ? how_.run : 0);
        // The store that loses its turn may become critical while it waits, but not during a run.
        return {.until = run_left_ != 0 ? ~clocks{0} : critical_at(own), .writing = writing_};
    }
    run_left_ = 0;
    return {.until = other.size != 0 ? std::min(critical, idle_until) : ~clocks{0}, .writing = writing_};
}

void store_turns::served(bool write, clocks when)
{
    store &own = stores_[write ? 1 : 0];
    own.unserved = when;
    if (write == writing_ && run_left_ != 0 && --run_left_ == 0) {
        own.rests_until = when + how_.rest;
    }
}

} // namespace bulkhead::machine::dram
