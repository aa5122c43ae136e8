// SPDX-License-Identifier: Apache-2.0
// Everything behind the private caches: shared levels, the interconnect with its regulators, DRAM. It answers
// a request for a line with the time of the data, or with a ticket if that time depends on later decisions of
// DRAM. Requests come in order of time; the engine (machine/engine.h) ensures that.
#pragma once

#include <array>
#include <bit>
#include <memory>
#include <vector>

#include "machine/digest.h"
#include "machine/dram/memory.h"
#include "machine/event_code.h"
#include "machine/memory_request.h"
#include "machine/regulator.h"
#include "machine/ring.h"
#include "machine/shared_level.h"

namespace bulkhead::machine {

// A requester of lines: a core, a DMA engine.
class memory_client {
public:
    using ticket = std::uint64_t;
    memory_client() = default;
    memory_client(const memory_client &) = delete;
    memory_client &operator=(const memory_client &) = delete;
    virtual ~memory_client() = default;
    // The line of a ticket arrives at `when`.
    virtual void arrived(ticket id, picoseconds when) = 0;
    // A request that was refused for lack of room may be repeated at `when`.
    virtual void room(picoseconds when) = 0;
    // Inclusion: a shared level evicted the line, so the client must drop it. Returns the newest contents, if
    // they were dirty here.
    virtual std::optional<written_back> drop(phys_addr line) = 0;
    // Whether the client's own caches have the line.
    [[nodiscard]] virtual bool holds(phys_addr line) const = 0;
};

// The route of a client's requests to memory.
struct route {
    std::vector<std::size_t> levels; // shared levels, nearest first
    std::size_t master = 0;
};

struct level_counts {
    std::uint64_t lookups = 0;
    std::uint64_t misses = 0;
    std::uint64_t received = 0;    // lines that the level above gave up to it
    std::uint64_t write_backs = 0; // dirty lines written to the level below
};

struct memory_counts {
    std::uint64_t fetches = 0;        // lines that clients requested
    std::uint64_t level_hits = 0;     // fetches that hit in a shared level
    std::uint64_t joined = 0;         // fetches of a line that was already in flight for another client
    std::uint64_t line_reads = 0;     // fetches that were requested from DRAM
    std::uint64_t answered = 0;       // line reads that DRAM has answered
    std::uint64_t line_writes = 0;    // lines written to DRAM
    std::uint64_t bursts_written = 0; // bursts of these lines that the controller has taken over
    std::uint64_t refused = 0;        // fetches that found no room and were repeated
    std::uint64_t snoop_hits = 0;     // lines that the interconnect found in a cluster by snooping
    std::uint64_t region_lines = 0;   // lines read from and written to on-chip memory
};

class memory_system {
public:
    using ticket = memory_client::ticket;

    struct reply {
        enum class state : std::uint8_t {
            known,  // the data arrive at `when`
            coming, // arrived(id) will give the time
            full    // no room, nothing has happened: room() will say when to try again
        };
        // the last one that was looked up
        enum class source : std::uint8_t { nearest_level, further_level, memory };
        std::uint64_t value; // known: time in picoseconds; coming: the ticket
        state how;
        source asked;
        bool from_memory;          // the data come from memory, requested by this request or an earlier one
        std::uint8_t writes_below; // lines that were written to memory to make room for it

        [[nodiscard]] picoseconds when() const { return picoseconds{value}; }
        [[nodiscard]] ticket id() const { return value; }
    };

    memory_system(const settings &wanted, std::vector<cache> levels, dram::memory memory);

    // Registers clients whose private caches lie above the levels of their route, for inclusion and
    // coherence.
    void attach(memory_client &client, const route &way);

