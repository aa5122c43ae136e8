// SPDX-License-Identifier: Apache-2.0
// The state of one DRAM channel as its commands see it: which row is open in each bank, and when each command
// may go where. It applies the constraint list and decides nothing; the scheduler asks and issues.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "machine/dram/organization.h"
#include "machine/dram/timing.h"

namespace bulkhead::machine::dram {

class banks {
public:
    static constexpr std::uint32_t no_row = ~std::uint32_t{0};

    banks(const organization &shape, const timing &timing);

    [[nodiscard]] std::uint32_t count() const { return count_; }
    [[nodiscard]] std::uint32_t ranks() const { return rank_count_; }
    [[nodiscard]] std::uint32_t rank_of(std::uint32_t bank) const { return where_[bank].rank; }
    [[nodiscard]] std::uint32_t open_row(std::uint32_t bank) const { return open_[bank]; }
    // Bit b: bank b has an open row.
    [[nodiscard]] std::uint64_t open_banks() const { return open_mask_; }
    [[nodiscard]] std::uint64_t banks_of_rank(std::uint32_t rank) const { return ranks_[rank].banks; }

    // The first clock at which the command may go to the bank; whether it makes sense there (a read of a
    // closed bank) is the caller's affair.
    [[nodiscard]] clocks earliest(command what, std::uint32_t bank) const
    {
        const auto i = static_cast<std::size_t>(what);
        const location &at = where_[bank];
        return std::max(banks_[bank][i], std::max(groups_[at.group][i], ranks_[at.rank].next[i]));
    }

    // A refresh of a rank, all of whose banks are closed.
    [[nodiscard]] clocks earliest_refresh(std::uint32_t rank) const
    {
        return ranks_[rank].next[static_cast<std::size_t>(command::refresh)];
    }

    // `row` matters for activate only; `when` is not before earliest().
    void issue(command what, std::uint32_t bank, std::uint32_t row, clocks when)
    {
        const location at = where_[bank];
        apply(banks_[bank], rules_of(scope::bank, what), when);
        apply(groups_[at.group], rules_of(scope::group, what), when);
        apply_rank(what, at.rank, when);
        if (what == command::activate) {
            opened(bank, at.rank, row, when);
        } else if (what == command::precharge) {
            open_[bank] = no_row;
            open_mask_ &= ~(std::uint64_t{1} << bank);
        }
    }
    void refresh(std::uint32_t rank, clocks when) { apply_rank(command::refresh, rank, when); }

private:
    using line = std::array<clocks, command_count>; // the earliest time of each command
    // What one command forbids within a scope: short lists, because most pairs have no rule.
    struct rule {
        std::uint32_t then;
        std::uint32_t distance;
    };
    struct rules {
        std::array<rule, command_count> all{};
        std::uint32_t count = 0;
    };
    using rules_by_command = std::array<rules, command_count>;
    struct location {
        std::uint32_t group; // within the channel
        std::uint32_t rank;
    };
    struct rank_state {
        line next{};
        std::array<clocks, 4> activates{}; // of the last four, in a ring; plus tFAW
        std::uint32_t oldest = 0;
        std::uint64_t banks = 0;
    };

    static void apply(line &next, const rules &known, clocks when)
    {
        for (std::uint32_t i = 0; i < known.count; ++i) {
            clocks &earliest = next[known.all[i].then];
            earliest = std::max(earliest, when + known.all[i].distance);
        }
    }

    [[nodiscard]] const rules &rules_of(scope where, command what) const
    {
        return rules_[static_cast<std::size_t>(where)][static_cast<std::size_t>(what)];
    }
    void add(const constraint &one);
    void apply_rank(command what, std::uint32_t rank, clocks when)
    {
        apply(ranks_[rank].next, rules_of(scope::rank, what), when);
        for (std::uint32_t other = 0; rank_count_ > 1 && other < rank_count_; ++other) {
            if (other != rank) {
                apply(ranks_[other].next, rules_of(scope::other_rank, what), when);
            }
        }
    }
    void opened(std::uint32_t bank, std::uint32_t rank, std::uint32_t row, clocks when)
    {
        rank_state &state = ranks_[rank];
        clocks &next = state.next[static_cast<std::size_t>(command::activate)];
        open_[bank] = row;
        open_mask_ |= std::uint64_t{1} << bank;
        state.activates[state.oldest] = when + faw_;
        state.oldest = (state.oldest + 1) % 4;
        next = std::max(next, state.activates[state.oldest]); // of the fourth activate back
    }

    std::array<rules_by_command, 4> rules_{}; // by scope
    clocks faw_;
    std::uint32_t count_;
    std::uint32_t rank_count_;
    std::uint64_t open_mask_ = 0;
    // Arrays and not vectors: every decision reads them, and they are small.
    std::array<location, max_banks_per_channel> where_{};
    std::array<std::uint32_t, max_banks_per_channel> open_{};
    std::array<line, max_banks_per_channel> banks_{};
    std::array<line, max_banks_per_channel> groups_{};
    std::array<rank_state, max_ranks> ranks_{};
};

} // namespace bulkhead::machine::dram
