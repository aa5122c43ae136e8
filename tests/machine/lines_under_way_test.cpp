// SPDX-License-Identifier: Apache-2.0
// The table of lines that a core has asked for: whatever is added, changed and removed, it answers as a plain
// list of the same entries would.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "machine/lines_under_way.h"
#include "machine/random.h"

namespace bulkhead::machine::test {

namespace {

using purpose = lines_under_way::purpose;
constexpr std::array all{purpose::load, purpose::store, purpose::prefetch};

struct both {
    lines_under_way table;
    std::vector<lines_under_way::entry> list;
    std::uint64_t order = 0;
    std::uint64_t tickets = 0;

    void add(phys_addr line, purpose why, picoseconds when)
    {
        const lines_under_way::entry added{line, tickets++, order++, 0, when, why, false};
        table.add(added);
        list.push_back(added);
    }
    void release(picoseconds now)
    {
        table.release(now);
        std::erase_if(list, [now](const auto &one) { return one.when <= now; });
    }
    void compare() const
    {
        for (const purpose why : all) {
            const auto has = [why](const auto &one) { return one.why == why; };
            ASSERT_EQ(table.count_of(why), std::count_if(list.begin(), list.end(), has));
            const auto first = std::min_element(list.begin(), list.end(), [&](auto &one, auto &other) {
                return std::pair(!has(one), one.order) < std::pair(!has(other), other.order);
            });
            if (first != list.end() && has(*first)) {
                ASSERT_EQ(table[table.oldest(why)].ticket, first->ticket);
            }
        }
        for (const auto &one : list) {
            const auto which = table.find(one.line);
            ASSERT_NE(which, lines_under_way::none);
            ASSERT_EQ(table[which].ticket, last_of(one.line)->ticket);
        }
    }
    [[nodiscard]] std::vector<lines_under_way::entry>::const_iterator last_of(phys_addr line) const
    {
        auto last = list.end();
        for (auto one = list.begin(); one != list.end(); ++one) {
            last = one->line == line && (last == list.end() || one->order > last->order) ? one : last;
        }
        return last;
    }
};

TEST(lines_under_way, answers_as_a_list_of_its_entries)
{
    both own;
    random_source random(5);
    for (std::uint32_t step = 0; step < 20'000; ++step) {
        const phys_addr line{std::uint64_t{random.below(60)} * 32};
        const std::uint32_t what = random.below(4);
        if (what < 2 && own.list.size() < lines_under_way::most) {
            const bool unknown = random.below(2) == 0;
            own.add(line, all.at(random.below(3)),
                    unknown ? lines_under_way::unknown : picoseconds{step + random.below(100)});
        } else if (what == 2 && !own.list.empty()) {
            auto &entry = own.list[random.below(static_cast<std::uint32_t>(own.list.size()))];
            if (entry.when == lines_under_way::unknown) {
                entry.when = picoseconds{step + random.below(100)};
                own.table.arrives(entry.ticket, entry.when);
            }
        } else if (const auto which = own.table.find(line); which != lines_under_way::none) {
            const purpose why = all.at(random.below(3));
            const std::uint64_t ticket = own.table[which].ticket;
            own.table.change(which, why, own.order, step);
            const auto entry = std::find_if(own.list.begin(), own.list.end(),
                                            [=](const auto &one) { return one.ticket == ticket; });
            entry->why = why;
            entry->order = own.order++;
        } else {
            ASSERT_EQ(own.last_of(line), own.list.end());
        }
        own.release(picoseconds{step});
        own.compare();
    }
}

} // namespace

} // namespace bulkhead::machine::test
