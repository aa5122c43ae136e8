// SPDX-License-Identifier: Apache-2.0
// Cores that want the same resource, at the same time, without end: a master's writes in flight, or the lines
// that a shared level may request. Each gets its turn: a refused core precedes cores that come later.
// Otherwise the core with the lowest number would be served each time, and the last one never.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/machine/machine_make.h"

namespace bulkhead::machine::test::fairness_test {
namespace {

constexpr std::uint64_t lines = 20'000; // for each core: more than any cache holds
constexpr std::uint64_t line_bytes = 64;
constexpr picoseconds some_time{300'000'000};

// The number of lines that each core has finished when `some_time` is over; the slowest has nearly as many as
// the fastest.
void expect_fair(const settings &wanted, access_kind kind, std::size_t cores)
{
    const auto machine = make_machine(wanted);
    std::vector<std::uint64_t> done(cores);
    for (std::uint32_t n = 0; n < cores; ++n) {
        machine->core_at({n}).start([&done, n, kind](core &own) {
            for (std::uint64_t i = 0; i < lines; ++i, ++done[n]) {
                for (std::uint64_t word = 0; word < line_bytes; word += 8) {
                    own.access(phys_addr{(n * lines + i) * line_bytes + word}, 8, kind);
                }
            }
        });
    }
    machine->timeline().run(some_time);
    const auto [least, most] = std::minmax_element(done.begin(), done.end());
    EXPECT_LT(*most, lines) << "none should be done yet";
    EXPECT_GT(machine->memory().counts().refused, 300) << "nobody waits for room";
    EXPECT_GT(*least * 10, *most * 9) << testing::PrintToString(done);
    machine->timeline().run(for_ever);
    EXPECT_EQ(done, std::vector<std::uint64_t>(cores, lines));
}

settings writers(std::size_t cores)
{
    settings all = small_machine(cores);
    all.writes_in_flight = 4;
    for (core_settings &one : all.cores) {
        one.write_streaming = {.lines = 3, .shared_lines = 6};
    }
    return all;
}

TEST(fairness, cores_that_write_past_caches_get_equal_parts)
{
    expect_fair(writers(2), access_kind::write, 2);
    expect_fair(writers(4), access_kind::write, 4);
}

TEST(fairness, cores_that_wait_for_a_level_get_equal_parts)
{
    settings all = small_machine(4);
    all.levels[0].misses = 2;
    expect_fair(all, access_kind::read, 4);
}

// The master may have one write in flight, and has one.
class full_port : public testing::Test {
protected:
    full_port()
    {
        settings all = small_machine(1);
        all.writes_in_flight = 1;
        machine = make_machine(all);
        memory().write_past(way, {.line = phys_addr{0x4000}, .kind = access_kind::write}, picoseconds{});
    }
    memory_system &memory() { return machine->memory(); }
    bool may_write(asker &one)
    {
        return memory().has_room(way, one, mpam_label{}, machine->timeline().now());
    }
    void wait_for_the_write() { machine->timeline().run(for_ever); }

    std::unique_ptr<simulated_machine> machine;
    const route way{{}, 0};
    asker first, second;
};

TEST_F(full_port, who_was_refused_first_is_served_first)
{
    ASSERT_FALSE(may_write(first));
    ASSERT_FALSE(may_write(second));
    wait_for_the_write();
    EXPECT_FALSE(may_write(second)) << "though it asks first";
    EXPECT_TRUE(may_write(first));
    EXPECT_TRUE(may_write(second));
}

// No event of memory makes room for the second one: without the retry it would wait for ever.
TEST_F(full_port, who_is_next_is_told_though_the_room_is_not_used)
{
    ASSERT_FALSE(may_write(first));
    ASSERT_FALSE(may_write(second));
    wait_for_the_write();
    ASSERT_FALSE(may_write(second));
    const int before = second.told;
    ASSERT_TRUE(may_write(first)); // and writes nothing
    EXPECT_EQ(second.told, before + 1);
    EXPECT_TRUE(may_write(second));
    EXPECT_EQ(second.told, before + 1) << "behind it nobody waits";
}

// A DMA engine that has failed: its place would keep one write of the others out for ever.
TEST_F(full_port, who_gives_up_holds_up_nobody)
{
    ASSERT_FALSE(may_write(first));
    ASSERT_FALSE(may_write(second));
    wait_for_the_write();
    memory().give_up_waiting(first, machine->timeline().now());
    EXPECT_TRUE(may_write(second));
}

} // namespace
} // namespace bulkhead::machine::test::fairness_test
