// SPDX-License-Identifier: Apache-2.0
// One core with its private caches: what runs on it (on a fiber) calls it for every access and every stretch
// of instructions, and a call returns when the core may go on. The path of a hit is in this header, because
// nearly every access takes it. A core must be called only by the fiber that runs on it, but for signal().
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "machine/budget.h"
#include "machine/cache.h"
#include "machine/core_counts.h"
#include "machine/engine.h"
#include "machine/event_code.h"
#include "machine/fiber.h"
#include "machine/frames.h"
#include "machine/lines_under_way.h"
#include "machine/memory_system.h"
#include "machine/prefetcher.h"
#include "machine/settings.h"

namespace bulkhead::machine {

class core final : public memory_client {
public:
    static constexpr std::size_t max_misses = lines_under_way::most;

    // What a core shares with the rest of the machine.
    struct surroundings {
        engine &timeline;
        memory_system &memory;
        const frames &ram;
        std::span<const region_settings> regions;
        picoseconds device;
        const std::vector<std::unique_ptr<core>> &cores; // all of the machine's, by id
    };

    core(core_id id, const core_settings &wanted, cache l1d, std::optional<cache> l2, route way,
         const surroundings &around);
    core(const core &) = delete;
    core &operator=(const core &) = delete;
    ~core() override;

    // --- For what runs on the core ---

    // Instructions that touch no memory, or the loads and stores among them: access() adds only what an
    // access costs beyond an average instruction.
    void instructions(std::uint64_t count)
    {
        machine_budget -= static_cast<std::int64_t>(count);
        if (machine_budget < 0) [[unlikely]] {
            budget_spent();
        }
    }

    // A load or a store that nothing waits for but the core's own limits; returns when the core may go on.
    void access(phys_addr address, std::uint32_t bytes, access_kind kind)
    {
        count(core_event::memory_access);
        if (changes_nothing(address, bytes, kind)) [[likely]] {
            return;
        }
        other_access(address, bytes, kind, false);
    }

    // A load whose address came from the load before it: returns when the data are there.
    void dependent_read(phys_addr address, std::uint32_t bytes)
    {
        count(core_event::memory_access);
        if (changes_nothing(address, bytes, access_kind::read)) [[likely]] {
            spend_load_use();
            return;
        }
        other_access(address, bytes, access_kind::read, true);
    }

    // A load or store of memory that is mapped so that no cache may serve it.
    void past_caches(phys_addr address, std::uint32_t bytes, access_kind kind)
    {
        count(core_event::memory_access);
        uncached(address, bytes, kind);
    }

    // An access that no cache may serve: device memory, or memory mapped so. A load waits for its data, a
    // store until it is on its way; for either the memory moves a line.
    [[gnu::noinline]] void uncached(phys_addr address, std::uint32_t bytes, access_kind kind);

    // Time that passes without instructions: the entry of an exception, a barrier.
    void spend(picoseconds time);

    // Returns when all that is due by this core's clock has happened and no other core can do anything before
    // it any more. Before whatever others can see: a device's register, engine::at().
    // Says when that is.
    picoseconds order()
    {
        settle();
        const picoseconds now = clock_now();
        if (!timeline_.none_before(now)) {
            due_ = now;
            timeline_.give_way(*this);
        }
        return now;
    }

    // Until signal() (wait for interrupt). Returns at once if a signal came that attend() did not see.
    void wait();

    // Gives the core to another fiber; returns when somebody gives it back.
    void run_on(fiber &next);
    [[nodiscard]] fiber &current() { return *current_; }

    // Called on the running fiber, between two instructions, when a signal is due: an interrupt to take. It
    // may give the core to another fiber.
    void set_attend(std::function<void()> attend) { attend_ = std::move(attend); }

    // --- For its MMU (machine/mmu.h) ---

    // Reads a descriptor: from the second level on, or past all caches. Returns when it is there.
    void walk_read(phys_addr where, bool cached);
    void spend_cycles(std::uint32_t cycles, stall_cause cause);
    void count_one(core_event which) { count(which); }

