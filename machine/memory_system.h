// SPDX-License-Identifier: Apache-2.0
// What lies behind the private caches: shared levels, the interconnect with its regulators, DRAM. It answers
// a request for a line with the time of the data, or with a ticket when that depends on what DRAM decides
// later. Requests come in order of time; the engine (machine/engine.h) sees to that.
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

// Who asks for lines: a core, a DMA engine.
class memory_client {
public:
    using ticket = std::uint64_t;
    memory_client() = default;
    memory_client(const memory_client &) = delete;
    memory_client &operator=(const memory_client &) = delete;
    virtual ~memory_client() = default;
    // The line of a ticket will be there at `when`.
    virtual void arrived(ticket id, picoseconds when) = 0;
    // What was refused for want of room may be tried again at `when`.
    virtual void room(picoseconds when) = 0;
    // Inclusion: a shared level gave the line up. The newest contents, if they were here.
    virtual std::optional<written_back> drop(phys_addr line) = 0;
    // Whether its own caches have the line.
    [[nodiscard]] virtual bool holds(phys_addr line) const = 0;
};

// The way of a client's requests to memory.
struct route {
    std::vector<std::size_t> levels; // nearest first
    std::size_t master = 0;
};

struct level_counts {
    std::uint64_t lookups = 0;
    std::uint64_t misses = 0;
    std::uint64_t received = 0;    // lines that the level above gave up to it
    std::uint64_t write_backs = 0; // dirty lines sent below
};

struct memory_counts {
    std::uint64_t fetches = 0;        // lines that clients asked for
    std::uint64_t level_hits = 0;     // of them, found in a shared level
    std::uint64_t joined = 0;         // of them, already on the way for somebody else
    std::uint64_t line_reads = 0;     // of them, asked of DRAM
    std::uint64_t answered = 0;       // of those, answered
    std::uint64_t line_writes = 0;    // lines sent to DRAM
    std::uint64_t bursts_written = 0; // of their bursts, taken over by the controller
    std::uint64_t refused = 0;        // fetches that found no room and came again
    std::uint64_t snoop_hits = 0;     // lines that the interconnect found in a cluster
    std::uint64_t region_lines = 0;   // lines read from and written to memory on the chip
};

class memory_system {
public:
    using ticket = memory_client::ticket;

    struct reply {
        enum class state : std::uint8_t {
            known,  // the data are there at `when`
            coming, // arrived(id) will say
            full    // no room: room() will say when to try again; nothing has happened
        };
        enum class source : std::uint8_t { nearest_level, further_level, memory }; // that was asked last
        std::uint64_t value; // known: the time in picoseconds; coming: the ticket
        state how;
        source asked;
        bool from_memory;          // it comes from there, asked by this request or by an earlier one
        std::uint8_t writes_below; // lines that went to memory to make room for it

        [[nodiscard]] picoseconds when() const { return picoseconds{value}; }
        [[nodiscard]] ticket id() const { return value; }
    };

    memory_system(const settings &wanted, std::vector<cache> levels, dram::memory memory);

    // For inclusion and coherence: clients whose private caches lie above the levels of their route.
    void attach(memory_client &client, const route &way);

    // A line that the client's own caches do not have.
    [[gnu::noinline]] reply fetch(const route &way, const line_request &wanted, memory_client &client,
                                  picoseconds now)
    {
        if (full_levels_ != 0 || !wants_room_.empty() ||
            ports_[wanted.master].writes_in_flight >= writes_allowed_) [[unlikely]] {
            return fetch_if_room(way, wanted, client, now);
        }
        return fetch_now(way, wanted, client, now);
    }
    // When a line may go of who has no cache: it goes then, by the calls below. Its regulator is before the
    // shared levels, while that of cores holds what leaves them for DRAM.
    picoseconds admit(const route &way, access_kind kind, picoseconds when)
    {
        port &own = ports_[way.master];
        return (kind == access_kind::read ? own.reads : own.writes).admit(when, line_bytes_);
    }
    // A line for who has no cache and leaves none behind: if `coherent`, from a cluster that has it, where it
    // stays as it is (ReadOnce), else from DRAM. It was admitted.
    reply fetch_past(const route &way, const line_request &wanted, memory_client &client, picoseconds when,
                     bool coherent);
    // A line that they give up, dirty or (line_request::clean) not, or a whole line that was written without
    // being fetched (ask has_room() before). Never refused. Says when the first level, or the interconnect,
    // has taken it.
    picoseconds write_back(const route &way, const line_request &line, picoseconds when);
    // A whole line past the shared levels; a copy there is updated instead. `admitted`: it was, else it is
    // when it goes to DRAM.
    struct passed {
        picoseconds taken; // by the first level: the next line may follow, unless the regulator holds them up
        picoseconds gone;  // to DRAM, or into the level that has a copy
    };
    passed write_past(const route &way, const line_request &line, picoseconds when, bool admitted = false);
    // A line, or a part of it, of who has no cache, for DRAM: what clusters have of it goes, if a part was
    // written to DRAM first (WriteLineUnique, WriteUnique). It was admitted. Says when the interconnect has
    // it.
    picoseconds write_coherent(const line_request &line, bool whole, picoseconds when);
    // A line of a shared frame that the client at `way` wants, and has in its own cluster's private caches or
    // not (`here`): when the others' answer is there, and the data with it, if another cluster has it;
    // nothing: it has not, or the own cluster is enough. For a write what others have of it goes.
    std::optional<picoseconds> snoop_others(const route &way, const line_request &wanted, bool here,
                                            picoseconds now);
    // Whether a shared level of its way has it, or has asked for what has not come: an L1 that has taken a
    // place for such a line cannot give it yet.
    [[nodiscard]] bool has_on_way(const route &way, phys_addr line, picoseconds now);
    // When the next line comes that DRAM has decided on, after `now`; never: none is. It may be what a
    // refused request waits for; later ones are told by memory_client::room().
    picoseconds next_landing(picoseconds now);
    // Whether a write of that label may be sent; if not, client.room() will say when. Clients of one master
    // are served in the order of their first refusal: they are told of room at the same time and try again in
    // the order of their numbers, so that the last one would otherwise never be served.
    bool has_room(const route &way, memory_client &client, mpam_label label, picoseconds now);
    // A client that was refused will not try again: it gives its place in the order up.
    void give_up_waiting(const memory_client &client, picoseconds now);

