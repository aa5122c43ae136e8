// SPDX-License-Identifier: Apache-2.0
// Machine S2: exact command sequences and gaps of small stories on one DRAM channel, in given / when / then
// form. Expected clocks are sums of data sheet parameters, written as such.
#include "dram_make.h"

namespace bulkhead::machine::dram::test::dram_scenario_test {

namespace {

constexpr place row_7{.channel = 0, .bank = 0, .row = 7, .column = 0};
constexpr place row_8{.channel = 0, .bank = 0, .row = 8, .column = 0};

place column_of(place at, std::uint32_t column)
{
    at.column = column;
    return at;
}

place bank_of(place at, std::uint32_t bank)
{
    at.bank = bank;
    return at;
}

class S2DramScenario : public testing::Test {
protected:
    timing t = without_refresh(ddr4_2133());
};

std::string at(const char *name, clocks when)
{
    return std::string(name) + "@" + std::to_string(when);
}

// 1. Given a closed bank, when it is read, then ACT, tRCD, RD; the data ends CL + burst later.
TEST_F(S2DramScenario, S01ReadOfAClosedBank)
{
    channel channel(ddr4_shape(), t);
    channel.read(1, row_7, 100);
    channel.run();
    EXPECT_EQ(channel.commands(), at("ACT", 100) + " " + at("RD", 100 + t.rcd));
    EXPECT_EQ(channel.completed[1], std::vector<clocks>{100 + t.rcd + t.cl + t.burst});
}

// 2. Given that row open, when another column of it is read long after, then RD at once.
TEST_F(S2DramScenario, S02RowHit)
{
    channel channel(ddr4_shape(), t);
    channel.read(1, row_7, 0);
    channel.run();
    channel.read(2, column_of(row_7, 5), 500);
    channel.run();
    EXPECT_EQ(channel.commands(), at("ACT", 0) + " " + at("RD", t.rcd) + " " + at("RD", 500));
}

// 3. Given two rows of one bank wanted at once, then ACT, RD, PRE, ACT, RD, each gap as the data sheet says:
//    the precharge waits for tRAS, since tRCD + tRTP is shorter.
TEST_F(S2DramScenario, S03RowConflict)
{
    channel channel(ddr4_shape(), t);
    channel.read(1, row_7, 0);
    channel.read(2, row_8, 0);
    channel.run();
    ASSERT_LT(t.rcd + t.rtp, t.ras);
    EXPECT_EQ(channel.commands(), at("ACT", 0) + " " + at("RD", t.rcd) + " " + at("PRE", t.ras) + " " +
                                      at("ACT", t.ras + t.rp) + " " + at("RD", t.ras + t.rp + t.rcd));
}

// 4. Given reads of two bank groups and of one, then the gap between the reads is tCCD_S or tCCD_L, and
//    between the activates tRRD_S or tRRD_L.
TEST_F(S2DramScenario, S04BankGroups)
{
    channel other_group(ddr4_shape(), t);
    other_group.read(1, row_7, 0);
    other_group.read(2, bank_of(row_7, 4), 0);
    other_group.run();
    EXPECT_EQ(other_group.commands(), at("ACT", 0) + " " + at("ACT", t.rrd_s) + " " + at("RD", t.rcd) + " " +
                                          at("RD", t.rcd + t.rrd_s));
    channel same_group(ddr4_shape(), t);
    same_group.read(1, row_7, 0);
    same_group.read(2, bank_of(row_7, 1), 0);
    same_group.run();
    EXPECT_EQ(same_group.commands(), at("ACT", 0) + " " + at("ACT", t.rrd_l) + " " + at("RD", t.rcd) + " " +
                                         at("RD", t.rcd + t.ccd_l));
}

// 5. Given five closed banks wanted at once, then the fifth activate waits for the window of four.
TEST_F(S2DramScenario, S05FourActivateWindow)
{
    t.faw = 40;
    channel channel(ddr4_shape(), t);
    for (std::uint32_t i = 0; i < 5; ++i) {
        channel.read(i, bank_of(row_7, i * 4 % 16 + i / 4), 0);
    }
    channel.run();
    std::vector<clocks> activates;
    for (const issued &one : channel.in_order()) {
        if (one.what == command::activate) {
            activates.push_back(one.when);
        }
    }
    EXPECT_EQ(activates, (std::vector<clocks>{0, t.rrd_s, clocks{2} * t.rrd_s, clocks{3} * t.rrd_s, t.faw}));
}

// 6. Given an older request for another row and younger hits, then hits overtake, but no more than the cap.
TEST_F(S2DramScenario, S06HitsOvertakeUpToTheCap)
{
    channel channel(ddr4_shape(), t, {.cap = 2});
    channel.read(0, row_7, 0);
    channel.run_until(t.rcd); // row 7 is open, its first read not yet issued
    channel.read(1, row_8, t.rcd);
    for (std::uint32_t i = 2; i < 6; ++i) {
        channel.read(i, column_of(row_7, i), t.rcd);
    }
    channel.run();
    std::vector<std::uint32_t> rows;
    for (const issued &one : channel.in_order()) {
        if (one.what == command::read) {
            rows.push_back(one.row);
        }
    }
    EXPECT_EQ(rows, (std::vector<std::uint32_t>{7, 7, 7, 8, 7, 7}));
}

// 7. Given a queued write, when its place is read, then the read is answered from the queue, and no read
//    command goes out; a second write of the place replaces the first.
TEST_F(S2DramScenario, S07WriteQueueAnswers)
{
    channel channel(ddr4_shape(), t);
    channel.write(1, row_7, 10);
    channel.read(2, row_7, 10);
    channel.write(3, row_7, 10);
    EXPECT_EQ(channel.completed[1], std::vector<clocks>{10});
    EXPECT_EQ(channel.completed[2], std::vector<clocks>{10 + t.burst});
    channel.run();
    EXPECT_EQ(channel.commands(), at("ACT", 10) + " " + at("WR", 10 + t.rcd));
    EXPECT_EQ(channel.get().statistics(1000).forwarded, 1U);
    EXPECT_EQ(channel.get().statistics(1000).merged, 1U);
}

// 8. Given fewer writes than the high watermark, then reads go first whenever they come; given that many,
//    then writes go down to the low watermark although reads wait.
TEST_F(S2DramScenario, S08Watermarks)
{
    const policy policy{.write_queue = 8, .write_high = 4, .write_low = 2};
    for (const std::uint32_t writes : {3U, 4U}) {
        channel channel(ddr4_shape(), t, policy);
        for (std::uint32_t i = 0; i < writes; ++i) {
            channel.write(i, column_of(row_7, i), 0);
        }
        channel.read(10, column_of(row_8, 0), 0);
        channel.run();
        std::string columns;
        for (const issued &one : channel.in_order()) {
            columns += one.what == command::read ? "R" : one.what == command::write ? "W" : "";
        }
        EXPECT_EQ(columns, writes == 3 ? "RWWW" : "WWRWW");
    }
}

// 8a. Given a writer that keeps the write queue full, when one read after the other comes, then each has its
//     turn: no read waits for more writes than lie between the watermarks, twice.
TEST_F(S2DramScenario, S08aReadsAreNotStarvedByWrites)
{
    const policy policy{.write_queue = 8, .write_high = 6, .write_low = 2};
    channel channel(ddr4_shape(), t, policy);
    clocks now = 0;
    clocks longest = 0;
    std::uint64_t written = 0;
    for (std::uint64_t id = 1000; id < 1020; ++id) {
        const clocks begin = now;
        channel.read(id, column_of(row_8, static_cast<std::uint32_t>(id % 100)), begin);
        for (; channel.completed.count(id) == 0; ++now) {
            for (; channel.get().pending() < 9; ++written) {
                channel.write(written, column_of(row_7, static_cast<std::uint32_t>(written % 100)), now);
            }
            channel.run_until(now + 1);
            ASSERT_LT(now, begin + 100'000);
        }
        longest = std::max(longest, channel.completed[id].front() - begin);
    }
    const clocks turns = t.wtr_l + t.cwl + t.wr + 2 * (t.rp + t.rcd) + t.cl + t.burst;
    EXPECT_LT(longest, 2 * (4 * clocks{t.ccd_l} + turns));
}

// 9. Given a read and then a write of an open row, then the bus turns: CL + burst + turnaround - CWL; and
//    back: CWL + burst + tWTR_L.
TEST_F(S2DramScenario, S09BusTurnaround)
{
    channel channel(ddr4_shape(), t);
    channel.read(1, row_7, 0);
    channel.write(2, column_of(row_7, 1), 0);
    channel.run_until(t.rcd + 1);
    channel.run_until(200);
    channel.write(3, column_of(row_7, 2), 200);
    channel.run_until(201);
    channel.read(4, column_of(row_7, 3), 201);
    channel.run();
    const clocks write = t.rcd + t.cl + t.burst + t.turnaround - t.cwl;
    EXPECT_EQ(channel.commands(), at("ACT", 0) + " " + at("RD", t.rcd) + " " + at("WR", write) + " " +
                                      at("WR", 200) + " " + at("RD", 200 + t.cwl + t.burst + t.wtr_l));
}

// 10. Given an idle channel, then it is refreshed every tREFI; given an open row, it is closed first.
TEST_F(S2DramScenario, S10Refresh)
{
    t = ddr4_2133();
    channel channel(ddr4_shape(), t);
    channel.run_until(clocks{2} * t.refi + 1);
    EXPECT_EQ(channel.commands(), at("REF", t.refi) + " " + at("REF", clocks{2} * t.refi));
    channel.log.clear();
    const clocks start = clocks{3} * t.refi - 200;
    channel.read(1, row_7, start);
    channel.run_until(clocks{3} * t.refi + t.rp + 1);
    EXPECT_EQ(channel.commands(), at("ACT", start) + " " + at("RD", start + t.rcd) + " " +
                                      at("PRE", clocks{3} * t.refi) + " " +
                                      at("REF", clocks{3} * t.refi + t.rp));
    channel.log.clear();
    channel.read(2, row_7, clocks{3} * t.refi + t.rp + 1);
    channel.run();
    EXPECT_EQ(channel.in_order().front().when, clocks{3} * t.refi + t.rp + t.rfc);
}

// 11. Given the closed page policy, then a row that nobody wants is closed as soon as it may be, and one
//     that is wanted stays.
TEST_F(S2DramScenario, S11ClosedPage)
{
    channel channel(ddr4_shape(), t, {.page = page_policy::closed});
    channel.read(1, row_7, 0);
    channel.read(2, column_of(row_7, 1), 0);
    channel.run();
    channel.run_until(1000);
    EXPECT_EQ(channel.commands(), at("ACT", 0) + " " + at("RD", t.rcd) + " " + at("RD", t.rcd + t.ccd_l) +
                                      " " + at("PRE", std::max(t.ras, t.rcd + t.ccd_l + t.rtp)));
}

// 12. Given two ranks, then data of the second follows data of the first after the switch.
TEST_F(S2DramScenario, S12RankSwitch)
{
    channel channel(ddr4_shape(2), t);
    channel.read(1, row_7, 0);
    channel.read(2, bank_of(row_7, 16), 0);
    channel.run();
    EXPECT_EQ(channel.commands(), at("ACT", 0) + " " + at("ACT", 1) + " " + at("RD", t.rcd) + " " +
                                      at("RD", t.rcd + t.burst + t.rank_switch));
}

// 13. Given a full read queue, when one more read comes, then it waits outside and is served in turn.
TEST_F(S2DramScenario, S13FullQueue)
{
    channel channel(ddr4_shape(), t, {.read_queue = 2});
    for (std::uint32_t i = 0; i < 5; ++i) {
        channel.read(i, column_of(row_7, i), 0);
    }
    EXPECT_EQ(channel.get().pending(), 5U);
    channel.run();
    for (std::uint32_t i = 1; i < 5; ++i) {
        EXPECT_GT(channel.completed[i].front(), channel.completed[i - 1].front());
    }
}

// 14. Given an idle controller, when requests come and go, then it is busy from the first arrival to the
//     last data, and not between.
TEST_F(S2DramScenario, S14BusyClocks)
{
    channel channel(ddr4_shape(), t);
    const clocks served = t.rcd + t.cl + t.burst;
    channel.read(1, row_7, 100);
    channel.run();
    EXPECT_EQ(channel.get().statistics(5000).busy, served);
    channel.read(2, row_7, 6000);
    EXPECT_EQ(channel.get().statistics(6010).busy, served + 10);
    channel.run();
    EXPECT_EQ(channel.get().statistics(9000).busy, served + t.cl + t.burst);
}

} // namespace

} // namespace bulkhead::machine::dram::test::dram_scenario_test