    // Requests a line that the client's own caches do not have.
    [[gnu::noinline]] reply fetch(const route &way, const line_request &wanted, memory_client &client,
                                  picoseconds now)
    {
        if (full_levels_ != 0 || !wants_room_.empty() ||
            ports_[wanted.master].writes_in_flight >= writes_allowed_) [[unlikely]] {
            return fetch_if_room(way, wanted, client, now);
        }
        return fetch_now(way, wanted, client, now);
    }
    // Returns when a line of a client without caches may be sent; the client then sends it by the functions
    // below. Its regulator is in front of the shared levels, while the regulator of cores delays requests
    // between the shared levels and DRAM.
    picoseconds admit(const route &way, access_kind kind, picoseconds when)
    {
        port &own = ports_[way.master];
        return (kind == access_kind::read ? own.reads : own.writes).admit(when, line_bytes_);
    }
    // Reads a line for a client without caches; it is allocated nowhere. `coherent`: the data come from a
    // cluster that has the line, where it stays unchanged (ReadOnce); otherwise, or if no cluster has it,
    // from DRAM. The caller has called admit().
    reply fetch_past(const route &way, const line_request &wanted, memory_client &client, picoseconds when,
                     bool coherent);
    // Writes a line that a client gives up, dirty or clean (line_request::clean), or a whole line that was
    // written without being fetched (call has_room() first). Never refused. Returns when the first level, or
    // the interconnect, has taken it.
    picoseconds write_back(const route &way, const line_request &line, picoseconds when);
    // Writes a whole line past the shared levels; if one of them has a copy, the copy is updated instead.
    // `admitted`: the regulator has admitted it already; otherwise it does when the line goes to DRAM.
    struct passed {
        picoseconds taken; // by the first level: the next line may follow then, unless the regulator delays
                           // it
        picoseconds gone;  // to DRAM, or into the level that has a copy
    };
    passed write_past(const route &way, const line_request &line, picoseconds when, bool admitted = false);
    // A line, or a part of it, that a client without caches writes to DRAM. Copies in clusters are
    // invalidated; if only a part is written, a dirty copy is written to DRAM first (WriteLineUnique,
    // WriteUnique). The caller has called admit(). Returns when the interconnect has taken it.
    picoseconds write_coherent(const line_request &line, bool whole, picoseconds when);
    // Snoops other clusters for a line of a shared frame. `here`: whether the private caches of the
    // requester's own cluster have the line. Returns when the answer has arrived, with the data if another
    // cluster has the line; nothing if none has, or if the own cluster's copy suffices. For a write, copies
    // in other clusters are invalidated.
    std::optional<picoseconds> snoop_others(const route &way, const line_request &wanted, bool here,
                                            picoseconds now);
    // Whether a shared level on the route has the line, or has requested it and still waits for it. An L1
    // that has allocated a place for such a line cannot supply it yet.
    [[nodiscard]] bool has_on_way(const route &way, phys_addr line, picoseconds now);
    // Time after `now` at which the next line arrives of those that DRAM has decided on; never: there is
    // none. A refused request may wait for this arrival; later ones are announced by memory_client::room().
    picoseconds next_landing(picoseconds now);
    // Whether a write with this label may be sent; if not, client.room() will say when. Clients of one master
    // are served in the order of their first refusal: all are told of room at the same time and retry in the
    // order of their numbers, so without this the last one would starve.
    bool has_room(const route &way, memory_client &client, mpam_label label, picoseconds now);
    // A client that was refused will not retry: it loses its place in the order.
    void give_up_waiting(const memory_client &client, picoseconds now);

    // next(): time of DRAM's next decision. decide(): makes the decisions that are due by then.
    [[nodiscard]] picoseconds next() const { return next_; }
    [[gnu::noinline]] void decide();

    // Turns a level on or off. While it is off, its cores' requests bypass it and all levels behind it and go
    // to memory; its contents stay. All levels are on at the start.
    void turn_level(std::size_t index, bool on);
    // Cache maintenance of a line in a level at `when`. `clean`: its newest contents go to memory;
    // `invalidate`: the line leaves the level. The client at `way` takes the level's port for it first.
    void maintain(std::size_t index, const route &way, phys_addr line, bool clean, bool invalidate,
                  picoseconds when);

    [[nodiscard]] shared_level &level(std::size_t index) { return levels_[index].cache; }
    [[nodiscard]] const shared_level &level(std::size_t index) const { return levels_[index].cache; }
    [[nodiscard]] std::size_t level_count() const { return levels_.size(); }
    [[nodiscard]] const level_counts &counts_of_level(std::size_t index) const
    {
        return levels_[index].counts;
    }
    [[nodiscard]] regulator &reads_of(std::size_t master) { return ports_[master].reads; }
    [[nodiscard]] regulator &writes_of(std::size_t master) { return ports_[master].writes; }
    [[nodiscard]] std::uint64_t line_bytes() const { return line_bytes_; }
    [[nodiscard]] const memory_counts &counts() const { return counts_; }
    [[nodiscard]] const dram::memory &memory() const { return memory_; }
    [[nodiscard]] dram::memory &memory() { return memory_; }
    // Advances DRAM's own clock to `now` and returns its profile. Nothing may happen before `now` any more.
    [[nodiscard]] dram::memory_profile profile(picoseconds now) { return memory_.profile(now); }
    [[nodiscard]] digest &events() { return digest_; }
    [[nodiscard]] const digest &events() const { return digest_; }

