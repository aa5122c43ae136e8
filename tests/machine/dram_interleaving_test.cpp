// SPDX-License-Identifier: Apache-2.0
// Machine S7, DRAM scheduler: commands of different banks are interleaved. Exact sequences of short
// scenarios, and the service of a random miss and a stream beside each other. Expected clocks are sums of
// data sheet parameters.
#include "dram_make.h"
#include "machine/random.h"

namespace bulkhead::machine::dram::test::dram_interleaving_test {

namespace {

place at(std::uint32_t bank, std::uint32_t row, std::uint32_t column = 0)
{
    return {.channel = 0, .bank = bank, .row = row, .column = column};
}

std::string said(const char *name, std::uint32_t bank, clocks when)
{
    return std::string(name) + std::to_string(bank) + "@" + std::to_string(when) + " ";
}

std::string commands(const channel &of)
{
    std::string text;
    for (const issued &one : of.log) {
        text += said(name_of(one.what), one.bank, one.when);
    }
    return text;
}

class S7DramInterleaving : public testing::Test {
protected:
    timing t = without_refresh(ddr4_2133());
};

// Given row hits of one bank, when another bank is wanted, then its precharge and activate go between them,
// and its read when its row is open.
TEST_F(S7DramInterleaving, RowsAreOpenedInTheShadowOfHits)
{
    channel channel(ddr4_shape(), t);
    channel.read(0, at(0, 7), 0);
    channel.read(1, at(4, 1), 0);
    channel.run();
    channel.log.clear();
    for (std::uint32_t i = 0; i < 8; ++i) {
        channel.read(10 + i, at(0, 7, i), 500);
    }
    channel.read(20, at(4, 2), 501);
    channel.run();
    const clocks gap = t.ccd_l;
    std::string expected = said("RD", 0, 500) + said("PRE", 4, 501);
    for (clocks i = 1; 500 + i * gap < 501 + t.rp; ++i) {
        expected += said("RD", 0, 500 + i * gap);
    }
    expected += said("ACT", 4, 501 + t.rp);
    EXPECT_EQ(commands(channel).substr(0, expected.size()), expected);
    // Its read goes in the first gap of the data bus after tRCD, not after all hits.
    EXPECT_LE(channel.completed[20].front(), 501 + t.rp + t.rcd + t.ccd_l + t.cl + clocks{t.burst});
}

// Given a miss whose row is being opened, when hits of another bank come, then they go before its read.
TEST_F(S7DramInterleaving, LaterHitsPassAMissWhoseRowIsNotOpenYet)
{
    channel channel(ddr4_shape(), t);
    channel.read(0, at(0, 7), 0);
    channel.run();
    channel.log.clear();
    channel.read(1, at(4, 1), 500);
    channel.run_until(501);
    channel.read(2, at(0, 7, 1), 502);
    channel.run();
    EXPECT_EQ(commands(channel),
              said("ACT", 4, 500) + said("RD", 0, 502) + said("RD", 4, 500 + clocks{t.rcd}));
}

// Given hits of an open row in the queue, when a request for another row of the bank is there, then the row
// is not closed before the hits have gone.
TEST_F(S7DramInterleaving, ARowIsNotClosedWhileHitsAreQueued)
{
    channel channel(ddr4_shape(), t, {.cap = 100});
    channel.read(0, at(0, 7), 0);
    channel.run();
    channel.log.clear();
    channel.read(1, at(0, 8), 500);
    channel.run_until(500); // no command has gone yet
    for (std::uint32_t i = 0; i < 6; ++i) {
        channel.read(2 + i, at(0, 7, i), 500);
    }
    channel.run();
    const clocks last = 500 + clocks{5} * t.ccd_l;
    EXPECT_NE(commands(channel).find(said("RD", 0, last) + said("PRE", 0, last + t.rtp)), std::string::npos)
        << commands(channel);
}

// Given hits without end, when a request for another row of their bank is as old as the limit, then it goes
// next, before any other read.
TEST_F(S7DramInterleaving, NoRequestWaitsMuchLongerThanTheAgeLimit)
{
    const policy patient{.cap = 1'000'000, .age_limit = 300};
    channel channel(ddr4_shape(), t, patient);
    channel.read(0, at(0, 7), 0);
    channel.run();
    channel.read(1, at(0, 8), 500);
    std::uint64_t id = 2;
    for (clocks now = 500; channel.completed.count(1) == 0; ++now) {
        for (; channel.get().pending() < 8; ++id) {
            channel.read(id, at(0, 7, static_cast<std::uint32_t>(id % 100)), now);
        }
        channel.run_until(now + 1);
        ASSERT_LT(now, 5000U);
    }
    const clocks served = channel.completed[1].front();
    EXPECT_GT(served, 500U + 300);
    EXPECT_LE(served, 500U + 300 + t.rtp + t.rp + t.rcd + t.cl + t.burst);
}

struct load {
    double chase_ns = 0; // mean of a random read
    double longest_ns = 0;
    double stream_bytes_per_ns = 0;
};

// A stream of `window` reads in flight and, with `chase`, one random read after the other, for 400 us.
load beside(const organization &shape, const timing &values, std::uint32_t window, bool one_row, bool chase)
{
    channel channel(shape, values);
    random_source random(11);
    const organization::counts &counts = shape.of();
    const auto end = static_cast<clocks>(400e6 / (static_cast<double>(values.period_fs) / 1e3));
    std::uint64_t line = 0;
    std::uint64_t id = 0;
    std::multimap<clocks, bool> due; // whether the request is the chase's
    std::map<std::uint64_t, std::pair<clocks, bool>> pending;
    for (std::uint32_t i = 0; i < window; ++i) {
        due.emplace(0, false);
    }
    if (chase) {
        due.emplace(0, true);
    }
    load seen;
    double chased = 0;
    double streamed = 0;
    for (clocks now = 0; now < end; ++now) {
        for (; !due.empty() && due.begin()->first <= now; due.erase(due.begin())) {
            const bool random_one = due.begin()->second;
            const auto column = static_cast<std::uint32_t>(line % counts.columns);
            const std::uint64_t row = one_row ? 0 : line / counts.columns;
            const place next =
                random_one
                    ? at(random.below(shape.banks_per_channel()), random.below(counts.rows))
                    : at(static_cast<std::uint32_t>(row % shape.banks_per_channel()),
                         static_cast<std::uint32_t>(row / shape.banks_per_channel() % counts.rows), column);
            line += random_one ? 0 : 1;
            pending[id] = {now, random_one};
            channel.read(id++, next, now);
        }
        channel.run_until(now + 1);
        for (const auto &[which, times] : channel.completed) {
            const auto [asked, random_one] = pending.at(which);
            const double ns = static_cast<double>((times.front() - asked) * values.period_fs) / 1e6;
            seen.chase_ns += random_one ? ns : 0;
            seen.longest_ns = random_one ? std::max(seen.longest_ns, ns) : seen.longest_ns;
            (random_one ? chased : streamed) += 1;
            due.emplace(std::max(now + 1, times.front()), random_one);
            pending.erase(which);
        }
        channel.completed.clear();
    }
    seen.chase_ns /= std::max(chased, 1.0);
    seen.stream_bytes_per_ns = streamed * static_cast<double>(counts.burst.value) / 400e3;
    return seen;
}

// One random miss beside 8 row hits in flight on DDR3, and 12 on DDR4: two or three times the latency of a
// row miss; once it waited for the refresh, which comes every 7.8 us.
TEST(S7DramMixes, ARandomMissBesideRowHitsIsServedInTensOfNanoseconds)
{
    const load ddr3 = beside(ddr3_shape(), ddr3_1066(), 8, true, true);
    const load ddr4 = beside(ddr4_shape(), ddr4_2133(), 12, true, true);
    EXPECT_LT(ddr3.chase_ns, 100);
    EXPECT_LT(ddr4.chase_ns, 100);
    for (const load &one : {ddr3, ddr4}) {
        EXPECT_GT(one.chase_ns, 40) << "faster than precharge, activate and read";
        EXPECT_LT(one.longest_ns, 800) << "a refresh and what had gathered behind it";
    }
}

// A stream of 5 reads in flight beside a pointer chase gets nearly the bandwidth that it has alone: the data
// bus carries the chase's lines too, and an eighth or a sixteenth of them closes the stream's row.
TEST(S7DramMixes, AStreamBesideAChaseKeepsItsBandwidth)
{
    for (const auto &[shape, values] :
         {std::pair{ddr3_shape(), ddr3_1066()}, std::pair{ddr4_shape(), ddr4_2133()}}) {
        const load alone = beside(shape, values, 5, false, false);
        const load both = beside(shape, values, 5, false, true);
        const double chase = static_cast<double>(shape.of().burst.value) / both.chase_ns;
        EXPECT_GT(both.stream_bytes_per_ns, 0.75 * alone.stream_bytes_per_ns);
        EXPECT_GT(both.stream_bytes_per_ns + chase, 0.85 * alone.stream_bytes_per_ns);
    }
}

} // namespace

} // namespace bulkhead::machine::dram::test::dram_interleaving_test
