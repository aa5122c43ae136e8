// SPDX-License-Identifier: Apache-2.0
// B1: budgets count the traffic that cores cause in memory. Each line that is read from DRAM is a refill of
// the second level by some core, each line that is written to DRAM is a write-back of some core, by whichever
// path: a clean line that L1 evicts may evict a dirty one from the shared level, a store stream fetches
// nothing, a prefetch may be unused, and another core's dirty line moves when this one requests it.
#include <gtest/gtest.h>

#include "machine/random.h"
#include "tests/machine/machine_make.h"

namespace bulkhead::machine::test::budget_counts_test {

namespace {

constexpr std::uint64_t line_bytes = 64;
constexpr std::uint64_t apart = std::uint64_t{1} << 26U; // distance between the memories of two cores
constexpr phys_addr together{std::uint64_t{1} << 30U};   // memory shared by all
constexpr std::uint64_t together_bytes = 256 * 1024;     // more than all of L1, as much as the shared level

struct setup {
    const char *name;
    bool on_eviction;
    bool streams;
    bool shares;
    bool inclusive = false;
    bool clusters = false; // two
};

std::string name_of(const testing::TestParamInfo<setup> &info)
{
    return info.param.name;
}

settings machine_of(const setup &what)
{
    settings all = small_machine(4);
    level_settings &shared = all.levels[0];
    shared.cache.size_bytes = together_bytes;
    shared.cache.on_eviction = what.on_eviction;
    shared.inclusive = what.inclusive;
    if (what.clusters) {
        all.levels.push_back(shared);
        all.levels[1].name = "other";
        all.masters.push_back(all.masters[0]);
        all.masters[1].name = "others";
        for (std::size_t n : {2, 3}) {
            all.cores[n].path = {"other"};
            all.cores[n].master = "others";
        }
        all.coherence = {.snoop_ps = 20'000};
    }
    for (core_settings &one : all.cores) {
        one.loads = 3;
        one.prefetcher.depth_lines = 4;
        if (what.streams) {
            one.write_streaming = {.lines = 3, .shared_lines = 32};
        }
    }
    return all;
}

// Stretches of loads or stores in order, each anywhere in the core's own memory, or in the shared one.
void mixed(core &own, std::uint32_t number, bool shares)
{
    random_source random(7 + number);
    const std::uint64_t own_start = number * apart;
    for (int stretch = 0; stretch < 800; ++stretch) {
        const bool in_all = shares && random.below(2) == 0;
        const std::uint64_t lines = (in_all ? together_bytes : 4 * together_bytes) / line_bytes;
        const access_kind kind = random.below(3) == 0 ? access_kind::write : access_kind::read;
        const std::uint64_t count = 1 + random.below(in_all ? 4 : 40);
        const std::uint64_t first = random.below(static_cast<std::uint32_t>(lines - count));
        for (std::uint64_t at = 0; at < count * line_bytes; at += 8) {
            own.instructions(1);
            own.access(phys_addr{(in_all ? together.value : own_start) + first * line_bytes + at}, 8, kind);
        }
    }
}

struct traffic {
    std::uint64_t refills = 0;
    std::uint64_t third_level_refills = 0;
    std::uint64_t write_backs = 0;
    memory_counts moved;
};

traffic after(simulated_machine &machine)
{
    EXPECT_EQ(machine.timeline().run(for_ever), engine::ending::idle);
    traffic seen{.moved = machine.memory().counts()};
    for (std::uint32_t i = 0; i < machine.core_count(); ++i) {
        const core_counts counts = machine.core_at({i}).counts();
        seen.refills += counts.of(core_event::l2d_refill);
        seen.third_level_refills += counts.of(core_event::l3d_refill);
        seen.write_backs += counts.of(core_event::l2d_write_back);
    }
    return seen;
}

class B1WhatBudgetsCount : public testing::TestWithParam<setup> {};

TEST_P(B1WhatBudgetsCount, IsWhatMemoryReadsAndWrites)
{
    const setup what = GetParam();
    const auto machine = make_machine(machine_of(what));
    machine->share(together, byte_count{together_bytes}, true);
    for (std::uint32_t i = 0; i < machine->core_count(); ++i) {
        machine->core_at({i}).start([=](core &own) { mixed(own, i, what.shares); });
    }
    const auto [refills, third_level_refills, write_backs, moved] = after(*machine);
    EXPECT_EQ(third_level_refills, 0U); // there is none
    EXPECT_GT(moved.line_reads, 5'000U);
    EXPECT_GT(moved.line_writes, 5'000U);
    EXPECT_EQ(write_backs, moved.line_writes);
    EXPECT_GE(refills, moved.line_reads);
    if (!what.clusters) { // lines that come from the other core's caches are refills too
        EXPECT_LE(refills, moved.line_reads + moved.joined); // two cores that wait for one line
    }
}

INSTANTIATE_TEST_SUITE_P(Ways, B1WhatBudgetsCount,
                         testing::Values(setup{"on_fill", false, false, false},
                                         setup{"inclusive", false, false, false, true},
                                         setup{"on_eviction", true, false, false},
                                         setup{"on_fill_streams", false, true, false},
                                         setup{"on_eviction_streams", true, true, false},
                                         setup{"on_fill_shares", false, false, true},
                                         setup{"on_eviction_shares", true, true, true},
                                         setup{"clusters_share", true, true, true, false, true}),
                         name_of);

// A domain with two cores: one writes lines that it has just fetched, the other reads them. Each line then
// enters the shared level, which writes back another one, although the reading core has refilled nothing.
TEST(B1WhatOneCoreTakesFromAnother, IsCountedWhereItPushesLinesOut)
{
    constexpr std::uint64_t lines = 8192;
    constexpr std::uint64_t instruction_fs = 833'333;
    settings wanted = small_machine(2);
    wanted.levels[0].cache.size_bytes = together_bytes;
    wanted.levels[0].cache.on_eviction = true;
    const auto machine = make_machine(wanted);
    machine->share(together, byte_count{lines * line_bytes}, true);
    for (std::uint32_t i = 0; i < 2; ++i) {
        machine->core_at({i}).start([i](core &own) {
            for (std::uint64_t n = 0; n < lines; ++n) { // the second core two lines behind
                const std::uint64_t begins_ps = (n + 1 + 2 * i) * 1'000'000;
                own.instructions((begins_ps - own.clock().value) * 1000 / instruction_fs);
                own.access(phys_addr{together.value + n * line_bytes}, 8,
                           i == 0 ? access_kind::write : access_kind::read);
            }
        });
    }
    const auto [refills, third_level_refills, write_backs, moved] = after(*machine);
    EXPECT_GT(moved.line_writes, lines / 4);
    EXPECT_EQ(write_backs, moved.line_writes);
    EXPECT_EQ(refills, moved.line_reads);
}

// Cores with a private L2 below a shared L3. A line that L3 has reaches no memory, so refills of L3 are
// memory's reads: each line that memory reads is one, and nothing else is one, except that a core can wait
// for a line that another core has requested.
class B1WhatReachesMemoryBehindAThirdLevel : public testing::TestWithParam<bool> {};

TEST_P(B1WhatReachesMemoryBehindAThirdLevel, IsEachRefillOfIt)
{
    settings wanted = small_machine(4);
    level_settings &third = wanted.levels[0];
    third.cache.size_bytes = 2 * together_bytes;
    third.cache.on_eviction = GetParam();
    for (core_settings &one : wanted.cores) {
        one.loads = 3;
        one.prefetcher.depth_lines = 4;
        one.l2 = one.l1d;
        one.l2->size_bytes = 64 * 1024;
        one.l2_latency_ps = 10'000;
    }
    const auto machine = make_machine(wanted);
    machine->share(together, byte_count{together_bytes}, true);
    for (std::uint32_t i = 0; i < machine->core_count(); ++i) {
        machine->core_at({i}).start([=](core &own) { mixed(own, i, true); });
    }
    const auto [refills, third_level_refills, write_backs, moved] = after(*machine);
    EXPECT_GT(moved.line_reads, 5'000U);
    EXPECT_GT(moved.level_hits, 1'000U);
    EXPECT_GE(third_level_refills, moved.line_reads);
    EXPECT_LE(third_level_refills, moved.line_reads + moved.joined);
}

INSTANTIATE_TEST_SUITE_P(Ways, B1WhatReachesMemoryBehindAThirdLevel, testing::Bool());

} // namespace

} // namespace bulkhead::machine::test::budget_counts_test