    // --- For devices and other cores ---

    // Something wants what runs on the core at `when`: ends wait(), or leads to the attend function.
    void signal(picoseconds when);

    // What another core has broadcast arrives at `when`, and this one stands still for `time`, unless it
    // waits for a signal then. Not before what was said earlier, and later than now by the settings'
    // `signals.maintenance_ps`.
    void stand_still(picoseconds when, picoseconds time);

    // --- For all ---

    [[nodiscard]] core_id id() const { return id_; }
    [[nodiscard]] picoseconds clock() const { return picoseconds{(clock_fs() + 999) / 1000}; }
    [[nodiscard]] bool ended() const { return ended_; }
    [[nodiscard]] const core_settings &settings() const { return settings_; }
    [[nodiscard]] core_counts counts() const;
    [[nodiscard]] std::uint64_t count_of(core_event which) const
    {
        const tally &own = tallies_[static_cast<std::size_t>(which)];
        return own.goal - own.left;
    }
    [[nodiscard]] const cache &l1d() const { return l1d_; }
    [[nodiscard]] const cache *l2() const { return l2_ ? &*l2_ : nullptr; }
    [[nodiscard]] const route &way() const { return route_; }

    // MPAM: travels with every request of this core.
    void set_partition(std::uint16_t partition) { partition_ = partition; }

    // `reached` is called, within an access of this core, when the event has been counted `count` times;
    // count 0: never. For a PMU's overflow.
    void watch(core_event which, std::uint64_t count, std::function<void()> reached);

    // Puts a first program on the core, on a fiber of its own. When it returns, the core has ended. Before or
    // between runs, or by an event.
    void start(std::function<void(core &)> program, byte_count stack = fiber::default_stack);

    // Takes all lines of a range out of the private caches; dirty ones are written back. By software that
    // runs on the core, or before a run.
    void flush(phys_addr start, byte_count size);

    // memory_client
    void arrived(ticket id, picoseconds when) override;
    void room(picoseconds when) override;
    std::optional<written_back> drop(phys_addr line) override;
    [[nodiscard]] bool holds(phys_addr line) const override
    {
        const phys_addr tagged{line.value | shared_tag};
        return l1d_.contains(line) || l1d_.contains(tagged) || (l2_ && l2_->contains(line));
    }

private:
    friend class engine;
    friend void ::machine_budget_spent();

    using purpose = lines_under_way::purpose;
    enum class waiting : std::uint8_t { no, data, room, signal };

    static constexpr std::uint64_t beat_bytes = 16; // a data channel of 128 bits, as Cortex-A53's to memory

    // Lines of shared frames have a tag of their own in the private caches, so that the fast path never hits
    // them and their accesses come in order.
    static constexpr std::uint64_t shared_tag = std::uint64_t{1} << 52U;

    [[nodiscard]] bool fits_line(phys_addr address, std::uint32_t bytes) const
    {
        return (address.value & line_mask_) + bytes <= line_mask_ + 1;
    }
    [[nodiscard]] phys_addr line_of(phys_addr address) const
    {
        return phys_addr{address.value & ~line_mask_};
    }
    // Whether L1 has the line and nothing of it changes by the access. The first and the last byte must be of
    // the same line.
    [[nodiscard]] bool changes_nothing(phys_addr address, std::uint32_t bytes, access_kind kind) const
    {
        const std::uint64_t line = address.value >> line_bits_;
        const cache::recent &last = used_last_[line & l1d_set_mask_];
        return (kind == access_kind::write ? last.dirty_line : last.line) == line &&
               (address.value + bytes - 1) >> line_bits_ == line;
    }
    [[nodiscard]] std::uint64_t clock_fs() const
    {
        const bool running = timeline_.running() == this;
        return clock_fs_ +
               (running ? static_cast<std::uint64_t>(granted_ - machine_budget) * instruction_fs_ : 0);
    }
    [[nodiscard]] picoseconds clock_now() const { return picoseconds{(clock_fs_ + 999) / 1000}; }
    // The budget is what remains to the limit, so it shrinks too; at least as much as it must.
    void spend_load_use()
    {
        clock_fs_ += load_use_fs_;
        machine_budget -= load_use_instructions_;
        granted_ -= load_use_instructions_;
        if (machine_budget < 0) [[unlikely]] {
            budget_spent();
        }
    }

