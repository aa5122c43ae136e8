// SPDX-License-Identifier: Apache-2.0
// A memory controller's channel that evaluates every clock, for tests to compare the scheduler with. It is
// written to be checked against the data sheet and the controllers' manuals: no plan, no cache, no shared
// state; requests are lists in order of arrival, and the list of timing constraints decides which commands
// can go. It shares the settings' and commands' types with the model, and the list of constraints, which
// dram_checker.h checks.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "machine/dram/scheduler.h"

namespace bulkhead::machine::dram::test {

class reference_scheduler {
public:
    using completion = scheduler::completion;

    reference_scheduler(const organization &shape, const timing &timing, const policy &policy,
                        std::vector<issued> *log);

    // As the scheduler's functions of the same names.
    void request(std::uint64_t id, const place &at, bool write, clocks when);
    void advance(clocks until);
    [[nodiscard]] const std::vector<completion> &completions() const { return completions_; }
    void forget_completions() { completions_.clear(); }
    [[nodiscard]] bool idle() const
    {
        return queues_[0].empty() && queues_[1].empty() && outside_[0].empty() && outside_[1].empty();
    }

private:
    struct queued {
        std::uint64_t id;
        place at;
        bool write;
        clocks arrived;
        std::uint64_t order = 0;         // of entering the queue
        std::uint32_t served_before = 0; // column commands before that
    };
    using queue = std::vector<queued>; // the oldest first
    struct proposal {
        command what;
        std::uint32_t bank;
        const queued *whose;
    };
    struct store {
        bool empty = true;
        clocks unserved = 0; // since
        clocks emptied = 0;
        clocks rests_until = 0;
    };

    // Requests.
    bool admit(const queued &one, clocks now);
    void admit_waiting(clocks now);
    [[nodiscard]] bool wanted(std::uint32_t bank, std::uint32_t row) const;
    [[nodiscard]] const queued *candidate(const queue &of, std::uint32_t bank, clocks now) const;
    [[nodiscard]] bool hits(const queued &one) const;

    // Turns.
    void take_turn(clocks now);
    void turn_by_watermarks();
    void turn_by_stores(clocks now);
    void turn_by_score();

    // Commands.
    void step(clocks now);
    [[nodiscard]] bool allowed(command what, std::uint32_t bank, clocks now) const;
    [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> banks_of(scope where, std::uint32_t bank) const;
    [[nodiscard]] std::optional<proposal> choose(clocks now) const;
    [[nodiscard]] std::optional<proposal> for_refresh(clocks now) const;
    [[nodiscard]] std::optional<proposal> for_direction(clocks now) const;
    [[nodiscard]] std::optional<proposal> for_winner(clocks now) const;
    [[nodiscard]] std::optional<proposal> for_closing(clocks now) const;
    void issue(const proposal &what, clocks now);
    [[nodiscard]] std::uint32_t rank_of(std::uint32_t bank) const;
    [[nodiscard]] std::uint32_t group_of(std::uint32_t bank) const;

    organization shape_;
    timing timing_;
    policy policy_;
    std::vector<issued> *log_;
    std::array<std::vector<constraint>, command_count> before_; // by command: what it must keep

    clocks now_ = 0;
    std::array<queue, 2> queues_;                                     // reads, writes
    std::array<queue, 2> outside_;                                    // of the full queues
    std::array<std::map<std::uint32_t, std::uint32_t>, 2> overtaken_; // by bank: since an older one was left
    std::map<std::uint32_t, std::uint32_t> open_;                     // bank: row
    std::array<std::vector<std::int64_t>, command_count> last_;       // by command and bank: when
    std::map<std::uint32_t, std::vector<clocks>> activates_;          // of a rank
    std::vector<clocks> refresh_due_;                                 // by rank
    std::uint64_t entered_ = 0;
    std::uint32_t served_ = 0;

    bool writing_ = false;
    const queued *winner_ = nullptr; // by score
    bool draining_ = false;          // by watermarks
    std::uint32_t writes_left_ = 0;
    std::uint32_t reads_first_ = 0;
    std::array<store, 2> stores_; // by transaction stores
    std::uint32_t run_left_ = 0;
    bool wrote_ = false;

    std::vector<completion> completions_;
};

} // namespace bulkhead::machine::dram::test
