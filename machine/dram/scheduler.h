// SPDX-License-Identifier: Apache-2.0
// The scheduler of one DRAM channel: first ready, first come (FR-FCFS, Rixner et al., ISCA 2000) with a cap
// on how often row hits may overtake, a write queue that is drained between two watermarks in turns with
// reads, refresh, and an open or closed page policy. It decides request by request, not clock by clock: as
// late as a controller can without leaving the data bus idle, it takes the request whose data can go first
// and plans its precharge, activate and column command at once (as Hansson et al., ISPASS 2014, do). Every
// command keeps every constraint. A policy can have arbitration by score instead (arbitration.h).
#pragma once

#include <optional>

#include "machine/dram/arbitration.h"
#include "machine/dram/banks.h"
#include "machine/dram/command_bus.h"
#include "machine/dram/request_queue.h"
#include "machine/ring.h"

namespace bulkhead::machine::dram {

enum class page_policy : std::uint8_t {
    open,  // a row stays open until another one of its bank is wanted
    closed // a row is closed after an access when no queued request wants it
};

struct policy {
    std::uint32_t read_queue = 32;
    std::uint32_t write_queue = 32;
    std::uint32_t write_high = 24; // writes are drained from here ...
    std::uint32_t write_low = 8;   // ... to here, while reads wait
    std::uint32_t cap = 16;        // row hits of a bank that may overtake an older request of it
    page_policy page = page_policy::open;
    // Instead of watermarks and cap: reads and writes in one queue, by score.
    std::optional<dram::arbitration> arbitration = std::nullopt;

    // Why the values contradict each other, or nothing.
    [[nodiscard]] std::string contradiction() const;
};

// A command as it was issued; refresh: `bank` is the first of its rank.
struct issued {
    clocks when;
    command what;
    std::uint32_t bank;
    std::uint32_t row;
    std::uint32_t column;
};

struct scheduler_statistics {
    std::array<std::uint64_t, command_count> commands{};
    std::uint64_t forwarded = 0; // reads answered from the write queue
    std::uint64_t merged = 0;    // writes that replaced a queued one of the same place
    std::uint64_t busy = 0;      // clocks in which any request was pending
    [[nodiscard]] std::uint64_t of(command what) const { return commands[static_cast<std::size_t>(what)]; }
};

class scheduler {
public:
    static constexpr clocks never = ~clocks{0};
    using request_id = std::uint64_t; // the caller's

    // A read whose last data arrived, or a write that the write queue took over (and may hold for long).
    struct completion {
        request_id id;
        clocks when;
        bool write;
    };

    // `log`: every command is appended to it if it is given, in order of planning, not of time.
    scheduler(const organization &shape, const timing &timing, const policy &policy,
              std::vector<issued> *log = nullptr);

    // A request that arrives at `when`, not before any time given to advance(). It waits outside of the
    // queues while they are full, in order of arrival.
    void request(request_id id, const place &at, bool write, clocks when);

    // Decides all that is due before `until`. No request may come before it any more.
    void advance(clocks until)
    {
        if (std::min(due_, next_refresh_) < until) {
            run(until);
        }
    }

    // When the next decision is due if no request comes; nothing pending: `never`.
    [[nodiscard]] clocks due() const { return due_; }
    // No decision about a request that comes at `arrival` is before it.
    [[nodiscard]] clocks due_after(clocks arrival) const { return std::max(arrival, next_turn_); }
    [[nodiscard]] bool has_writes() const { return writes_.size() != 0; }

    // Completions since the last forget_completions(), in order of decision; `when` can be ahead of
    // advance()'s time.
    [[nodiscard]] const std::vector<completion> &completions() const { return completions_; }
    void forget_completions() { completions_.clear(); }

    [[nodiscard]] std::uint32_t pending() const
    {
        return reads_.size() + writes_.size() +
               static_cast<std::uint32_t>(waiting_reads_.size() + waiting_writes_.size());
    }
    // `busy` as of `now`.
    [[nodiscard]] scheduler_statistics statistics(clocks now) const;

private:
    struct waiting {
        request_id id;
        place at;
    };
    // A bank's candidate: when its column command could go, and what decides among equals.
    struct choice {
        clocks ready = never;
        std::uint64_t order = never; // lower first; the bank is in the lowest bits
        [[nodiscard]] bool before(const choice &other) const
        {
            return ready < other.ready || (ready == other.ready && order < other.order);
        }
        [[nodiscard]] bool known() const { return ready != never; }
    };

    [[nodiscard]] bool has_requests() const { return (reads_.banks() | writes_.banks()) != 0; }
    [[nodiscard]] clocks decision_due() const;
    void turn_after(clocks column) { next_turn_ = column > lead_ ? column - lead_ : 0; }
    bool admit(request_id id, const place &at, bool write, clocks when);
    void admit_waiting(clocks when);
    void choose_direction();
    void choose_by_score(clocks now);
    template <command column>
    [[nodiscard]] choice prospect(const request_queue &queue, std::uint32_t bank, clocks now) const;
    template <command column> [[nodiscard]] choice most_urgent(const request_queue &queue, clocks now) const;
    template <command column> void reconsider(const request_queue &queue, std::uint32_t bank, clocks now);
    void run(clocks until);
    void decide(clocks now);
    template <command column> void decide(request_queue &queue, clocks now);
    [[nodiscard]] std::uint32_t served() const
    {
        return static_cast<std::uint32_t>(statistics_.of(command::read) + statistics_.of(command::write));
    }
    template <command column> void serve(request_queue &queue, std::uint32_t bank, clocks now);
    void open(request_queue &other, std::uint32_t bank, std::uint32_t row, clocks now);
    void close(std::uint32_t bank, clocks now);
    void close_unwanted(std::uint32_t bank, std::uint32_t row, clocks now);
    void refresh();
    void record(command what, std::uint32_t bank, std::uint32_t row, std::uint32_t column, clocks when);
    void write_down(const issued &one);
    void begin_busy(clocks when);

    timing timing_;
    policy policy_;
    banks banks_;
    command_bus bus_;
    std::vector<issued> *log_;

    request_queue reads_;
    request_queue writes_;
    ring<waiting> waiting_reads_; // outside of the full queues
    ring<waiting> waiting_writes_;
    std::uint64_t order_ = 0;
    bool draining_ = false;         // between the watermarks, downwards
    std::uint32_t writes_left_ = 0; // of this drain
    std::uint32_t reads_first_ = 0; // that go before the next drain
    bool writing_ = false;          // what the present decision is about
    bool wrote_ = false;            // the last column command

    clocks due_ = never;              // of the next decision
    clocks floor_ = 0;                // no decision before it: the last arrival, the last decision
    choice planned_;                  // for the next decision, if nothing faster comes
    clocks lead_;                     // a decision is so long before the column command
    clocks next_turn_ = 0;            // no decision before it: the last column command less the lead
    std::vector<clocks> refresh_due_; // by rank
    clocks next_refresh_;             // the earliest of them

    clocks busy_from_ = 0;
    clocks busy_until_ = 0; // end of the last data
    scheduler_statistics statistics_;
    std::vector<completion> completions_;
};

} // namespace bulkhead::machine::dram