    // When DRAM decides next, and the deciding of what is due by then.
    [[nodiscard]] picoseconds next() const { return next_; }
    [[gnu::noinline]] void decide();

    // While a level is off its cores' requests go past it and what is behind it, down to memory; what it
    // holds stays. All are on at the start.
    void turn_level(std::size_t index, bool on);
    // Maintenance of a line of a level at `when`: its newest contents go to memory, the line leaves it, or
    // both. For a client at `way`, which takes the port for it.
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
    // Brings DRAM's own clock up to `now`, which nothing may precede any more, for its profile.
    [[nodiscard]] dram::memory_profile profile(picoseconds now) { return memory_.profile(now); }
    [[nodiscard]] digest &events() { return digest_; }
    [[nodiscard]] const digest &events() const { return digest_; }

    static constexpr picoseconds never{~std::uint64_t{0}};

private:
    struct level_state {
        shared_level cache;
        level_counts counts;
        std::uint32_t misses;         // lines that it has asked for
        std::uint32_t misses_allowed; // no limit: more than there can be
    };
    struct port {
        picoseconds request, answer;
        regulator reads, writes;
        std::uint32_t writes_in_flight; // bursts
        // Of them by partition, where those are told apart: one whose writes wait holds up no other.
        std::vector<std::uint32_t> writes_of_partition{};
    };
    struct waiter {
        memory_client *client;
        ticket id;
    };
    // What a request was refused for: its master, and with MPAM its partition, has as many writes under way,
    // or a level as many lines, as it may. Clients that share a level share its master.
    enum class room : std::uint8_t { writes, lines };
    struct want {
        std::size_t master;
        room what;
        std::size_t partition; // 0: of lines, and without MPAM

        bool operator==(const want &) const = default;
    };
    struct refused_client {
        memory_client *client;
        want wanted;
    };
    // A line on its way from DRAM. `levels`: bit i: it goes into level i.
    struct alignas(128) flight {
        phys_addr line; // or no_line: it has come
        std::uint64_t levels = 0;
        std::uint64_t fills = 0; // of the levels, those that it takes a port of when it comes
        picoseconds when{};      // of the data; never: DRAM has not decided
        picoseconds answer_latency{};
        std::uint32_t parts = 0; // bursts that DRAM has not answered
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
    // Caches that are coherent among each other, by themselves: shared levels, the last one last, and who is
    // above them.
    struct cluster {
        std::vector<std::size_t> levels;
        std::vector<memory_client *> clients;
        std::uint32_t master;
    };
    // What the interconnect asks for: the data, which stay; the data, and they are gone; that they are gone,
    // after they were written to memory.
    enum class snoop_kind : std::uint8_t { keep, take, clean_out };
    struct snooped {
        bool found;
        picoseconds answered;
    };
    // For reads whose data nobody waits for.
    class no_client final : public memory_client {
        void arrived(ticket, picoseconds) override {}
        void room(picoseconds) override {}
        std::optional<written_back> drop(phys_addr) override { return std::nullopt; }
        [[nodiscard]] bool holds(phys_addr) const override { return false; }
    };
    static constexpr phys_addr no_line{~std::uint64_t{0}};
    static constexpr ticket write_ticket = ticket{1} << 63U; // and the number of the master
    static constexpr std::uint32_t partition_shift = 32;     // in such a ticket

    // Every way on but a hit's is the last that is done here, so that a hit saves no registers.
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
            expire(now); // fills take their ports before later lookups
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
    // Whether a line does not enter the levels: it is of a region beside them, or they are off.
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
    // Whether the level below `depth` takes clean lines that this one gives up.
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

    // Whether no write more of the partition may be on its way.
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
    std::uint32_t full_levels_ = 0; // that may not ask for more
    std::uint64_t line_bytes_;
    std::uint64_t bursts_per_line_;
    std::uint64_t burst_bytes_;
    std::uint32_t writes_allowed_; // of one master, in bursts

    std::vector<flight> flights_;
    std::vector<std::size_t> free_flights_;
    std::array<std::uint8_t, 1024> in_flight_{}; // flights by a part of their line's number
    ring<landing> landings_;                     // of what DRAM has decided, in order of time
    picoseconds next_landing_ = never;           // the first of them
    ticket next_ticket_ = 0;
    picoseconds next_ = never;
    std::vector<refused_client> wants_room_; // in the order in which they are served
    std::vector<above> above_;
    std::vector<cluster> clusters_;
    coherence_settings coherence_;
    no_client nobody_;
    std::vector<region_settings> regions_; // on the chip, that are cached
    std::uint64_t levels_off_ = 0;         // bit i: level i is off
    bool beside_levels_ = false;           // a level is off, or a region lies beside the levels
    memory_counts counts_;
    digest digest_;
};

} // namespace bulkhead::machine