    static constexpr picoseconds never{~std::uint64_t{0}};

private:
    struct level_state {
        shared_level cache;
        level_counts counts;
        std::uint32_t misses;         // lines that the level has requested and that are in flight
        std::uint32_t misses_allowed; // without a limit: more than there can be
    };
    struct port {
        picoseconds request, answer;
        regulator reads, writes;
        std::uint32_t writes_in_flight; // in bursts
        // Writes in flight by partition, if partitions are distinguished: a partition whose writes wait does
        // not delay the others.
        std::vector<std::uint32_t> writes_of_partition{};
    };
    struct waiter {
        memory_client *client;
        ticket id;
    };
    // Why a request was refused: `writes`: its master, or with MPAM its partition, has the maximum of writes
    // in flight; `lines`: a level has the maximum of lines in flight. Clients that share a level share its
    // master.
    enum class room : std::uint8_t { writes, lines };
    struct want {
        std::size_t master;
        room what;
        std::size_t partition; // 0 for `lines`, and without MPAM

        bool operator==(const want &) const = default;
    };
    struct refused_client {
        memory_client *client;
        want wanted;
    };
    // A line in flight from DRAM. `levels`: bit i: it is allocated in level i.
    struct alignas(128) flight {
        phys_addr line; // no_line: the line has arrived
        std::uint64_t levels = 0;
        std::uint64_t fills = 0; // subset of `levels`: those whose port the fill takes when the line arrives
        picoseconds when{};      // when the data arrive; never: DRAM has not decided yet
        picoseconds answer_latency{};
        std::uint32_t parts = 0; // bursts that DRAM has not answered yet
        picoseconds last_part{};
        waiter first{nullptr, 0};
        std::vector<waiter> joined;
    };
    struct landing {
        std::size_t flight;
        picoseconds when;
    };
    struct above {
        memory_client *client;
        const route *way;
        std::size_t cluster;
    };
    // A group of caches that are coherent with each other without the interconnect: its shared levels, the
    // last level last, and the clients above them.
    struct cluster {
        std::vector<std::size_t> levels;
        std::vector<memory_client *> clients;
        std::uint32_t master;
    };
    // What a snoop of the interconnect requests. keep: the data, and the line stays. take: the data, and the
    // line is invalidated. clean_out: the line is invalidated after its data were written to memory.
    enum class snoop_kind : std::uint8_t { keep, take, clean_out };
    struct snooped {
        bool found;
        picoseconds answered;
    };
    // Client of reads whose data no one waits for.
    class no_client final : public memory_client {
        void arrived(ticket, picoseconds) override {}
        void room(picoseconds) override {}
        std::optional<written_back> drop(phys_addr) override { return std::nullopt; }
        [[nodiscard]] bool holds(phys_addr) const override { return false; }
    };
    static constexpr phys_addr no_line{~std::uint64_t{0}};
    static constexpr ticket write_ticket = ticket{1} << 63U; // combined with the number of the master
    static constexpr std::uint32_t partition_shift = 32;     // position of the partition in such a ticket

