// SPDX-License-Identifier: Apache-2.0
// A core's interface to what lies below its private caches: requests lines, waits for room if there is none,
// and counts the PMU's events of the second level and of the bus. The load/store unit requests lines from it,
// and the private caches hand it their write-backs. All calls come in order of simulated time
// (sequencer::order()).
#pragma once

#include "machine/event_tallies.h"
#include "machine/memory_system.h"
#include "machine/sequencer.h"

namespace bulkhead::machine {

class bus_unit {
public:
    // `client`: is told when lines arrive. `private_l2`: the events of the second level are counted for the
    // private L2 and not for the shared one. `transfer`: how long a line from the nearest level occupies the
    // core's read channel.
    bus_unit(memory_system &memory, memory_client &client, route way, std::uint64_t line_bytes,
             bool private_l2, picoseconds transfer, sequencer &turn, event_tallies &tallies)
        : memory_(memory), client_(client), route_(std::move(way)), uncached_route_{{}, route_.master},
          beats_(line_bytes / beat_bytes), private_l2_(private_l2),
          has_l3_(route_.levels.size() > (private_l2 ? 0U : 1U)), transfer_(transfer),
          requester_(requester_of(turn.id().value, false)), turn_(turn), tallies_(tallies)
    {
    }

    [[nodiscard]] memory_system &memory() { return memory_; }
    [[nodiscard]] const route &way() const { return route_; }
    // Whether a shared level lies behind the second level.
    [[nodiscard]] bool has_l3() const { return has_l3_; }
    void set_label(mpam_label label) { label_ = label; }
    [[nodiscard]] mpam_label label() const { return label_; }

    // Requests a line through the shared levels, or past them. The reply can be `full`: no room.
    memory_system::reply ask(phys_addr line, owner_id owner, bool prefetch, picoseconds now)
    {
        return ask_by(route_, line, owner, prefetch, now);
    }
    // Like ask(), for a demand access: waits until there is room, and then moves `now` forward.
    memory_system::reply fetch(phys_addr line, owner_id owner, picoseconds &now)
    {
        return fetch_by(route_, line, owner, now);
    }
    // A read of the table walker or an instruction fetch: the line is allocated in every level.
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
    // Maintenance of a line in a shared level on the core's route. Returns when it is done.
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

    // Whether the next level also takes clean lines that the private caches evict.
    [[nodiscard]] bool keeps_clean() const
    {
        return !route_.levels.empty() && memory_.level(route_.levels.front()).takes_victims();
    }
    // Writes back a dirty line of the private caches. Returns when the next level has taken it.
    picoseconds write_back(written_back line);
    // Hands an evicted clean line to the next level. `coming`: its data may not have arrived yet.
    void give_up_clean(written_back line, bool coming);
    // Writes a whole line that was never fetched into the first shared level, or past all of them. The caller
    // has checked that there is room.
    picoseconds write_streamed(written_back line, bool past_levels);
    // A store to uncached memory. The caller has checked that there is room.
    picoseconds write_uncached(phys_addr line);
    void wait_for_write_room();
    // Snoops other clusters for a line: one of them may have it, or must give it up for a write
    // (memory_system::snoop_others()).
    std::optional<picoseconds> snoop_others(phys_addr line, access_kind kind, owner_id owner, bool here,
                                            picoseconds now)
    {
        return memory_.snoop_others(route_, request(line, kind, owner, false), here, now);
    }
    // Counts the events of a line that came from a cache outside of the core's own levels.
    void count_from_cache(bool own_cluster)
    {
        tallies_.count(core_event::l2d_access);
        if (!own_cluster) {
            tallies_.count(core_event::l2d_refill);
            tallies_.count(core_event::bus_access);
            count_l3_refill();
        }
        count_beats();
    }
    // Other caches made room below for lines that they gave up for this core. Counts the lines that went to
    // DRAM for this since `lines_before` as this core's.
    void count_sent(std::uint64_t lines_before);
    // Writes back a dirty line that another core wants. This core executes nothing for it, so it is not among
    // its events.
    void hand_over(written_back line, picoseconds when) { memory_.write_back(route_, write_of(line), when); }

private:
    static constexpr std::uint64_t beat_bytes = 16; // a data channel of 128 bits, as that of Cortex-A53 to
                                                    // memory

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
    // A write-back. The line may have been brought in for another partition than the one that runs now.
    [[nodiscard]] line_request write_of(written_back line) const
    {
        return {.line = line.line,
                .kind = access_kind::write,
                .owner = line.owner,
                .master = static_cast<std::uint32_t>(route_.master),
                .mpam = line.mpam,
                .requester = requester_};
    }
    // Requests to memory, and the write-backs that they caused, are counted as this core's events.
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
    // One line is transferred between the core and the shared part.
    void count_beats() { tallies_.count(core_event::beats, beats_); }
    void count_l3_refill() { tallies_.count(core_event::l3d_refill, has_l3_ ? 1 : 0); }
    void count_written(std::uint64_t lines_before);
    [[gnu::noinline]] memory_system::reply ask_again(const route &way, phys_addr line, owner_id owner);
    [[gnu::noinline]] void note_further(const route &way, memory_system::reply reply);

    memory_system &memory_;
    memory_client &client_;
    route route_;
    route uncached_route_;
    std::uint64_t beats_; // bus beats of one line
    bool private_l2_;
    bool has_l3_;
    picoseconds transfer_;
    picoseconds transfer_from_{}; // when the read channel becomes free
    bool allocate_ = false;
    std::uint8_t requester_;
    mpam_label label_{};
    sequencer &turn_;
    event_tallies &tallies_;
};

} // namespace bulkhead::machine