    // It waits for that.
    void wake(picoseconds when)
    {
        due_ = when;
        timeline_.wake(id_, when);
    }

    // What was used of the budget becomes time.
    void settle()
    {
        const auto used = static_cast<std::uint64_t>(granted_ - machine_budget);
        counts_.instructions += used;
        clock_fs_ += used * instruction_fs_;
        granted_ = machine_budget;
    }
    void count(core_event which)
    {
        if (--tallies_[static_cast<std::size_t>(which)].left == 0) [[unlikely]] {
            watch_reached(which);
        }
    }
    void count(core_event which, std::uint64_t times)
    {
        tally &own = tallies_[static_cast<std::size_t>(which)];
        const bool reached = own.left <= times;
        own.left -= times;
        if (reached) [[unlikely]] {
            watch_reached(which);
        }
    }

    // A line between the core and what is shared.
    void count_beats() { count(core_event::beats, (line_mask_ + 1) / beat_bytes); }

    // machine/core.cpp
    [[gnu::noinline]] void budget_spent();
    void resumed();
    [[nodiscard]] std::uint64_t budget_to(picoseconds limit) const;
    void grant();
    void finish();
    [[gnu::noinline]] void watch_reached(core_event which);
    void wait_until(picoseconds when, stall_cause cause);
    void take_standstills();
    [[gnu::noinline]] void block(waiting what, stall_cause cause);

    // machine/core_miss.cpp
    void other_access(phys_addr address, std::uint32_t bytes, access_kind kind, bool dependent);
    [[gnu::noinline]] void found_access(phys_addr address, std::size_t slot, access_kind kind,
                                        bool dependent);
    [[gnu::noinline]] void coming_access(phys_addr address);
    [[gnu::noinline]] void ordered_access(phys_addr address, std::uint32_t bytes, access_kind kind,
                                          bool dependent, presence found);
    [[gnu::noinline]] void slow_access(phys_addr address, std::uint32_t bytes, access_kind kind,
                                       bool dependent);
    [[gnu::noinline]] void part_access(phys_addr address, std::uint32_t bytes, access_kind kind,
                                       bool dependent);
    void missed_access(phys_addr address, std::uint32_t bytes, access_kind kind, bool dependent);
    [[gnu::noinline]] void marked_access(phys_addr address, access_kind kind, bool dependent, presence how);
    void want_prefetched(phys_addr line, access_kind kind, owner_id owner, picoseconds now);
    void load(phys_addr line, bool dependent, owner_id owner, picoseconds now);
    [[gnu::noinline]] void store(phys_addr line, owner_id owner, picoseconds now);
    void limit_loads(picoseconds now);
    picoseconds limit_stores(picoseconds now);
    [[gnu::noinline]] bool l2_hit(phys_addr line, access_kind kind, bool dependent, owner_id owner);
    void fetch_ahead(phys_addr line, owner_id owner, picoseconds now);
    [[gnu::noinline]] void fetch_stream(prefetcher::stream &one, owner_id owner, picoseconds now);
    memory_system::reply fetch(const route &way, phys_addr line, owner_id owner, picoseconds &now);
    memory_system::reply ask(const route &way, phys_addr line, owner_id owner, bool prefetch,
                             picoseconds now);
    [[gnu::noinline]] memory_system::reply ask_again(const route &way, phys_addr line, owner_id owner);
    [[gnu::noinline]] void note_further(const route &way, memory_system::reply reply);
    void begin(phys_addr line, purpose why, memory_system::reply reply);
    void make_room_for_writes();
    [[gnu::noinline]] void wait_for_entry(lines_under_way::entry which, stall_cause cause);
    void wait_for_reply(memory_system::reply reply, stall_cause cause);
    static stall_cause cause_of(bool from_memory)
    {
        return from_memory ? stall_cause::memory : stall_cause::shared_level_hit;
    }
    [[gnu::noinline]] void l1_gives_up(written_back gone);
    [[gnu::noinline]] void fill_l2(phys_addr line, owner_id owner);
    void fill_private(phys_addr line, access_kind kind, owner_id owner, line_mark mark);
    void fill_l1(phys_addr line, access_kind kind, owner_id owner, line_mark mark);
    [[gnu::noinline]] void write_back(written_back line);

