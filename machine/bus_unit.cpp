// SPDX-License-Identifier: Apache-2.0
// Write-backs, waiting for room, and the counts of accesses beyond the nearest level; see the header.
#include "machine/bus_unit.h"

namespace bulkhead::machine {

void bus_unit::note_further(const route &way, memory_system::reply reply)
{
    using source = memory_system::reply::source;
    if (reply.how == memory_system::reply::state::full) {
        return;
    }
    if (&way == &uncached_route_) {
        tallies_.count(core_event::beats); // an uncached access reads what it asks for, not a line
    } else {
        count_beats();
    }
    if (!private_l2_ && !way.levels.empty()) {
        tallies_.count(core_event::l2d_access);
        if (reply.asked != source::nearest_level) {
            tallies_.count(core_event::l2d_refill);
        }
    }
    if (reply.asked == source::memory) {
        tallies_.count(core_event::bus_access);
        if (&way != &uncached_route_) {
            count_l3_refill();
        }
    }
    if (reply.writes_below != 0) {
        if (!private_l2_) {
            tallies_.count(core_event::l2d_write_back, reply.writes_below);
        }
        tallies_.count(core_event::bus_access, reply.writes_below);
    }
}

// A client has room when sequencer::room() says so, or after memory has answered its next line, for which a
// level may be waiting.
memory_system::reply bus_unit::ask_again(const route &way, phys_addr line, owner_id owner)
{
    for (;;) {
        turn_.wait_for_room(memory_.next_landing(turn_.settled()), stall_cause::memory);
        const memory_system::reply reply = ask_by(way, line, owner, false, turn_.settled());
        if (reply.how != memory_system::reply::state::full) {
            return reply;
        }
    }
}

void bus_unit::wait_for_write_room()
{
    while (!memory_.has_room(route_, client_, label_, turn_.settled())) {
        turn_.wait_for_room(memory_.next_landing(turn_.settled()), stall_cause::store_buffer);
    }
}

// Counts a line that left the core, and the lines that were written to DRAM because of it.
void bus_unit::count_written(std::uint64_t lines_before)
{
    tallies_.count(core_event::l2d_access, private_l2_ ? 0 : 1);
    tallies_.count(core_event::l2d_write_back, private_l2_ ? 1 : 0);
    count_sent(lines_before);
    count_beats();
}

// Counts the lines that the shared levels have written to DRAM since then.
void bus_unit::count_sent(std::uint64_t lines_before)
{
    if (const std::uint64_t sent = memory_.counts().line_writes - lines_before; sent != 0) [[unlikely]] {
        tallies_.count(core_event::l2d_write_back, private_l2_ ? 0 : sent);
        tallies_.count(core_event::bus_access, sent);
    }
}

picoseconds bus_unit::write_back(written_back line)
{
    const std::uint64_t before = memory_.counts().line_writes;
    const picoseconds taken = memory_.write_back(route_, write_of(line), turn_.settled());
    count_written(before);
    return taken;
}

void bus_unit::give_up_clean(written_back line, bool coming)
{
    line_request given = write_of(line);
    given.clean = true;
    given.coming = coming;
    const std::uint64_t before = memory_.counts().line_writes;
    memory_.write_back(route_, given, turn_.settled());
    tallies_.count(core_event::l2d_access);
    count_sent(before);
    count_beats();
}

picoseconds bus_unit::write_streamed(written_back line, bool past_levels)
{
    if (!past_levels) {
        return write_back(line);
    }
    const std::uint64_t before = memory_.counts().line_writes;
    const memory_system::passed line_passed = memory_.write_past(route_, write_of(line), turn_.settled());
    count_written(before);
    return line_passed.taken;
}

picoseconds bus_unit::write_uncached(phys_addr line)
{
    const memory_system::passed store =
        memory_.write_past(uncached_route_, request(line, access_kind::write, {}, false), turn_.settled());
    tallies_.count(core_event::beats);
    tallies_.count(core_event::bus_access);
    return store.taken;
}

} // namespace bulkhead::machine
