// SPDX-License-Identifier: Apache-2.0
// Handles a core's loads and stores: hits in L1, misses in flight (MSHRs), the store buffer, prefetches,
// write streaming, and uncached memory. It owns the private caches and waits through the core's sequencer.
// The path of a hit is in this header, because nearly every access takes it.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "machine/bus_unit.h"
#include "machine/event_tallies.h"
#include "machine/frames.h"
#include "machine/mshr.h"
#include "machine/prefetcher.h"
#include "machine/private_caches.h"
#include "machine/sequencer.h"
#include "machine/write_stream.h"

namespace bulkhead::machine {

class fetch_unit;

class load_store_unit final : public memory_client {
public:
    // The parts of the machine that cores share.
    struct surroundings {
        memory_system &memory;
        const frames &ram;
        std::span<const region_settings> regions;
        picoseconds device;                      // latency of an access to an address that is not memory
        std::vector<load_store_unit *> &snooped; // the units of all cores, by core number
    };
    // How an access was served.
    enum class service : std::uint8_t {
        l1_hit,
        merged, // joined a line that is in flight
        ordered // made in order; the core's limits may have changed
    };
    struct access { // small enough to be passed in two registers
        phys_addr address;
        std::uint32_t bytes;
        access_kind kind;
        bool dependent; // a load whose data the next address needs
    };

    load_store_unit(const core_settings &wanted, cache l1d, std::optional<cache> l2, route way,
                    const surroundings &around, sequencer &turn, event_tallies &tallies);
    load_store_unit(const load_store_unit &) = delete;
    load_store_unit &operator=(const load_store_unit &) = delete;
    ~load_store_unit() override = default;

    [[nodiscard]] private_caches &caches() { return caches_; }
    [[nodiscard]] const private_caches &caches() const { return caches_; }
    [[nodiscard]] bus_unit &bus() { return bus_; }
    [[nodiscard]] const bus_unit &bus() const { return bus_; }

    // Whether L1 has the line and the access would change nothing in the cache. False if the access crosses a
    // line.
    [[nodiscard]] bool changes_nothing(phys_addr address, std::uint32_t bytes, access_kind kind) const
    {
        const std::uint64_t line = address.value >> line_bits_;
        const cache::recent &last = used_last_[line & l1d_set_mask_];
        return (kind == access_kind::write ? last.dirty_line : last.line) == line &&
               (address.value + bytes - 1) >> line_bits_ == line;
    }
    // Any other access takes one of three ways: split() if it crosses the end of a line; serve() if L1 has
    // the line, or a place allocated for it (`slot`); miss() otherwise. Unless serve() says otherwise, the
    // access was made in order, and the core's limits may have changed.
    [[nodiscard]] bool fits_line(access what) const
    {
        return (what.address.value & line_mask_) + what.bytes <= line_mask_ + 1;
    }
    [[nodiscard]] std::size_t find(phys_addr address) const { return caches_.l1d().find(address); }
    void split(access what);
    service serve(access what, std::size_t slot)
    {
        const presence found = caches_.l1d().use(what.address, slot, what.kind);
        return found == presence::here ? service::l1_hit : serve_marked(what, found);
    }
    void miss(access what);

    // An access to uncached memory or to a device.
    [[gnu::noinline]] void uncached(access what);
    // Reads a descriptor of translation tables; the lookup begins in cache `from`.
    void walk_read(phys_addr where, walk_path from);
    // Takes the lines of a range out of the private caches; dirty ones are written back.
    void flush(phys_addr start, byte_count size);
    // `clean`: the line's newest contents go to the next level; `invalidate`: the line leaves the private
    // caches.
    void maintain(phys_addr line, bool clean, bool invalidate);

    // Sets the fetch unit whose L1I loses a line too when the caches above a level must give it up.
    void set_fetches(fetch_unit &fetches) { fetches_ = &fetches; }

