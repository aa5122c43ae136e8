// SPDX-License-Identifier: Apache-2.0
// One core: its sequencer (time, turn, fibers), its load/store unit with the private caches, and its counts.
// The software on it, which runs on a fiber, calls the core for every access and every run of instructions; a
// call returns when the core may continue. Only the fiber that runs on the core may call it, except for
// signal(), stand_still() and functions that only read.
#pragma once

#include <functional>
#include <optional>

#include "machine/event_tallies.h"
#include "machine/fetch_unit.h"
#include "machine/load_store_unit.h"
#include "machine/sequencer.h"

namespace bulkhead::machine {

class core {
public:
    static constexpr std::size_t max_misses = mshr_file::most;

    core(core_id id, const core_settings &wanted, cache l1d, std::optional<cache> l1i,
         std::optional<cache> l2, route way, engine &timeline, const load_store_unit::surroundings &around);
    core(const core &) = delete;
    core &operator=(const core &) = delete;
    ~core();

    // --- For the software on the core ---

    // Executes instructions. `count` includes loads and stores: access() adds only what an access costs
    // beyond an average instruction.
    void instructions(std::uint64_t count)
    {
        if (!core_clock::execute(count)) [[unlikely]] {
            budget_spent();
        }
    }

    // Cycles of an instruction beyond those of an average one, independent of the caches.
    void busy(std::uint32_t cycles)
    {
        if (!turn_.clock().execute_cycles(cycles)) [[unlikely]] {
            budget_spent();
        }
    }

    // A load or store whose result no instruction waits for. Returns when the core may continue: it stalls
    // only if a limit of the core is reached.
    void access(phys_addr address, std::uint32_t bytes, access_kind kind)
    {
        tallies_.count(core_event::memory_access);
        if (load_store_.changes_nothing(address, bytes, kind)) [[likely]] {
            return;
        }
        other_access(address, bytes, kind, false);
    }

    // A load whose address came from the previous load: returns when the data have arrived.
    void dependent_read(phys_addr address, std::uint32_t bytes)
    {
        tallies_.count(core_event::memory_access);
        if (load_store_.changes_nothing(address, bytes, access_kind::read)) [[likely]] {
            spend_load_use();
            return;
        }
        other_access(address, bytes, access_kind::read, true);
    }

    // A load or store to memory that is mapped as uncached.
    void past_caches(phys_addr address, std::uint32_t bytes, access_kind kind)
    {
        tallies_.count(core_event::memory_access);
        uncached(address, bytes, kind);
    }

    // An uncached access: device memory, or memory mapped as uncached. A load waits for its data, a store
    // until it has been sent; in both cases memory transfers a whole line.
    void uncached(phys_addr address, std::uint32_t bytes, access_kind kind);

    // Lets time pass without instructions: exception entry, a barrier.
    void spend(picoseconds time);

    // Returns when everything that is due before this core's clock has happened and no other core can act
    // before it any more. Must be called before any effect that others can see: a device's register,
    // engine::at(). Returns that time.
    picoseconds order() { return turn_.order(); }

    // Waits for signal() (wait for interrupt). Returns at once if a signal arrived that attend() has not
    // handled.
    void wait();

    // Gives the core to another fiber; returns when the core is given back to this one.
    void run_on(fiber &next) { turn_.run_on(next); }
    [[nodiscard]] fiber &current() { return turn_.current(); }

    // `attend` is called on the running fiber, between two instructions, when a signal is due, which is an
    // interrupt to take. It may give the core to another fiber.
    void set_attend(std::function<void()> attend) { turn_.set_attend(std::move(attend)); }

    // Called by the runtime of instrumented code, which takes instructions from the budget itself
    // (machine/budget.h), when the budget is spent.
    [[gnu::noinline]] void budget_spent();

    // Fetches a line of instructions, which is at `offset` of a text. Returns when it has arrived.
    void fetch(phys_addr where, const std::shared_ptr<fetched_text> &text, std::uint64_t offset);

    // --- For its MMU (machine/mmu.h) ---

    // Reads a descriptor; the lookup begins in cache `from`. Returns when the data have arrived.
    void walk_read(phys_addr where, walk_path from);
    void spend_cycles(std::uint32_t cycles, stall_cause cause);
    void count_one(core_event which) { tallies_.count(which); }
    // The time that the core has stalled for translations since this object was made, counted in cycles.
    class walk_stall {
    public:
        explicit walk_stall(core &own) : own_(own), before_(own.stalled_ps(stall_cause::walk)) {}
        void count(core_event which) const
        {
            own_.count_cycles(which, own_.stalled_ps(stall_cause::walk) - before_);
        }

