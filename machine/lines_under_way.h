// SPDX-License-Identifier: Apache-2.0
// The lines that a core has asked for and not yet put into its caches: which, why, and when their data come.
// A core owns one (machine/core.h) and asks on every miss, so that nothing here looks at all entries unless
// one is there to be found. It knows no time and decides nothing.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "machine/time.h"
#include "machine/types.h"

namespace bulkhead::machine {

class lines_under_way {
public:
    static constexpr std::uint32_t most = 32;
    using index = std::uint32_t;
    static constexpr index none = most;
    static constexpr picoseconds unknown{~std::uint64_t{0}}; // until memory says

    enum class purpose : std::uint8_t { load, store, prefetch };
    struct entry {
        phys_addr line; // as L1 has it
        std::uint64_t ticket;
        std::uint64_t order;
        std::uint64_t instruction; // when it began, by the count of instructions
        picoseconds when;          // of the data
        purpose why;
        owner_id owner;
        bool from_memory;
    };

    [[nodiscard]] const entry &operator[](index which) const { return entries_[which]; }
    [[nodiscard]] std::uint32_t count_of(purpose why) const { return counts_[slot(why)]; }
    [[nodiscard]] index find(phys_addr line) const
    {
        return lines_of_class_[class_of(line)] == 0 ? none : search(line);
    }

    // The one with the lowest order; there is one.
    [[nodiscard]] index oldest(purpose why) const
    {
        if (why == purpose::prefetch) {
            return oldest_prefetch_;
        }
        std::uint32_t left = members_[slot(why)];
        index first = lowest(left);
        for (left &= left - 1; left != 0; left &= left - 1) {
            first = entries_[lowest(left)].order < entries_[first].order ? lowest(left) : first;
        }
        return first;
    }

    // Not when there are `most`. A prefetch has the highest order of all.
    index add(const entry &added)
    {
        const index which = lowest(free_);
        free_ &= free_ - 1;
        entries_[which] = added;
        ++lines_of_class_[class_of(added.line)];
        enter(which);
        return which;
    }
    void remove(index which)
    {
        leave(which);
        --lines_of_class_[class_of(entries_[which].line)];
        free_ |= 1U << which;
    }
    // A prefetched or loaded line is wanted for something else now.
    void change(index which, purpose why, std::uint64_t order, std::uint64_t instruction)
    {
        leave(which);
        entry &changed = entries_[which];
        changed.why = why;
        changed.order = order;
        changed.instruction = instruction;
        enter(which);
    }
    void arrives(std::uint64_t ticket, picoseconds when)
    {
        for (std::uint32_t left = ~free_; left != 0; left &= left - 1) {
            entry &one = entries_[lowest(left)];
            if (one.when == unknown && one.ticket == ticket) {
                one.when = when;
                first_arrival_ =
                    one.why == purpose::prefetch ? first_arrival_ : std::min(first_arrival_, when);
                return;
            }
        }
    }

    // No load or store has its data before it.
    [[nodiscard]] picoseconds first_arrival() const { return first_arrival_; }
    // Of the loads and stores that have their data by `now`, the one with the lowest order, or none.
    index arrived(picoseconds now)
    {
        index first = none;
        first_arrival_ = unknown;
        for (std::uint32_t left = members_[0] | members_[1]; left != 0; left &= left - 1) {
            const index which = lowest(left);
            first_arrival_ = std::min(first_arrival_, entries_[which].when);
            if (entries_[which].when <= now &&
                (first == none || entries_[which].order < entries_[first].order)) {
                first = which;
            }
        }
        return first;
    }

private:
    static constexpr std::size_t slot(purpose why) { return static_cast<std::size_t>(why); }
    static index lowest(std::uint32_t bits) { return static_cast<index>(std::countr_zero(bits)); }
    static constexpr std::size_t line_classes = 1024;
    // By the lowest bits of a line's number; lines of 32 bytes or more.
    static std::size_t class_of(phys_addr line)
    {
        return (line.value >> 6U ^ line.value >> 5U) % line_classes;
    }

    [[nodiscard]] index search(phys_addr line) const
    {
        for (std::uint32_t left = ~free_; left != 0; left &= left - 1) {
            if (entries_[lowest(left)].line == line) {
                return lowest(left);
            }
        }
        return none;
    }

    void enter(index which)
    {
        const entry &one = entries_[which];
        members_[slot(one.why)] |= 1U << which;
        ++counts_[slot(one.why)];
        if (one.why != purpose::prefetch) {
            first_arrival_ = std::min(first_arrival_, one.when);
            return;
        }
        older_[which] = youngest_prefetch_;
        younger_[which] = none;
        (youngest_prefetch_ == none ? oldest_prefetch_ : younger_[youngest_prefetch_]) = which;
        youngest_prefetch_ = which;
    }
    void leave(index which)
    {
        const purpose why = entries_[which].why;
        members_[slot(why)] &= ~(1U << which);
        --counts_[slot(why)];
        if (why == purpose::prefetch) {
            (older_[which] == none ? oldest_prefetch_ : younger_[older_[which]]) = younger_[which];
            (younger_[which] == none ? youngest_prefetch_ : older_[younger_[which]]) = older_[which];
        }
    }

    std::array<entry, most> entries_{};
    std::uint32_t free_ = ~std::uint32_t{0}; // bit i: entry i
    std::array<std::uint32_t, 3> members_{}; // by purpose, the same
    std::array<std::uint32_t, 3> counts_{};  // by purpose
    picoseconds first_arrival_ = unknown;
    // Prefetches in the order of their asking.
    index oldest_prefetch_ = none;
    index youngest_prefetch_ = none;
    std::array<index, most> older_{};
    std::array<index, most> younger_{};
    std::array<std::uint8_t, line_classes> lines_of_class_{};
};

} // namespace bulkhead::machine
