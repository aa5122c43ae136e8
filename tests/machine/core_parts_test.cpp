// SPDX-License-Identifier: Apache-2.0
// Machine S2, S3: the parts of a core that can be tested without a machine: its clock and its tallies.
#include <gtest/gtest.h>

#include <vector>

#include "machine/core_clock.h"
#include "machine/event_tallies.h"

namespace bulkhead::machine::test::core_parts_test {

namespace {

core_settings one_ghz()
{
    core_settings wanted;
    wanted.frequency_hz = 1'000'000'000;
    wanted.load_use_cycles = 3;
    return wanted;
}

TEST(core_clock, what_is_used_of_the_budget_is_time)
{
    core_clock own(one_ghz());
    own.resumed();
    own.settle();
    own.grant(picoseconds{10'000}, 1'000);
    EXPECT_TRUE(core_clock::execute(4));
    EXPECT_EQ(own.now().value, 4'000U);
    EXPECT_EQ(own.executed(), 4U);
    EXPECT_TRUE(own.execute_load_use());
    EXPECT_EQ(own.now().value, 7'000U);
    EXPECT_EQ(own.executed(), 4U);
    EXPECT_FALSE(core_clock::execute(4)); // beyond the limit
    own.settle();
    EXPECT_EQ(own.settled().value, 11'000U);
}

TEST(core_clock, a_budget_ends_at_the_number_of_instructions_too)
{
    core_clock own(one_ghz());
    own.resumed();
    own.settle();
    own.grant(picoseconds{1'000'000}, 2);
    EXPECT_TRUE(core_clock::execute(2));
    EXPECT_FALSE(core_clock::execute(1));
}

TEST(core_clock, who_does_not_run_uses_nothing_of_another_ones_budget)
{
    core_clock first(one_ghz());
    core_clock second(one_ghz());
    first.resumed();
    first.settle();
    first.grant(picoseconds{100'000}, 100);
    (void)core_clock::execute(10);
    first.settle();
    first.left();
    second.resumed();
    second.settle();
    second.grant(picoseconds{100'000}, 100);
    (void)core_clock::execute(50);
    EXPECT_EQ(first.now().value, 10'000U);
    EXPECT_EQ(second.now().value, 50'000U);
}

TEST(event_tallies, watchers_are_called_at_the_count_and_may_watch_anew)
{
    event_tallies own;
    std::vector<std::uint64_t> seen;
    own.count(core_event::bus_access, 3);
    own.watch(core_event::bus_access, 5, [&] {
        seen.push_back(own.of(core_event::bus_access));
        own.watch(core_event::bus_access, 7, [&] { seen.push_back(own.of(core_event::bus_access)); });
    });
    own.count(core_event::bus_access);
    EXPECT_TRUE(seen.empty());
    own.count(core_event::bus_access);
    own.count(core_event::bus_access, 10);
    EXPECT_EQ(seen, (std::vector<std::uint64_t>{5, 15}));
    EXPECT_EQ(own.of(core_event::bus_access), 15U);
    EXPECT_EQ(own.of(core_event::beats), 0U);
}

} // namespace

} // namespace bulkhead::machine::test::core_parts_test