    // Every path except that of a hit ends in a tail call, so that a hit saves no registers.
    [[gnu::always_inline]] reply fetch_now(const route &way, const line_request &wanted,
                                           memory_client &client, picoseconds now)
    {
        ++counts_.fetches;
        digest_.add(now, fetch_code << 32U | wanted.master, wanted.line.value);
        if (way.levels.empty() || beside_levels_) [[unlikely]] {
            return fetch_beside(way, wanted, client, now);
        }
        return fetch_nearest(way, wanted, client, now);
    }
    [[gnu::always_inline]] reply fetch_nearest(const route &way, const line_request &wanted,
                                               memory_client &client, picoseconds now)
    {
        if (next_landing_ <= now) {
            expire(now); // fills take the ports before later lookups
        }
        level_state &nearest = levels_[way.levels.front()];
        ++nearest.counts.lookups;
        const picoseconds when = nearest.cache.pass(now);
        const presence found = nearest.cache.storage().shared_demand(wanted.line);
        if (found == presence::absent) {
            return fetch_below(way, wanted, client, now, when);
        }
        if (found == presence::coming) [[unlikely]] {
            return join_nearest(way, wanted, client, now, when);
        }
        ++counts_.level_hits;
        return {when.value, reply::state::known, reply::source::nearest_level, false, 0};
    }
    [[gnu::noinline]] reply fetch_if_room(const route &way, const line_request &wanted, memory_client &client,
                                          picoseconds now);
    [[gnu::noinline]] reply fetch_beside(const route &way, const line_request &wanted, memory_client &client,
                                         picoseconds now);
    // Whether a line bypasses the levels: its region lies beside them, or they are off.
    [[nodiscard]] bool passes_levels(phys_addr line) const
    {
        if (!beside_levels_) [[likely]] {
            return false;
        }
        const region_settings *const region = region_at(line);
        return levels_off_ != 0 || (region != nullptr && region->beside_levels);
    }
    [[gnu::noinline]] reply fetch_below(const route &way, const line_request &wanted, memory_client &client,
                                        picoseconds now, picoseconds when);
    [[gnu::noinline]] reply join_nearest(const route &way, const line_request &wanted, memory_client &client,
                                         picoseconds now, picoseconds when);
    [[gnu::noinline]] reply ask_memory(const route &way, const line_request &wanted, memory_client &client,
                                       picoseconds now, picoseconds when);
    reply request_line(const route &way, const line_request &wanted, memory_client &client, picoseconds now,
                       picoseconds when);
    reply join(std::size_t level, phys_addr line, memory_client &client, picoseconds now, picoseconds when,
               reply::source asked);
    flight *find_flight(phys_addr line, std::size_t level);
    [[nodiscard]] std::uint8_t &in_flight_near(phys_addr line)
    {
        return in_flight_[line.value / line_bytes_ % in_flight_.size()];
    }
    // Whether the level below `depth` also takes clean lines that the level at `depth` evicts.
    [[nodiscard]] bool passes_clean(const route &way, std::size_t depth) const
    {
        return depth + 1 < way.levels.size() && levels_[way.levels[depth + 1]].cache.takes_victims();
    }
    [[gnu::noinline]] bool levels_have_room(const route &way, phys_addr line, std::uint32_t before,
                                            picoseconds now);
    void expire(picoseconds now);
    std::size_t free_flight(picoseconds now);
    picoseconds descend(const route &way, std::size_t depth, const line_request &line, picoseconds when);
    [[gnu::noinline]] void give_up(const route &way, std::size_t depth, const line_request &cause,
                                   const displaced &victim, picoseconds when);
    picoseconds send_write(const line_request &line, picoseconds when, bool admitted);
    // machine/coherence.cpp
    [[nodiscard]] std::size_t cluster_of(const route *way) const;
    snooped ask_cluster(const cluster &one, phys_addr line, picoseconds when);
    std::optional<written_back> take_out(const cluster &one, phys_addr line);
    snooped snoop(const route *from, phys_addr line, snoop_kind kind, picoseconds when);

    // Whether the partition may have no further write in flight.
    [[nodiscard]] bool writes_full(const port &own, mpam_label label) const
    {
        return writes_of(own, label) >= writes_allowed_;
    }
    [[nodiscard]] static std::uint32_t writes_of(const port &own, mpam_label label)
    {
        return own.writes_of_partition.empty() ? own.writes_in_flight
                                               : own.writes_of_partition[partition_of(own, label)];
    }
    // 0 without MPAM.
    static std::size_t partition_of(const port &own, mpam_label label)
    {
        return label.partition < own.writes_of_partition.size() ? label.partition : 0;
    }
    [[nodiscard]] const region_settings *region_at(phys_addr line) const
    {
        for (const region_settings &one : regions_) {
            if (line.value - one.base < one.size_bytes) {
                return &one;
            }
        }
        return nullptr;
    }
    [[nodiscard]] want write_wanted(std::size_t master, mpam_label label) const
    {
        return {master, room::writes, partition_of(ports_[master], label)};
    }
    [[nodiscard]] std::uint32_t waiting_before(const memory_client &client, const want &wanted) const;
    [[nodiscard]] bool writes_have_room(const memory_client &client, std::size_t master,
                                        mpam_label label) const;
    [[gnu::noinline]] void wait_for_room(memory_client &client, const want &wanted);
    void tell_room(picoseconds when);
    void answered(std::size_t index, picoseconds when);

    std::vector<level_state> levels_;
    std::vector<port> ports_;
    dram::memory memory_;
    std::uint32_t full_levels_ = 0; // number of levels that may not request more lines
    std::uint64_t line_bytes_;
    std::uint64_t bursts_per_line_;
    std::uint64_t burst_bytes_;
    std::uint32_t writes_allowed_; // writes that one master may have in flight, in bursts

    std::vector<flight> flights_;
    std::vector<std::size_t> free_flights_;
    std::array<std::uint8_t, 1024> in_flight_{}; // number of flights by the low part of the line's number
    ring<landing> landings_;                     // arrivals that DRAM has decided on, in order of time
    picoseconds next_landing_ = never;           // time of the first of them
    ticket next_ticket_ = 0;
    picoseconds next_ = never;
    std::vector<refused_client> wants_room_; // in the order in which they are served
    std::vector<above> above_;
    std::vector<cluster> clusters_;
    coherence_settings coherence_;
    no_client nobody_;
    std::vector<region_settings> regions_; // cacheable on-chip memory
    std::uint64_t levels_off_ = 0;         // bit i: level i is off
    bool beside_levels_ = false;           // a level is off, or a region lies beside the levels
    memory_counts counts_;
    digest digest_;
};

} // namespace bulkhead::machine
