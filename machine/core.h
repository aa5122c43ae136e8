// SPDX-License-Identifier: Apache-2.0
// One core: its sequencer (time, turn, fibers), its load/store unit with the private caches, its counts. What
// runs on it (on a fiber) calls it for every access and every stretch of instructions, and a call returns
// when the core may go on. A core must be called only by the fiber that runs on it, but for signal(),
// stand_still() and what only reads.
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

    // --- For what runs on the core ---

    // Instructions that touch no memory, or the loads and stores among them: access() adds only what an
    // access costs beyond an average instruction.
    void instructions(std::uint64_t count)
    {
        if (!core_clock::execute(count)) [[unlikely]] {
            budget_spent();
        }
    }

    // Cycles that an instruction takes beyond an average one's, whatever the caches have.
    void busy(std::uint32_t cycles)
    {
        if (!turn_.clock().execute_cycles(cycles)) [[unlikely]] {
            budget_spent();
        }
    }

    // A load or a store that nothing waits for but the core's own limits; returns when the core may go on.
    void access(phys_addr address, std::uint32_t bytes, access_kind kind)
    {
        tallies_.count(core_event::memory_access);
        if (load_store_.changes_nothing(address, bytes, kind)) [[likely]] {
            return;
        }
        other_access(address, bytes, kind, false);
    }

    // A load whose address came from the load before it: returns when the data are there.
    void dependent_read(phys_addr address, std::uint32_t bytes)
    {
        tallies_.count(core_event::memory_access);
        if (load_store_.changes_nothing(address, bytes, access_kind::read)) [[likely]] {
            spend_load_use();
            return;
        }
        other_access(address, bytes, access_kind::read, true);
    }

    // A load or store of memory that is mapped so that no cache may serve it.
    void past_caches(phys_addr address, std::uint32_t bytes, access_kind kind)
    {
        tallies_.count(core_event::memory_access);
        uncached(address, bytes, kind);
    }

    // An access that no cache may serve: device memory, or memory mapped so. A load waits for its data, a
    // store until it is on its way; for either the memory moves a line.
    void uncached(phys_addr address, std::uint32_t bytes, access_kind kind);

    // Time that passes without instructions: the entry of an exception, a barrier.
    void spend(picoseconds time);

    // Returns when all that is due by this core's clock has happened and no other core can do anything before
    // it any more. Before whatever others can see: a device's register, engine::at(). Says when that is.
    picoseconds order() { return turn_.order(); }

    // Until signal() (wait for interrupt). Returns at once if a signal came that attend() did not see.
    void wait();

    // Gives the core to another fiber; returns when somebody gives it back.
    void run_on(fiber &next) { turn_.run_on(next); }
    [[nodiscard]] fiber &current() { return turn_.current(); }

    // Called on the running fiber, between two instructions, when a signal is due: an interrupt to take. It
    // may give the core to another fiber.
    void set_attend(std::function<void()> attend) { turn_.set_attend(std::move(attend)); }

    // For the runtime of instrumented code, which takes instructions from the budget itself
    // (machine/budget.h): it is spent.
    [[gnu::noinline]] void budget_spent();

    // Instructions of a line, which is at `offset` of a text. Returns when they are there.
    void fetch(phys_addr where, const std::shared_ptr<fetched_text> &text, std::uint64_t offset);

    // --- For its MMU (machine/mmu.h) ---

    // Reads a descriptor, from that cache on. Returns when it is there.
    void walk_read(phys_addr where, walk_path from);
    void spend_cycles(std::uint32_t cycles, stall_cause cause);
    void count_one(core_event which) { tallies_.count(which); }
    // What the core has waited for translations since this was made, counted in cycles.
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

    // Something wants what runs on the core at `when`: ends wait(), or leads to the attend function.
    void signal(picoseconds when) { turn_.signal(when); }

    // What another core has broadcast arrives at `when`, and this one stands still for `time`, unless it
    // waits for a signal then. Not before what was said earlier, and later than now by the settings'
    // `signals.maintenance_ps`.
    void stand_still(picoseconds when, picoseconds time) { turn_.stand_still(when, time); }

    // --- For all ---

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
    // Whether its private caches have a line.
    [[nodiscard]] bool holds(phys_addr line) const { return load_store_.caches().holds(line); }

    // MPAM: travels with every request of this core. Fetches of instructions can have another one.
    void set_label(mpam_label label) { set_label(label, label); }
    void set_label(mpam_label data, mpam_label instructions)
    {
        load_store_.bus().set_label(data);
        fetch_.set_label(instructions);
    }
    [[nodiscard]] mpam_label label() const { return load_store_.bus().label(); }

    // `reached` is called, within an access of this core, when the event has been counted `count` times;
    // count 0: never. For a PMU's overflow.
    void watch(core_event which, std::uint64_t count, std::function<void()> reached)
    {
        tallies_.watch(which, count, std::move(reached));
    }

    // Puts a first program on the core, on a fiber of its own. When it returns, the core has ended. Before or
    // between runs, or by an event.
    void start(std::function<void(core &)> program, byte_count stack = fiber::default_stack);

    // Takes all lines of a range out of the private caches; dirty ones are written back. By software that
    // runs on the core, or before a run.
    void flush(phys_addr start, byte_count size);
    // Maintenance by software that runs on the core. Of a line of the private caches for data: its newest
    // contents go to the next level, the line leaves, or both.
    void maintain(phys_addr line, bool clean, bool invalidate);
    // Of L1I: all of it, or a line.
    void forget_instructions();
    void forget_instructions(phys_addr line) { fetch_.drop(line); }
    // Of a shared level on its way: the index is that of the machine.
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
    // The end of each slow path: interrupts are taken between instructions.
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
