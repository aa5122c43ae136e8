// SPDX-License-Identifier: Apache-2.0
// Machine S2, arbitration by score: the score itself, which of the queued requests wins, scenarios of a
// channel with that policy, and that no request starves whatever the values are.
#include "dram_make.h"
#include "machine/random.h"

namespace bulkhead::machine::dram::test::dram_arbitration_test {

namespace {

constexpr arbitration mmdc{.row_hit = 4, .direction = 2, .age = 1, .most = 15, .guard = 15};

place in_bank(std::uint32_t bank, std::uint32_t row, std::uint32_t column = 0)
{
    return {.channel = 0, .bank = bank, .row = row, .column = column};
}

TEST(S2DramArbitration, TheScoreIsASumOfFourBits)
{
    EXPECT_EQ(mmdc.score(false, false, 0), 0U);
    EXPECT_EQ(mmdc.score(true, false, 0), 4U);
    EXPECT_EQ(mmdc.score(false, true, 0), 2U);
    EXPECT_EQ(mmdc.score(true, true, 3), 4U + 2 + 3);
    EXPECT_EQ(mmdc.score(true, true, 14), 15U);
    EXPECT_EQ(mmdc.score(false, false, 29), 15U);
    const arbitration little{.row_hit = 4, .direction = 2, .age = 3, .most = 5, .guard = 15};
    EXPECT_EQ(little.score(false, false, 1), 3U);
    EXPECT_EQ(little.score(false, false, 2), 5U);
    EXPECT_EQ(little.score(true, false, 16), 4U + 5);
}

TEST(S2DramArbitration, WhoLostToTheGuardGoesBeforeAllOthers)
{
    EXPECT_EQ(mmdc.patience(), 15U + 15);
    EXPECT_LT(mmdc.score(true, true, 29), mmdc.score(false, false, 30));
    const arbitration uneven{.row_hit = 4, .direction = 2, .age = 4, .most = 15, .guard = 3};
    EXPECT_EQ(uneven.patience(), 4U + 3); // the fourth lost arbitration adds the rest
    EXPECT_LT(uneven.score(true, true, 6), uneven.score(false, false, 7));
}

TEST(S2DramArbitration, ValuesThatDoNotFitAreRefused)
{
    EXPECT_EQ(mmdc.contradiction(), "");
    arbitration bad = mmdc;
    bad.row_hit = 16;
    EXPECT_THAT(bad.contradiction(), testing::HasSubstr("0 to 15"));
    bad = mmdc;
    bad.age = 0;
    EXPECT_THAT(bad.contradiction(), testing::HasSubstr("age of 1 to 15"));
    bad = mmdc;
    bad.guard = 256;
    EXPECT_THAT(bad.contradiction(), testing::HasSubstr("guard"));
    EXPECT_NE((policy{.arbitration = bad}.contradiction()), "");
    EXPECT_EQ((policy{.write_queue = 4, .arbitration = mmdc}.contradiction()),
              ""); // watermarks have no effect
}

// The search stops early; a search of all requests gives the same winner, also when the count of commands has
// wrapped.
TEST(S2DramArbitration, TheWinnerHasTheHighestScoreOfAll)
{
    for (std::uint64_t seed = 1; seed <= 500; ++seed) {
        random_source random(seed);
        banks banks(ddr3_shape(), ddr3_1066());
        banks.issue<command::activate>(random.below(2), random.below(2), 0);
        std::array<request_queue, 2> queues{request_queue(16, 16), request_queue(16, 16)};
        struct queued {
            std::uint64_t id;
            bool write;
            place at;
            std::uint32_t stamp;
        };
        std::vector<queued> all; // the oldest first
        auto served = std::uint32_t{0} - random.below(40);
        const std::uint32_t count = 1 + random.below(16);
        for (std::uint32_t id = 0; id < count; ++id) {
            const queued &one = all.emplace_back(queued{.id = id,
                                                        .write = random.below(16) < seed % 16,
                                                        .at = in_bank(random.below(2), random.below(2), id),
                                                        .stamp = served});
            request_queue &queue = queues.at(one.write ? 1 : 0);
            queue.append({.id = id, .order = id, .when = 0, .stamp = served}, one.at,
                         banks.open_row(one.at.bank));
            served += random.below(4);
        }
        const bool wrote = random.below(2) == 1;
        const auto score = [&](const queued &one) {
            const bool hits = banks.open_row(one.at.bank) == one.at.row;
            return mmdc.score(hits, one.write == wrote, served - one.stamp);
        };
        const auto expected = std::max_element(
            all.begin(), all.end(), [&](const queued &a, const queued &b) { return score(a) < score(b); });
        const contender winner = arbitrate(mmdc, queues[0], queues[1], banks, served, wrote);
        EXPECT_EQ(winner.request->id, expected->id) << "seed " << seed;
    }
}

class S2DramScored : public testing::Test {
protected:
    // Reads as R, writes as W, in order of time, with their row.
    static std::string columns(const channel &of)
    {
        std::string text;
        for (const issued &one : of.in_order()) {
            if (one.what == command::read || one.what == command::write) {
                text += (one.what == command::read ? "R" : "W") + std::to_string(one.row) + " ";
            }
        }
        return text;
    }
    timing t = without_refresh(ddr3_1066());
    policy by_score{.arbitration = mmdc};
};

// Given a write for the open row and a read for another bank, then the write goes first; in turns, the read.
TEST_F(S2DramScored, AReadIsNotPreferredToWrites)
{
    for (const bool scored : {true, false}) {
        channel channel(ddr3_shape(), t, scored ? by_score : policy{});
        channel.read(1, in_bank(0, 7), 0);
        channel.run();
        channel.write(2, in_bank(0, 7, 1), 500);
        channel.read(3, in_bank(1, 8), 500);
        channel.run();
        EXPECT_EQ(columns(channel), scored ? "R7 W7 R8 " : "R7 R8 W7 ");
    }
}

// Given an older read and a younger write, both for closed banks, then the one that does not turn the bus.
TEST_F(S2DramScored, TheSameDirectionGoesFirst)
{
    for (const bool write : {true, false}) {
        channel channel(ddr3_shape(), t, by_score);
        channel.request(1, in_bank(0, 7), write, 0);
        channel.run();
        channel.read(2, in_bank(1, 8), 500);
        channel.write(3, in_bank(2, 9), 500);
        channel.run();
        EXPECT_EQ(columns(channel), write ? "W7 W9 R8 " : "R7 R8 W9 ");
    }
}

// Given an older request for another row of the bank, then the row hit goes first.
TEST_F(S2DramScored, ARowHitGoesFirst)
{
    channel channel(ddr3_shape(), t, by_score);
    channel.read(1, in_bank(0, 7), 0);
    channel.run();
    channel.read(2, in_bank(0, 8), 500);
    channel.read(3, in_bank(0, 7, 1), 500);
    channel.run();
    EXPECT_EQ(columns(channel), "R7 R7 R8 ");
}

// Given row hits that only the guard can beat, then as many go first as the limit of lost arbitrations
// allows, and no more.
TEST_F(S2DramScored, AnOldRequestPassesAtTheGuard)
{
    by_score.arbitration = {.row_hit = 15, .direction = 0, .age = 1, .most = 1, .guard = 4};
    channel channel(ddr3_shape(), t, by_score);
    channel.read(0, in_bank(0, 7), 0);
    channel.run();
    channel.read(1, in_bank(0, 8), 500);
    for (std::uint32_t i = 2; i < 10; ++i) {
        channel.read(i, in_bank(0, 7, i), 500);
    }
    channel.run();
    EXPECT_EQ(columns(channel), "R7 R7 R7 R7 R7 R7 R8 R7 R7 R7 ");
}

// For any values and requests: after `patience` lost arbitrations only older requests go first. The queues
// are kept full of requests that mostly hit one row.
TEST_F(S2DramScored, NobodyStarves)
{
    constexpr std::uint32_t length = 8;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        random_source random(seed);
        const arbitration rule{.row_hit = random.below(16),
                               .direction = random.below(16),
                               .age = 1 + random.below(15),
                               .most = random.below(16),
                               .guard = random.below(32)};
        channel channel(ddr3_shape(), t, {.read_queue = length, .write_queue = length, .arbitration = rule});
        std::map<std::uint32_t, std::uint32_t> entered; // by column: the number of columns commanded before
        std::array<std::uint32_t, 2> queued{};
        std::uint32_t served = 0;
        std::uint32_t longest = 0;
        std::size_t seen = 0;
        clocks now = 0;
        for (std::uint32_t id = 0; id < 2000;) {
            while (queued[0] < length || queued[1] < length) {
                const std::uint32_t write = queued[0] == length || (queued[1] < length && id % 2 == 1);
                const std::uint32_t column = id++ % 128;
                ASSERT_TRUE(entered.emplace(column, served).second) << "seed " << seed;
                ++queued.at(write);
                channel.request(column, in_bank(0, random.below(8) == 0 ? 1 : 0, column), write != 0, now);
            }
            now = std::max(now, channel.get().due());
            channel.run_until(now + 1);
            for (; seen < channel.log.size(); ++seen) {
                const issued &one = channel.log[seen];
                if (one.what == command::read || one.what == command::write) {
                    longest = std::max(longest, served - entered.at(one.column));
                    entered.erase(one.column);
                    --queued.at(one.what == command::write ? 1 : 0);
                    ++served;
                }
            }
        }
        EXPECT_LE(longest, rule.patience() + 2 * length - 1) << "seed " << seed;
    }
}

} // namespace

} // namespace bulkhead::machine::dram::test::dram_arbitration_test