        [[nodiscard]] picoseconds time() const
        {
            return picoseconds{own_.stalled_ps(stall_cause::walk) - before_};
        }

    private:
        core &own_;
        std::uint64_t before_;
    };

    // --- For devices and other cores ---

    // Signals the software on the core at `when`: ends wait(), or leads to a call of the attend function.
    void signal(picoseconds when) { turn_.signal(when); }

    // A broadcast of another core arrives at `when`: this core stalls for `time`, unless it is waiting for a
    // signal then. `when` must not be before that of an earlier call, and must be later than now by the
    // settings' `signals.maintenance_ps`.
    void stand_still(picoseconds when, picoseconds time) { turn_.stand_still(when, time); }

    // --- For all callers ---

    [[nodiscard]] core_id id() const { return turn_.id(); }
    [[nodiscard]] picoseconds clock() const { return turn_.now(); }
    [[nodiscard]] bool ended() const { return turn_.ended(); }
    [[nodiscard]] const core_settings &settings() const { return settings_; }
    [[nodiscard]] core_counts counts() const;
    [[nodiscard]] std::uint64_t count_of(core_event which) const { return tallies_.of(which); }
    [[nodiscard]] const cache &l1d() const { return load_store_.caches().l1d(); }
    [[nodiscard]] const cache *l1i() const { return fetch_.l1i(); }
    [[nodiscard]] const cache *l2() const { return load_store_.caches().l2(); }
    [[nodiscard]] const route &way() const { return load_store_.bus().way(); }
    // Whether a shared level lies behind its second level.
    [[nodiscard]] bool has_l3() const { return load_store_.bus().has_l3(); }
    // Whether its private caches have a line.
    [[nodiscard]] bool holds(phys_addr line) const { return load_store_.caches().holds(line); }

    // Sets the MPAM label of every request of this core. Instruction fetches can have a different one.
    void set_label(mpam_label label) { set_label(label, label); }
    void set_label(mpam_label data, mpam_label instructions)
    {
        load_store_.bus().set_label(data);
        fetch_.set_label(instructions);
    }
    [[nodiscard]] mpam_label label() const { return load_store_.bus().label(); }

    // `reached` is called, during an access of this core, when the event has been counted `count` times;
    // count 0: never. For a PMU's overflow.
    void watch(core_event which, std::uint64_t count, std::function<void()> reached)
    {
        tallies_.watch(which, count, std::move(reached));
    }

    // Starts a first program on the core, on its own fiber. When it returns, the core has ended. Call it
    // before a run, between runs, or from an event.
    void start(std::function<void(core &)> program, byte_count stack = fiber::default_stack);

    // Takes all lines of a range out of the private caches; dirty ones are written back. Called by software
    // on the core, or before a run.
    void flush(phys_addr start, byte_count size);
    // Cache maintenance by software on the core, for one line of the private data caches. `clean`: its newest
    // contents go to the next level; `invalidate`: the line is taken out.
    void maintain(phys_addr line, bool clean, bool invalidate);
    // Invalidates L1I: all of it, or one line.
    void forget_instructions();
    void forget_instructions(phys_addr line) { fetch_.drop(line); }
    // Maintenance of a line in a shared level on the core's route; the index is that of the machine.
    void maintain_level(std::size_t level, phys_addr line, bool clean, bool invalidate);

private:
    [[nodiscard]] std::uint64_t stalled_ps(stall_cause cause) const
    {
        return turn_.stall_ps()[static_cast<std::size_t>(cause)];
    }
    void count_cycles(core_event which, std::uint64_t ps);
    void spend_load_use()
    {
        if (!turn_.clock().execute_load_use()) [[unlikely]] {
            budget_spent();
        }
    }
    void other_access(phys_addr address, std::uint32_t bytes, access_kind kind, bool dependent);
    [[gnu::noinline]] void missed_access(load_store_unit::access what);
    [[gnu::noinline]] void split_access(load_store_unit::access what);
    [[gnu::noinline]] void found_access(load_store_unit::access what, std::size_t slot);
    // The end of each slow path: interrupts are taken here, between instructions.
    void finish()
    {
        turn_.between_instructions();
        turn_.grant(load_store_.instructions_left());
    }

    core_settings settings_;
    event_tallies tallies_;
    sequencer turn_;
    load_store_unit load_store_;
    fetch_unit fetch_;
};

} // namespace bulkhead::machine
