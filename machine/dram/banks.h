// SPDX-License-Identifier: Apache-2.0
// The state of one DRAM channel for its commands: the open row of each bank, and the earliest time of each
// command. It applies the rules of timing.h, from which the compiler makes straight-line code for each
// command. It decides nothing; the scheduler reads the times and issues commands.
#pragma once

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "machine/dram/organization.h"
#include "machine/dram/timing.h"

namespace bulkhead::machine::dram {

class banks {
public:
    static constexpr std::uint32_t no_row = ~std::uint32_t{0};

    banks(const organization &shape, const timing &timing);
    banks(const banks &) = delete;
    banks(banks &&) noexcept = default;
    banks &operator=(const banks &) = delete;
    banks &operator=(banks &&) noexcept = default;
    ~banks() = default;

    [[nodiscard]] std::uint32_t open_row(std::uint32_t bank) const { return banks_[bank].row; }
    // Bit b: bank b has an open row.
    [[nodiscard]] std::uint64_t open_banks() const { return open_; }
    [[nodiscard]] std::uint64_t banks_of_rank(std::uint32_t rank) const { return ranks_[rank].banks; }

    // The first clock, from `now` on, at which the command may go to the bank. The caller checks that the
    // command makes sense there (a read needs an open row).
    template <command what> [[nodiscard]] clocks earliest(std::uint32_t bank, clocks now) const
    {
        const bank_state &own = banks_[bank];
        clocks when = later<what, any_rule(what, scope::bank)>(now, own.next);
        when = later<what, any_rule(what, scope::group)>(when, *own.group);
        return later<what, anywhere_in_rank(what)>(when, own.rank->next);
    }

    // The first clock at which a rank may be refreshed. All its banks are closed; it is the time at which
    // each of them could be activated.
    [[nodiscard]] clocks earliest_refresh(std::uint32_t rank) const;

    // Issues a command. `row` is used by activate only; `when` must not be before earliest().
    template <command what> void issue(std::uint32_t bank, std::uint32_t row, clocks when)
    {
        bank_state &own = banks_[bank];
        apply<what, scope::bank>(own.next, when);
        apply<what, scope::group>(*own.group, when);
        apply_rank<what>(*own.rank, when);
        if constexpr (what == command::activate) {
            own.row = row;
            open_ |= std::uint64_t{1} << bank;
            count_activate(*own.rank, when);
        } else if constexpr (what == command::precharge) {
            own.row = no_row;
            open_ &= ~(std::uint64_t{1} << bank);
        }
    }
    void refresh(std::uint32_t rank, clocks when) { apply_rank<command::refresh>(ranks_[rank], when); }

private:
    struct alignas(64) line : std::array<clocks, command_count> {}; // the earliest time of each command
    struct alignas(128) rank_state {
        std::array<clocks, command_count> next{};
        std::array<clocks, 4> activates{}; // the last four activates, in a ring; each time includes tFAW
        std::uint32_t oldest = 0;
        std::uint64_t banks = 0;
    };
    struct alignas(64) bank_state {
        std::array<clocks, command_count> next{};
        line *group;
        rank_state *rank;
        std::uint32_t row = no_row;
    };

    static constexpr std::size_t slot(command what) { return static_cast<std::size_t>(what); }
    static constexpr bool anywhere_in_rank(command what)
    {
        return any_rule(what, scope::rank) || any_rule(what, scope::other_rank);
    }

    // Whether a rule applies. Rules that delay a refresh after another command are left out: a bank's
    // activate is delayed as much, and earliest_refresh() takes the maximum of the banks' times for an
    // activate.
    static constexpr bool matters(const rule &one, command first, scope where)
    {
        const bool known_by_banks = one.then == command::refresh && one.first != command::refresh;
        return one.first == first && one.where == where && !known_by_banks;
    }

    // Whether a rule always increases the earliest time, so that no maximum with the old value is needed: a
    // command is never issued before its own earliest time, and a time that only one kind of command delays
    // is delayed in order of time.
    static constexpr bool moves_on(const rule &one)
    {
        const bool sole = std::all_of(rules.begin(), rules.end(), [&one](const rule &other) {
            const bool same_slot =
                other.then == one.then &&
                (other.where == one.where || (one.where == scope::rank && other.where == scope::other_rank));
            return !same_slot || other.first == one.first;
        });
        return one.where != scope::other_rank && (one.first == one.then || sole);
    }

    template <command what, bool ruled, class Line> static clocks later(clocks when, const Line &next)
    {
        return ruled ? std::max(when, next[slot(what)]) : when;
    }

    // Applies the delays that `what`, issued at `when`, causes within one scope.
    template <command what, scope where, class Line> void apply(Line &next, clocks when) const
    {
        apply<what, where>(next, when, std::make_index_sequence<rules.size()>{});
    }
    template <command what, scope where, class Line, std::size_t... i>
    void apply(Line &next, clocks when, std::index_sequence<i...> /*all*/) const
    {
        (apply_rule<i, matters(rules[i], what, where)>(next, when), ...);
    }
    template <std::size_t i, bool holds, class Line> void apply_rule(Line &next, clocks when) const
    {
        if constexpr (holds) {
            clocks &earliest = next[slot(rules[i].then)];
            const clocks put_off = when + distance_[i];
            earliest = moves_on(rules[i]) ? put_off : std::max(earliest, put_off);
        }
    }
    template <command what> void apply_rank(rank_state &rank, clocks when)
    {
        apply<what, scope::rank>(rank.next, when);
        if (ranks_.size() > 1 && any_rule_after(what, scope::other_rank)) {
            apply_other_ranks<what>(rank, when);
        }
    }
    template <command what> [[gnu::noinline]] void apply_other_ranks(const rank_state &rank, clocks when)
    {
        for (rank_state &other : ranks_) {
            if (&other != &rank) {
                apply<what, scope::other_rank>(other.next, when);
            }
        }
    }
    void count_activate(rank_state &rank, clocks when) const
    {
        clocks &next = rank.next[slot(command::activate)];
        rank.activates[rank.oldest] = when + faw_;
        rank.oldest = (rank.oldest + 1) % 4;
        next = std::max(next, rank.activates[rank.oldest]); // tFAW: after the fourth last activate
    }

    std::array<clocks, rules.size()> distance_{}; // distance of each rule, in clocks
    clocks faw_;
    std::uint64_t open_ = 0;
    // Never resized: banks have pointers to their group and rank.
    std::vector<rank_state> ranks_;
    std::vector<line> groups_; // groups of all ranks
    std::vector<bank_state> banks_;
};

} // namespace bulkhead::machine::dram
