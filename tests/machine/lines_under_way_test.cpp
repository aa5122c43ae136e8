// SPDX-License-Identifier: Apache-2.0
// The table of lines that a core has asked for: whatever is added, changed and removed, it answers as a plain
// list of the same entries would.
#include <gtest/gtest.h>

#include <map>

#include "machine/lines_under_way.h"
#include "machine/random.h"

namespace bulkhead::machine::test {

namespace {

using index = lines_under_way::index;
using purpose = lines_under_way::purpose;
constexpr std::array all{purpose::load, purpose::store, purpose::prefetch};

struct both {
    lines_under_way table;
    std::map<index, lines_under_way::entry> list;
    std::uint64_t order = 0;
    std::uint64_t tickets = 0;

    void add(phys_addr line, purpose why, picoseconds when)
    {
        const lines_under_way::entry added{line, tickets++, order++, 0, when, why, {}, false};
        const index which = table.add(added);
        ASSERT_TRUE(list.emplace(which, added).second) << "an entry in use was given away";
    }
    void remove(index which)
    {
        table.remove(which);
        list.erase(which);
    }
    // Of the entries that `wanted` picks, the one with the lowest order.
    template <class Wanted> index first(Wanted &&wanted) const
    {
        index found = lines_under_way::none;
        for (const auto &[which, one] : list) {
            if (wanted(one) && (found == lines_under_way::none || one.order < list.at(found).order)) {
                found = which;
            }
        }
        return found;
    }
    void compare(picoseconds now)
    {
        for (const purpose why : all) {
            const auto has = [why](const auto &one) { return one.why == why; };
            const auto count =
                std::count_if(list.begin(), list.end(), [&](const auto &one) { return has(one.second); });
            ASSERT_EQ(table.count_of(why), count);
            if (count != 0) {
                ASSERT_EQ(table.oldest(why), first(has));
            }
        }
        for (const auto &[which, one] : list) {
            ASSERT_EQ(table.find(one.line), which);
        }
        const auto here = [now](const auto &one) { return one.why != purpose::prefetch && one.when <= now; };
        const index arrived = first(here);
        if (arrived != lines_under_way::none) {
            ASSERT_LE(table.first_arrival(), now) << "a line that arrived would be overlooked";
        }
        ASSERT_EQ(table.arrived(now), arrived);
    }
};

TEST(lines_under_way, answers_as_a_list_of_its_entries)
{
    both own;
    random_source random(5);
    for (std::uint32_t step = 0; step < 20'000; ++step) {
        const picoseconds now{step};
        const phys_addr line{std::uint64_t{random.below(200)} * 32};
        const index known = own.first([line](const auto &one) { return one.line == line; });
        if (known == lines_under_way::none && own.list.size() < lines_under_way::most) {
            const bool unknown = random.below(2) == 0;
            own.add(line, all.at(random.below(3)),
                    unknown ? lines_under_way::unknown : picoseconds{step + random.below(100)});
        } else if (known == lines_under_way::none) {
            ASSERT_EQ(own.table.find(line), lines_under_way::none);
            own.remove(own.list.begin()->first);
        } else if (random.below(2) == 0) {
            own.remove(known);
        } else if (auto &entry = own.list.at(known); entry.when == lines_under_way::unknown) {
            entry.when = picoseconds{step + random.below(100)};
            own.table.arrives(entry.ticket, entry.when);
        } else if (entry.why == purpose::prefetch) {
            entry.why = purpose::load;
            entry.order = own.order++;
            own.table.change(known, entry.why, entry.order, entry.instruction);
        }
        own.compare(now);
    }
}

} // namespace

} // namespace bulkhead::machine::test