    // machine/core_shared.cpp
    [[gnu::noinline]] void shared_access(phys_addr address, access_kind kind, bool dependent, owner_id owner);
    // What others of the cluster had of a line, and whether one had to give it up or write it back.
    struct beside {
        bool held = false;
        bool asked = false;
    };
    beside snoop(phys_addr tagged, access_kind kind);
    void fill_from_cache(phys_addr line, access_kind kind, owner_id owner, bool own_cluster, picoseconds now);
    [[nodiscard]] bool shares_a_level(const core &other) const
    {
        return !route_.levels.empty() && !other.route_.levels.empty() &&
               route_.levels.back() == other.route_.levels.back();
    }

    // machine/core_stream.cpp
    [[gnu::noinline]] bool stream_store_or_break(phys_addr address, std::uint32_t bytes, access_kind kind);
    [[gnu::noinline]] bool stream_follows(phys_addr line);
    [[gnu::noinline]] bool stream_begins(phys_addr line, phys_addr address, std::uint32_t bytes,
                                         owner_id owner);
    void send_stream_line();
    void break_stream();

    core_id id_;
    core_settings settings_;
    engine &timeline_;
    memory_system &memory_;
    const frames &ram_;
    std::span<const region_settings> regions_;
    picoseconds device_;
    const std::vector<std::unique_ptr<core>> &cores_;
    route route_;
    route uncached_route_;
    cache l1d_;
    std::optional<cache> l2_;
    std::uint64_t line_mask_;
    std::uint32_t line_bits_;
    std::uint32_t l1d_set_mask_;
    const cache::recent *used_last_; // of l1d_
    std::uint16_t partition_ = 0;

    // Time: clock_fs_ as of when the budget was granted; what is used of the budget adds to it.
    std::uint64_t instruction_fs_;
    std::uint64_t cycle_fs_;
    std::uint64_t load_use_fs_;
    std::int64_t load_use_instructions_;
    std::uint64_t instructions_reciprocal_; // 2^64 / instruction_fs_, rounded down
    std::uint64_t clock_fs_ = 0;
    std::int64_t granted_ = 0;

    std::vector<std::unique_ptr<fiber>> started_;
    fiber *current_ = nullptr;
    bool ended_ = true;
    picoseconds due_ = engine::never; // when it acts next, while others run
    waiting waits_ = waiting::no;
    ticket waits_for_ = 0;
    picoseconds signal_at_ = engine::never;
    std::function<void()> attend_;
    struct standstill {
        picoseconds when;
        picoseconds time;
    };
    std::deque<standstill> standstills_; // to come, in order

    lines_under_way under_way_;
    prefetcher prefetcher_;

    // Stores of consecutive lines (machine/core_stream.cpp).
    struct write_stream {
        std::uint64_t last = ~std::uint64_t{0}; // line number of the last missed store
        std::uint32_t run = 0;                  // lines that followed each other
        bool merging = false;                   // line `last` is being put together from its stores
        std::uint64_t bytes = 0;                // of it that were written: a bit each (of a part of the line)
        owner_id owner;
    };
    write_stream write_stream_;

    // An event's count is goal - left. It is counted down to what somebody watches for, if anything, so that
    // one comparison serves both.
    struct tally {
        static constexpr std::uint64_t far = std::uint64_t{1} << 63U;
        std::uint64_t left = far;
        std::uint64_t goal = far;
    };
    core_counts counts_; // but for events
    std::array<tally, core_event_count> tallies_;
    std::array<std::function<void()>, core_event_count> reached_;
};

} // namespace bulkhead::machine
