// SPDX-License-Identifier: Apache-2.0
// The scheduler of one DRAM channel: first ready, first come (FR-FCFS, Rixner et al., ISCA 2000), command by
// command. In each clock one command goes out: the column command of the oldest request whose row is open and
// whose time has come, else the precharge or activate of the oldest request that needs one; so rows of
// waiting banks are opened in the shadow of other banks' row hits. It goes from event to event: what goes
// next and when is planned, and planned again when a request comes or goes. Whose turn it is, reads or
// writes, is a policy's affair (turn_policy.h). tests/machine/reference_scheduler.h does the same by looking
// at every clock.
#pragma once

#include "machine/dram/banks.h"
#include "machine/dram/policy.h"
#include "machine/dram/request_queue.h"
#include "machine/dram/turn_policy.h"
#include "machine/ring.h"

namespace bulkhead::machine::dram {

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

    // `log`: every command is appended to it if it is given, in order of time.
    scheduler(const organization &shape, const timing &timing, const policy &policy,
              std::vector<issued> *log = nullptr);

    // A request that arrives at `when`, not before any time given to advance(). It waits outside of the
    // queues while they are full, in order of arrival.
    void request(request_id id, const place &at, bool write, clocks when, std::uint16_t partition = 0);

    // Another policy decides about turns from now on. While nothing is pending.
    void set_turns(std::unique_ptr<turn_policy> turns);

    // Issues all that goes before `until`. No request may come before it any more.
    void advance(clocks until)
    {
        if (std::min(due_, next_refresh_) < until) {
            run(until);
        }
    }

    // No command but a refresh's goes before it if no request comes; nothing to do: `never`.
    [[nodiscard]] clocks due() const { return due_; }
    // No completion that is not known yet is before it if no request comes; nothing pending: `never`.
    [[nodiscard]] clocks completes_after() const;
    // No completion that a request brings about which comes at `arrival` is before it.
    [[nodiscard]] clocks completes_after(clocks arrival, bool write) const;

    // Completions since the last forget_completions(), in order of command; `when` can be ahead of
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
        std::uint16_t partition;
        clocks arrived;
    };
    // A command that can go at `when`. Of two that could go in one clock the one with the lower precedence
    // goes: its class is in the highest bits, then the request's order, its direction, and the bank in the
    // lowest.
    struct plan {
        clocks when = never;
        std::uint64_t precedence = never;
        __extension__ using wide = unsigned __int128; // compared in two instructions
        [[nodiscard]] wide key() const { return wide{when} << 64U | precedence; }
        [[nodiscard]] bool before(const plan &other) const { return key() < other.key(); }
        // Becomes the other one if that goes before. Word by word: the host would wait for a plan that is
        // read as a whole when it was just written in two words.
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
    // What requests whose turn it is wait for. The first of each kind is kept, since a command changes the
    // times of its own kind only, and those of its bank.
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
    // A time that has passed has been another command's, and says no more who is the first.
    [[nodiscard]] bool outdated(kind which, std::uint32_t stale, clocks from) const
    {
        return (stale >> which & 1U) != 0 || first_[which].when < from;
    }
    void join(bool write, std::uint32_t bank, clocks from);
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
    ring<waiting> waiting_reads_; // outside of the full queues
    ring<waiting> waiting_writes_;
    std::uint64_t order_ = 1;  // of the next request; 0 is before all
    std::uint32_t served_ = 0; // column commands, modulo 2^32

    turn turn_;
    plan planned_;                    // the next command, if nothing comes
    std::array<plan, kinds> first_{}; // of each kind, for the direction whose turn it is, if it is not stale
    std::uint32_t stale_ = all_kinds; // kinds, as bits
    clocks look_again_ = never;       // when to plan anew although nothing comes or goes: turn or age
    clocks due_ = never;              // the earlier of both
    clocks free_ = 0;                 // the command bus is free from then on
    bool overdue_ = false;            // the oldest request of the direction is over the age limit
    bool changed_ = false;            // an arrival needs a new plan
    std::uint32_t preferred_ = no_bank; // whose candidate was chosen by prefer()
    bool preferred_write_ = false;

    std::uint64_t closing_ = 0;       // banks with an open row that nobody wants, to be closed
    std::uint64_t refreshing_ = 0;    // banks of ranks that are to be refreshed: nothing else goes there
    std::vector<clocks> refresh_due_; // by rank
    clocks next_refresh_;             // the earliest of those whose turn has not come

    clocks busy_from_ = 0;
    clocks busy_until_ = 0; // end of the last data
    scheduler_statistics statistics_;
    std::vector<completion> completions_;

    static constexpr std::uint32_t no_bank = ~std::uint32_t{0};
    static constexpr std::uint32_t all_kinds = (1U << kinds) - 1;
};

} // namespace bulkhead::machine::dram
