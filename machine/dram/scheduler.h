// SPDX-License-Identifier: Apache-2.0
// The scheduler of one DRAM channel: first ready, first come, first served (FR-FCFS, Rixner et al., ISCA
// 2000), command by command. Each clock it issues one command: the column command of the oldest request whose
// row is open and whose time has come, otherwise the precharge or activate of the oldest request that needs
// one; so rows of waiting banks are opened in the shadow of other banks' row hits. It is event-driven: the
// next command and its time are planned, and planned anew when a request arrives or completes. A policy
// (turn_policy.h) decides between reads and writes. tests/machine/reference_scheduler.h does the same clock
// by clock.
#pragma once

#include "machine/dram/banks.h"
#include "machine/dram/policy.h"
#include "machine/dram/request_queue.h"
#include "machine/dram/turn_policy.h"
#include "machine/ring.h"

namespace bulkhead::machine::dram {

// A command as it was issued; for a refresh, `bank` is the first bank of its rank.
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
    std::uint64_t merged = 0;    // writes that replaced a queued write to the same place
    std::uint64_t busy = 0;      // clocks with a pending request
    [[nodiscard]] std::uint64_t of(command what) const { return commands[static_cast<std::size_t>(what)]; }
};

class scheduler {
public:
    static constexpr clocks never = ~clocks{0};
    using request_id = std::uint64_t; // chosen by the caller

    // A read whose last data arrived, or a write that the write queue took over (where it may wait for long).
    struct completion {
        request_id id;
        clocks when;
        bool write;
    };

    // `log`: if given, every command is appended to it, in order of time.
    scheduler(const organization &shape, const timing &timing, const policy &policy,
              std::vector<issued> *log = nullptr);

    // A request that arrives at `when`, not before any time given to advance(). While the queues are full it
    // waits outside of them, in order of arrival.
    void request(request_id id, const place &at, bool write, clocks when, std::uint16_t partition = 0);

    // Replaces the policy that decides about turns. Call it while nothing is pending.
    void set_turns(std::unique_ptr<turn_policy> turns);

    // Issues all commands that are due before `until`. No request may arrive before `until` any more.
    void advance(clocks until)
    {
        if (std::min(due_, next_refresh_) < until) {
            run(until);
        }
    }

    // Earliest clock of the next command except a refresh, if no request arrives; `never` without commands.
    [[nodiscard]] clocks due() const { return due_; }
    // Lower bound of the completions that are not known yet, if no request arrives; `never` if nothing is
    // pending.
    [[nodiscard]] clocks completes_after() const;
    // Lower bound of the completions that a request arriving at `arrival` causes.
    [[nodiscard]] clocks completes_after(clocks arrival, bool write) const;

    // Completions since the last forget_completions(), in order of their commands; `when` can be later than
    // the time given to advance().
    [[nodiscard]] const std::vector<completion> &completions() const { return completions_; }
    void forget_completions() { completions_.clear(); }

    [[nodiscard]] std::uint32_t pending() const
    {
        return reads_.size() + writes_.size() +
               static_cast<std::uint32_t>(waiting_reads_.size() + waiting_writes_.size());
    }
    // Statistics with `busy` up to `now`.
    [[nodiscard]] scheduler_statistics statistics(clocks now) const;

private:
    struct waiting {
        request_id id;
        place at;
        std::uint16_t partition;
        clocks arrived;
    };
    // A command that can be issued at `when`. If two could be issued in one clock, the one with the lower
    // precedence is issued. Precedence has the command's class in the highest bits, then the request's order,
    // its direction, and the bank in the lowest.
    struct plan {
        clocks when = never;
        std::uint64_t precedence = never;
        __extension__ using wide = unsigned __int128; // compared in two instructions
        [[nodiscard]] wide key() const { return wide{when} << 64U | precedence; }
        [[nodiscard]] bool before(const plan &other) const { return key() < other.key(); }
        // Takes over the other plan if that comes first. Copied word by word, because on the host a load of
        // both words at once stalls if they were just stored as two words.
        void yield_to(const plan &other)
        {
            if (other.before(*this)) [[unlikely]] {
                when = other.when;
                precedence = other.precedence;
            }
        }
        [[nodiscard]] std::uint32_t bank() const
        {
            return static_cast<std::uint32_t>(precedence % max_banks_per_channel);
        }
    };
    // The kinds of commands that requests of the direction with the turn wait for. The first plan of each
    // kind is kept, because a command changes only the times of its own kind and of its bank.
    enum kind : std::uint32_t { columns, activates, precharges, kinds };

