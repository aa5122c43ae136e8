// SPDX-License-Identifier: Apache-2.0
// A core's way out of its private caches: makes requests for lines, waits for room where there is none, and
// counts what a PMU counts at the second level and at the bus. The load/store unit asks it for lines, the
// private caches give it what they write back. All calls come in order (sequencer::order()).
#pragma once

#include "machine/event_tallies.h"
#include "machine/memory_system.h"
#include "machine/sequencer.h"

namespace bulkhead::machine {

class bus_unit {
public:
    // `client`: who is told of arrivals. `private_l2`: events of the second level are not the shared one's.
    // `transfer`: how long a line from the nearest level takes the core's read channel.
    bus_unit(memory_system &memory, memory_client &client, route way, std::uint64_t line_bytes,
             bool private_l2, picoseconds transfer, sequencer &turn, event_tallies &tallies)
        : memory_(memory), client_(client), route_(std::move(way)), uncached_route_{{}, route_.master},
          beats_(line_bytes / beat_bytes), private_l2_(private_l2), transfer_(transfer),
          requester_(requester_of(turn.id().value, false)), turn_(turn), tallies_(tallies)
    {
    }

    [[nodiscard]] memory_system &memory() { return memory_; }
    [[nodiscard]] const route &way() const { return route_; }
    void set_label(mpam_label label) { label_ = label; }
    [[nodiscard]] mpam_label label() const { return label_; }

    // A line through the shared levels, or past them. It can find no room.
    memory_system::reply ask(phys_addr line, owner_id owner, bool prefetch, picoseconds now)
    {
        return ask_by(route_, line, owner, prefetch, now);
    }
    // The same for a demand, which waits for room; moves `now` on then.
    memory_system::reply fetch(phys_addr line, owner_id owner, picoseconds &now)
    {
        return fetch_by(route_, line, owner, now);
    }
    // A read of the table walker or of instructions, which enters every level.
    memory_system::reply fetch_allocating(phys_addr line, owner_id owner, bool instructions, picoseconds &now)
    {
        const std::uint8_t data = requester_;
        allocate_ = true;
        requester_ = requester_of(turn_.id().value, instructions);
        const memory_system::reply reply = fetch_by(route_, line, owner, now);
        allocate_ = false;
        requester_ = data;
        return reply;
    }
    // Maintenance of a line of a shared level of the core's way. Says when that is done.
    picoseconds maintain(std::size_t level, phys_addr line, bool clean, bool invalidate)
    {
        const picoseconds done = memory_.level(level).take_port(turn_.settled());
        memory_.maintain(level, route_, line, clean, invalidate, done);
        return done;
    }
    memory_system::reply fetch_uncached(phys_addr line, owner_id owner, picoseconds &now)
    {
        return fetch_by(uncached_route_, line, owner, now);
    }

    // Whether the next level wants clean lines too that the private caches give up.
    [[nodiscard]] bool keeps_clean() const
    {
        return !route_.levels.empty() && memory_.level(route_.levels.front()).takes_victims();
    }
    // A dirty line of the private caches; says when the next level has taken it.
    picoseconds write_back(written_back line);
    // A clean one; its data may be `coming`.
    void give_up_clean(written_back line, bool coming);
    // A whole line that was never fetched, into the first shared level or past all of them. There is room.
    picoseconds write_streamed(written_back line, bool past_levels);
    // A store that no cache may serve. There is room.
    picoseconds write_uncached(phys_addr line);
    void wait_for_write_room();
    // A line that another cluster has, or is asked to give up for a write (memory_system::snoop_others()).
    std::optional<picoseconds> snoop_others(phys_addr line, access_kind kind, owner_id owner, bool here,
                                            picoseconds now)
    {
        return memory_.snoop_others(route_, request(line, kind, owner, false), here, now);
    }
    // What a line counts that came from a cache beside the core's own levels.
    void count_from_cache(bool own_cluster)
    {
        tallies_.count(core_event::l2d_access);
        if (!own_cluster) {
            tallies_.count(core_event::l2d_refill);
            tallies_.count(core_event::bus_access);
        }
        count_beats();
    }
    // What others' caches gave up for this core had to make room below: what went to DRAM since then for that
    // is this core's.
    void count_sent(std::uint64_t lines_before);
    // A dirty line that another core wants, for which this one executes nothing: not among its events.
    void hand_over(written_back line, picoseconds when) { memory_.write_back(route_, write_of(line), when); }

private:
    static constexpr std::uint64_t beat_bytes = 16; // a data channel of 128 bits, as Cortex-A53's to memory

    [[nodiscard]] line_request request(phys_addr line, access_kind kind, owner_id owner, bool prefetch) const
    {
        return {.line = line,
                .kind = kind,
                .owner = owner,
                .master = static_cast<std::uint32_t>(route_.master),
                .mpam = label_,
                .requester = requester_,
                .prefetch = prefetch,
                .allocate = allocate_};
    }
    // A line that was brought in before, perhaps for another partition than the one that runs now.
    [[nodiscard]] line_request write_of(written_back line) const
    {
        return {.line = line.line,
                .kind = access_kind::write,
                .owner = line.owner,
                .master = static_cast<std::uint32_t>(route_.master),
                .mpam = line.mpam,
                .requester = requester_};
    }
    // What is asked of memory, and what it had to write back for that, is counted as this core's.
    memory_system::reply ask_by(const route &way, phys_addr line, owner_id owner, bool prefetch,
                                picoseconds now)
    {
        memory_system::reply reply =
            memory_.fetch(way, request(line, access_kind::read, owner, prefetch), client_, now);
        if (reply.asked == memory_system::reply::source::nearest_level && reply.writes_below == 0)
            [[likely]] {
            if (!private_l2_) {
                tallies_.count(core_event::l2d_access);
            }
            count_beats();
            if (!reply.from_memory) {
                transfer_from_ = std::max(transfer_from_, reply.when()) + transfer_;
                reply.value = transfer_from_.value - transfer_.value;
            }
        } else {
            note_further(way, reply);
        }
        return reply;
    }
    memory_system::reply fetch_by(const route &way, phys_addr line, owner_id owner, picoseconds &now)
    {
        memory_system::reply reply = ask_by(way, line, owner, false, now);
        if (reply.how == memory_system::reply::state::full) [[unlikely]] {
            reply = ask_again(way, line, owner);
            now = turn_.settled();
        }
        return reply;
    }
    // A line between the core and what is shared.
    void count_beats() { tallies_.count(core_event::beats, beats_); }
    void count_written(std::uint64_t lines_before);
    [[gnu::noinline]] memory_system::reply ask_again(const route &way, phys_addr line, owner_id owner);
    [[gnu::noinline]] void note_further(const route &way, memory_system::reply reply);

    memory_system &memory_;
    memory_client &client_;
    route route_;
    route uncached_route_;
    std::uint64_t beats_; // of a line
    bool private_l2_;
    picoseconds transfer_;
    picoseconds transfer_from_{}; // when the read channel is free
    bool allocate_ = false;
    std::uint8_t requester_;
    mpam_label label_{};
    sequencer &turn_;
    event_tallies &tallies_;
};

} // namespace bulkhead::machine
