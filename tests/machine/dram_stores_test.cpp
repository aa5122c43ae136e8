// SPDX-License-Identifier: Apache-2.0
// Machine S7, policies: turns by transaction stores, as UG585's table 10-4 and figure 10-9 describe them,
// observed in the commands of a channel.
#include "dram_make.h"

namespace bulkhead::machine::dram::test::dram_stores_test {

namespace {

place in_bank(std::uint32_t bank, std::uint32_t column)
{
    return {.channel = 0, .bank = bank, .row = 7, .column = column};
}

class S7DramStores : public testing::Test {
protected:
    // Reads as R, writes as W, in order of time, since `from`.
    static std::string columns(const channel &of, clocks from = 0)
    {
        std::string text;
        for (const issued &one : of.log) {
            const bool column = one.what == command::read || one.what == command::write;
            text += !column || one.when < from ? "" : one.what == command::read ? "R" : "W";
        }
        return text;
    }
    // Both rows are open, nothing is queued.
    static void open_rows(channel &of)
    {
        of.read(0, in_bank(0, 0), 0);
        of.read(1, in_bank(1, 0), 0);
        of.run();
    }
    // Keeps `reads` and `writes` queued from 1000 on, up to `end`.
    static void keep(channel &of, std::uint32_t reads, std::uint32_t writes, clocks end)
    {
        std::uint64_t id = 10;
        std::array<std::uint32_t, 2> asked{};
        for (clocks now = 1000; now < end; ++now) {
            const std::string gone = columns(of, 1000);
            const std::array<std::ptrdiff_t, 2> served{std::count(gone.begin(), gone.end(), 'R'),
                                                       std::count(gone.begin(), gone.end(), 'W')};
            for (const std::size_t write : {0U, 1U}) {
                const std::uint32_t wanted = write != 0 ? writes : reads;
                while (asked.at(write) - static_cast<std::uint32_t>(served.at(write)) < wanted) {
                    const std::uint32_t column = asked.at(write)++ % 100;
                    of.request(id++, in_bank(static_cast<std::uint32_t>(write), column), write != 0, now);
                }
            }
            of.run_until(now + 1);
        }
    }
    timing t = without_refresh(ddr3_1066());
    store_settings how{.starve = 64, .run = 8, .rest = 32, .idle = 1};
};

// Given reads and no writes, when a write comes, then it waits for the starvation time, and then no more
// writes go with it than a run has.
TEST_F(S7DramStores, WritesGoWhenTheyAreCriticalAndByRuns)
{
    channel channel(ddr3_shape(), t, {.stores = how});
    open_rows(channel);
    keep(channel, 6, 12, 1600);
    const std::string all = columns(channel, 1000);
    const std::size_t first = all.find('W');
    ASSERT_NE(first, std::string::npos);
    EXPECT_NEAR(static_cast<double>(first), how.starve / t.ccd_s, 1);
    const std::size_t run = all.find('R', first) - first;
    EXPECT_GE(run, how.run) << all;
    EXPECT_LE(run, how.starve / t.ccd_s + 1) << all;
}

// Given a run of writes, then reads go, which are critical: at least as many as their run has, and then until
// writes are critical again.
TEST_F(S7DramStores, ReadsAreServedBetweenTwoRunsOfWrites)
{
    channel channel(ddr3_shape(), t, {.stores = how});
    open_rows(channel);
    keep(channel, 6, 12, 3000);
    const std::string all = columns(channel, 1000);
    std::size_t at = all.find('W');
    for (int turns = 0; turns < 5; ++turns) {
        const std::size_t reads = all.find('R', at);
        const std::size_t next = all.find('W', reads);
        ASSERT_NE(next, std::string::npos) << all;
        EXPECT_GE(next - reads, how.run);
        EXPECT_LE(next - reads, (how.starve + how.rest) / t.ccd_s + 2);
        at = next;
    }
}

// Given no reads, then writes go after the idle gap.
TEST_F(S7DramStores, WritesUseTheTimeThatReadsLeave)
{
    how.idle = 20;
    channel channel(ddr3_shape(), t, {.stores = how});
    open_rows(channel);
    channel.read(5, in_bank(0, 1), 1000);
    channel.write(6, in_bank(1, 1), 1000);
    channel.run();
    EXPECT_EQ(columns(channel, 1000), "RW");
    EXPECT_EQ(channel.log.back().when, 1000U + 20);
}

// Given writes that have their turn, when a read comes, then they keep it until the read is critical.
TEST_F(S7DramStores, TheTurnStaysUntilTheOtherStoreIsCritical)
{
    channel channel(ddr3_shape(), t, {.stores = how});
    open_rows(channel);
    for (std::uint32_t i = 0; i < 30; ++i) {
        channel.write(100 + i, in_bank(1, i), 1000);
    }
    channel.run_until(1004);
    const std::string before = columns(channel, 1000);
    channel.read(5, in_bank(0, 1), 1004);
    channel.run();
    const std::string all = columns(channel, 1000);
    EXPECT_GE(before.size(), 1U);
    EXPECT_NEAR(static_cast<double>(all.find('R') - before.size()), how.starve / t.ccd_s, 1) << all;
}

// No read waits longer than starvation, a run, and both turnarounds, whatever the writers do.
TEST_F(S7DramStores, AReadBesideAWriterWaitsForOneRunAtMost)
{
    channel channel(ddr3_shape(), t, {.stores = how});
    open_rows(channel);
    std::uint64_t id = 100;
    clocks longest = 0;
    clocks now = 1000;
    for (std::uint64_t read = 10; read < 60; ++read) {
        const clocks begin = now;
        channel.read(read, in_bank(0, static_cast<std::uint32_t>(read)), begin);
        for (; channel.completed.count(read) == 0; ++now) {
            for (; channel.get().pending() < 20; ++id) {
                channel.write(id, in_bank(1, static_cast<std::uint32_t>(id % 100)), now);
            }
            channel.run_until(now + 1);
        }
        longest = std::max(longest, channel.completed[read].front() - begin);
        now = std::max(now, channel.completed[read].front());
    }
    const clocks turn = t.cwl + t.burst + t.wtr_l + t.cl + t.burst;
    EXPECT_LE(longest, how.starve + how.run * clocks{t.ccd_s} + turn);
    EXPECT_GT(id, 300U) << "the writer has its part";
}

TEST_F(S7DramStores, ValuesThatNoRegisterHoldsAreRefused)
{
    EXPECT_EQ(how.contradiction(), "");
    EXPECT_EQ((policy{.write_queue = 4, .stores = how}.contradiction()), ""); // watermarks have no effect
    how.starve = 0;
    EXPECT_THAT((policy{.stores = how}.contradiction()), testing::HasSubstr("clocks without service"));
    how = {.run = 0};
    EXPECT_THAT(how.contradiction(), testing::HasSubstr("runs"));
    how = {};
    EXPECT_THAT((policy{.stores = how, .arbitration = arbitration{}}.contradiction()),
                testing::HasSubstr("one of them"));
    EXPECT_THAT((policy{.age_limit = 0}.contradiction()), testing::HasSubstr("age limit"));
}

} // namespace

} // namespace bulkhead::machine::dram::test::dram_stores_test
