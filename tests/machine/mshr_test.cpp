// SPDX-License-Identifier: Apache-2.0
// The table of lines that a core has requested: whatever is added, changed and removed, it answers as a plain
// list of the same entries would.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "machine/mshr.h"
#include "machine/random.h"

namespace bulkhead::machine::test::mshr_test {

namespace {

using purpose = mshr_file::purpose;
using entry = mshr_file::entry;
constexpr std::array all{purpose::load, purpose::store, purpose::prefetch};

// The table's documented behaviour, on plain lists.
struct both {
    mshr_file table;
    std::array<std::vector<entry>, 3> lists;
    std::uint64_t tickets = 0;

    std::vector<entry> &of(purpose why) { return lists[static_cast<std::size_t>(why)]; }
    void add(purpose why, phys_addr line, picoseconds when)
    {
        const entry added{line, tickets++, 0, when, false};
        table.add(why, added);
        of(why).push_back(added);
    }
    void arrives(std::uint64_t ticket, picoseconds when)
    {
        table.arrives(ticket, when);
        for (auto &list : lists) {
            for (entry &one : list) {
                one.when = one.ticket == ticket ? when : one.when;
            }
        }
    }
    void want(phys_addr line, purpose why, std::uint64_t instruction, picoseconds now)
    {
        table.want(line, why, instruction, now);
        auto &ahead = of(purpose::prefetch);
        const auto found = std::find_if(ahead.begin(), ahead.end(),
                                        [&](const entry &one) { return one.line == line && one.when > now; });
        if (found != ahead.end()) {
            entry wanted = *found;
            wanted.instruction = instruction;
            ahead.erase(found);
            of(why).push_back(wanted);
        }
    }
    void compare(phys_addr line, picoseconds now)
    {
        std::size_t in_flight = 0;
        for (const purpose why : all) {
            std::erase_if(of(why), [now](const entry &one) { return one.when <= now; });
            in_flight += of(why).size();
        }
        for (std::uint32_t limit = 16; limit > 0; --limit) {
            ASSERT_EQ(table.full(limit, now), in_flight >= limit);
        }
        for (const purpose why : all) {
            for (std::uint32_t limit = 1; limit < 5; ++limit) {
                ASSERT_EQ(table.full(why, limit, now), of(why).size() >= limit);
            }
            if (table.any(why, now)) {
                ASSERT_EQ(table.oldest(why).ticket, of(why).front().ticket);
                ASSERT_EQ(table.oldest(why).instruction, of(why).front().instruction);
            }
        }
        const entry *last = nullptr;
        for (const auto &list : lists) {
            for (const entry &one : list) {
                last = one.line == line && (last == nullptr || one.when > last->when) ? &one : last;
            }
        }
        const entry *const found = table.find(line, now);
        ASSERT_EQ(found == nullptr, last == nullptr);
        if (last != nullptr) {
            ASSERT_EQ(found->when, last->when);
        }
    }
};

TEST(mshr_file, answers_as_lists_of_its_entries)
{
    both own;
    random_source random(5);
    for (std::uint32_t step = 0; step < 20'000; ++step) {
        const picoseconds now{step};
        const phys_addr line{std::uint64_t{random.below(20)} * 32};
        const purpose why = all.at(random.below(3));
        const std::uint32_t what = random.below(4);
        if (what < 2 && own.of(why).size() < 12) {
            const bool unknown = random.below(2) == 0;
            own.add(why, line, unknown ? mshr_file::unknown : picoseconds{step + random.below(100)});
        } else if (what == 2 && !own.of(why).empty()) {
            const auto place = random.below(static_cast<std::uint32_t>(own.of(why).size()));
            const entry one = own.of(why)[place];
            if (one.when == mshr_file::unknown) {
                own.arrives(one.ticket, picoseconds{step + random.below(100)});
            }
        } else if (own.of(purpose::load).size() < 20 && own.of(purpose::store).size() < 20) {
            own.want(line, random.below(2) == 0 ? purpose::load : purpose::store, step, now);
        }
        own.compare(line, now);
    }
}

} // namespace

} // namespace bulkhead::machine::test::mshr_test