    [[nodiscard]] request_queue &queue_of(bool write) { return write ? writes_ : reads_; }
    [[nodiscard]] const request_queue &queue_of(bool write) const { return write ? writes_ : reads_; }
    [[nodiscard]] bool has_requests() const { return (reads_.banks() | writes_.banks()) != 0; }
    [[nodiscard]] bool is_open(std::uint32_t bank) const { return (banks_.open_banks() >> bank & 1U) != 0; }
    bool admit(request_id id, const place &at, bool write, clocks when, std::uint16_t partition);
    void admit_waiting(clocks when);
    [[gnu::noinline]] void choose_waiting(ring<waiting> &line, clocks when);
    void append(request_id id, const place &at, bool write, clocks when, std::uint16_t partition);
    void take_turn(clocks now);
    void follow_rows(clocks now)
    {
        if (follows_rows_) [[unlikely]] {
            take_turn(now);
        }
    }

    void plan_all(clocks from);
    template <kind changed> void plan_after(clocks from);
    template <command column> void plan_direction(std::uint32_t stale, clocks from);
    template <command column> void plan_overdue(clocks from);
    void plan_alone(clocks from);
    void plan_refresh(clocks from);
    void plan_closing(clocks from);
    template <command what> [[nodiscard]] plan first_of(std::uint64_t banks, bool write, clocks from) const;
    // Whether the first plan of a kind must be computed anew. A plan whose time has passed was not issued
    // because another command was, so it may no longer be the first.
    [[nodiscard]] bool outdated(kind which, std::uint32_t stale, clocks from) const
    {
        return (stale >> which & 1U) != 0 || first_[which].when < from;
    }
    plan join(bool write, std::uint32_t bank, clocks from);
    [[nodiscard]] bool joins_plan(bool write, clocks from) const;
    [[nodiscard]] bool plainly() const { return turn_.only == nullptr && (closing_ | refreshing_) == 0; }
    template <command what> [[nodiscard]] plan of(std::uint32_t bank, bool write, clocks from) const;
    [[nodiscard]] plan next_of(bool write, std::uint32_t bank, clocks from) const;
    void propose(const plan &one) { planned_.yield_to(one); }
    void prefer(bool write, const request_queue::entry &which);

    void run(clocks until);
    void issue();
    void activate(std::uint32_t bank, bool write, clocks when);
    void precharge(std::uint32_t bank, clocks when);
    template <command column> void access(std::uint32_t bank, clocks when);
    void begin_refresh();
    void refresh(std::uint32_t bank, clocks when);
    void record(command what, std::uint32_t bank, std::uint32_t row, std::uint32_t column, clocks when);
    void write_down(const issued &one);
    void begin_busy(clocks when);

    timing timing_;
    policy policy_;
    banks banks_;
    std::unique_ptr<turn_policy> turns_;
    bool follows_rows_;
    bool tells_partitions_ = false;
    std::vector<issued> *log_;

    request_queue reads_;
    request_queue writes_;
    ring<waiting> waiting_reads_; // requests that wait outside of the full queues
    ring<waiting> waiting_writes_;
    std::uint64_t order_ = 1;  // number of the next request; 0 is before all
    std::uint32_t served_ = 0; // column commands so far, modulo 2^32

    turn turn_;
    plan planned_;                    // the next command if no request arrives
    std::array<plan, kinds> first_{}; // first plan of each kind for the direction with the turn, if not stale
    std::uint32_t stale_ = all_kinds; // stale kinds, as bits
    clocks look_again_ = never;       // time at which to plan anew without arrivals: the turn or the age
                                      // limit changes
    clocks due_ = never;              // the earlier of planned_ and look_again_
    clocks free_ = 0;                 // first clock at which the command bus is free
    bool overdue_ = false;            // the oldest request of the direction has reached the age limit
    bool changed_ = false;            // an arrival requires a new plan
    std::uint32_t preferred_ = no_bank; // bank whose candidate was chosen by prefer()
    bool preferred_write_ = false;

    std::uint64_t closing_ = 0;       // banks with an open row that no request needs, which are to be closed
    std::uint64_t refreshing_ = 0;    // banks of ranks that are to be refreshed: no other commands go there
    std::vector<clocks> refresh_due_; // by rank
    clocks next_refresh_;             // the earliest one that is not due yet

    clocks busy_from_ = 0;
    clocks busy_until_ = 0; // end of the last data transfer
    scheduler_statistics statistics_;
    std::vector<completion> completions_;

    static constexpr std::uint32_t no_bank = ~std::uint32_t{0};
    static constexpr std::uint32_t all_kinds = (1U << kinds) - 1;
};

} // namespace bulkhead::machine::dram