    static constexpr std::uint64_t unlimited = std::uint64_t{1} << 62U; // instructions
    // How many instructions may execute before the oldest load in flight stalls the core. The clock must be
    // settled.
    [[nodiscard]] std::uint64_t instructions_left()
    {
        if (settings_.window_instructions == 0 || !mshrs_.any(purpose::load, turn_.settled())) {
            return unlimited;
        }
        const std::uint64_t end = mshrs_.oldest(purpose::load).instruction + settings_.window_instructions;
        const std::uint64_t executed = turn_.clock().instructions();
        return end <= executed ? 0 : end - executed;
    }
    // Waits for the oldest loads while more instructions than the window allows have executed after them.
    void hold_window();

    // memory_client
    void arrived(ticket id, picoseconds when) override;
    void room(picoseconds when) override { turn_.room(when); }
    std::optional<written_back> drop(phys_addr line) override;
    [[nodiscard]] bool holds(phys_addr line) const override { return caches_.holds(line); }

private:
    using purpose = mshr_file::purpose;

    [[nodiscard]] phys_addr line_of(phys_addr address) const
    {
        return phys_addr{address.value & ~line_mask_};
    }
    // A load that blocks all later instructions.
    [[nodiscard]] bool waits(access what) const
    {
        return what.kind == access_kind::read && (what.dependent || settings_.loads == 1);
    }
    static stall_cause cause_of(bool from_memory)
    {
        return from_memory ? stall_cause::memory : stall_cause::shared_level_hit;
    }

    // machine/load_store_unit.cpp
    [[gnu::noinline]] void part(access what);
    [[gnu::noinline]] service serve_marked(access what, presence how);
    [[gnu::noinline]] void marked(access what, presence how);
    void want_prefetched(phys_addr line, access_kind kind, owner_id owner, picoseconds now);
    void load(phys_addr line, bool alone, owner_id owner, picoseconds now);
    [[gnu::noinline]] void store(phys_addr line, owner_id owner, picoseconds now);
    void limit_loads(picoseconds now);
    picoseconds limit_stores(picoseconds now);
    picoseconds limit_reads(picoseconds now);
    [[gnu::noinline]] bool l2_hit(phys_addr line, access what, owner_id owner);
    void fetch_ahead(phys_addr line, owner_id owner, picoseconds now);
    [[gnu::noinline]] void fetch_stream(prefetcher::stream &one, owner_id owner, picoseconds now);
    void begin(phys_addr line, purpose why, memory_system::reply reply);
    [[gnu::noinline]] void wait_for_entry(mshr_file::entry which, stall_cause cause);
    void wait_for_reply(memory_system::reply reply, stall_cause cause);
    // Write streaming.
    [[gnu::noinline]] bool merged(access what);
    [[gnu::noinline]] void begin_merging(access what, owner_id owner);
    void merge(write_stream::line &own, access what);
    [[gnu::noinline]] void fetch_merging(write_stream::line own);
    [[gnu::noinline]] void follow_fill(access what, owner_id owner);
    [[gnu::noinline]] void write_in_flight(access what, bool in_flight);

    // machine/load_store_uncached.cpp
    [[nodiscard]] picoseconds cost_of(phys_addr address) const;

    // machine/load_store_shared.cpp
    [[gnu::noinline]] void shared(access what, owner_id owner);
    // Result of a snoop in the cluster: whether another core held the line, and whether one had to give it up
    // or write it back.
    struct beside {
        bool held = false;
        bool asked = false;
    };
    beside snoop_cluster(phys_addr line, access_kind kind, owner_id owner);
    [[nodiscard]] bool shares_a_level(const load_store_unit &other) const
    {
        const auto &own = bus_.way().levels;
        const auto &theirs = other.bus_.way().levels;
        return !own.empty() && !theirs.empty() && own.back() == theirs.back();
    }

    std::uint64_t line_mask_;
    std::uint32_t line_bits_;
    std::uint32_t l1d_set_mask_;
    const cache::recent *used_last_ = nullptr; // the most recently used lines of L1
    core_settings settings_;
    surroundings around_;
    sequencer &turn_;
    event_tallies &tallies_;
    bus_unit bus_;
    private_caches caches_;
    fetch_unit *fetches_ = nullptr;
    mshr_file mshrs_;
    prefetcher prefetcher_;
    write_stream write_stream_;
};

} // namespace bulkhead::machine
