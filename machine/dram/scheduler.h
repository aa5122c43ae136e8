// SPDX-License-Identifier: Apache-2.0
// The scheduler of one DRAM channel: first ready, first come (FR-FCFS, Rixner et al., ISCA 2000) with a cap
// on how often row hits may overtake, a write queue that is drained between two watermarks, refresh, and an
// open or closed page policy. It decides request by request, not clock by clock: as late as a controller can
// without leaving the data bus idle, it takes the request whose data can go first and plans its precharge,
// activate and column command at once (as Hansson et al., ISPASS 2014, do). Every command keeps every
// constraint.
#pragma once

#include <optional>

#include "machine/dram/banks.h"
#include "machine/dram/command_bus.h"
#include "machine/dram/request_queue.h"

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
    void advance(clocks until);

    // When the next decision is due if no request comes; nothing pending: nothing.
    [[nodiscard]] std::optional<clocks> next() const;

    // Completions since the last forget_completions(), in order of decision; `when` can be ahead of
    // advance()'s time.
    [[nodiscard]] const std::vector<completion> &completions() const { return completions_; }
    void forget_completions() { completions_.clear(); }

    [[nodiscard]] std::uint32_t pending() const { return reads_.size() + writes_.size() + waiting_count(); }
    // `busy` as of `now`.
    [[nodiscard]] scheduler_statistics statistics(clocks now) const;

private:
    struct waiting {
        request_id id;
        place at;
        bool write;
    };

    [[nodiscard]] std::uint32_t waiting_count() const
    {
        return static_cast<std::uint32_t>(waiting_.size() - waiting_first_);
    }
    [[nodiscard]] bool has_requests() const { return (reads_.banks() | writes_.banks()) != 0; }
    [[nodiscard]] clocks decision_due() const;

    bool admit(request_id id, const place &at, bool write, clocks when);
    void admit_waiting(clocks when);
    void choose_direction();
    struct choice {
        clocks ready;        // its column command
        std::uint64_t order; // among equals, lower first; and the bank
        [[nodiscard]] bool before(const choice &other) const
        {
            return ready < other.ready || (ready == other.ready && order < other.order);
        }
    };
    [[nodiscard]] choice prospect(const request_queue &queue, std::uint32_t bank, clocks now) const;
    [[nodiscard]] choice most_urgent(const request_queue &queue, clocks now) const;
    void reconsider(const request_queue &queue, std::uint32_t bank, clocks now);
    void decide(clocks now);
    void open(std::uint32_t bank, std::uint32_t row, clocks now);
    void close(std::uint32_t bank, clocks now);
    void refresh();
    void record(command what, std::uint32_t bank, std::uint32_t row, std::uint32_t column, clocks when);
    void begin_busy(clocks when);

    timing timing_;
    policy policy_;
    banks banks_;
    command_bus bus_;
    std::vector<issued> *log_;

    request_queue reads_;
    request_queue writes_;
    std::vector<waiting> waiting_; // from waiting_first_ on
    std::size_t waiting_first_ = 0;
    std::uint64_t order_ = 0;
    bool draining_ = false; // between the watermarks, downwards
    bool writing_ = false;  // what the present decision is about

    clocks floor_ = 0;                // no decision before it: the last arrival, the last decision
    std::optional<choice> planned_;   // for the next decision, if nothing faster comes
    clocks last_column_ = 0;          // column command
    clocks lead_;                     // how long before that the next decision is due
    std::vector<clocks> refresh_due_; // by rank
    clocks next_refresh_;             // the earliest of them

    clocks busy_from_ = 0;
    clocks busy_until_ = 0; // end of the last data
    scheduler_statistics statistics_;
    std::vector<completion> completions_;
};

} // namespace bulkhead::machine::dram
