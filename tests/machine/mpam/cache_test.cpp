// SPDX-License-Identifier: Apache-2.0
// M4: the effect of MPAM's controls on a cache, by behaviour and by property. The tests inspect the cache's
// lines one by one, not the counts that the controls use. Numbers T101 to T106, T125 and T151 to T155: the
// compliance suite's, see docs/design/mpam.md.
#include <gtest/gtest.h>

#include <random>

#include "tests/machine/mpam/mpam_make.h"

namespace bulkhead::machine::test::cache_test {
namespace {

constexpr std::uint64_t line_bytes = 64;
constexpr std::uint32_t partids = 8;

// A cache of 64 sets of 16 ways with its component, without a machine around it.
class cache_with_mpam {
public:
    explicit cache_with_mpam(mpam::resource_settings of = full_component().resources[0],
                             replacement policy = replacement::lru)
        : shape_(geometry(64 * 1024, 16, line_bytes)), cache_(make_cache(shape_, policy)),
          component_(whole(), component_of(std::move(of)),
                     {.shape_of = [this](const mpam::resource_settings &) { return &shape_; }}),
          page_(component_)
    {
        cache_.keep_labels(component_.instance(0).cache.get());
    }

    page &registers() { return page_; }
    cache &storage() { return cache_; }
    void set(std::uint32_t partid, std::uint64_t offset, std::uint32_t value)
    {
        page_.set(0, partid, offset, value);
    }
    // A demand access of a partition, and the line that it evicted.
    std::optional<displaced> touch(std::uint64_t line, mpam_label label, access_kind kind = access_kind::read)
    {
        const phys_addr at{line * line_bytes};
        return cache_.hit(at, kind) ? std::nullopt : cache_.fill(at, first, kind, line_mark::none, label);
    }
    bool has(std::uint64_t line) const { return cache_.contains(phys_addr{line * line_bytes}); }
    // Lines among the first `below` that a partition has.
    std::uint64_t held(std::uint16_t partid, std::uint64_t below) const
    {
        std::uint64_t count = 0;
        for (std::uint64_t line = 0; line < below; ++line) {
            const phys_addr at{line * line_bytes};
            count += cache_.contains(at) && cache_.label_of(at).partition == partid ? 1 : 0;
        }
        return count;
    }
    [[nodiscard]] std::uint64_t sets() const { return shape_.sets(); }
    [[nodiscard]] std::uint64_t lines() const { return std::uint64_t{shape_.sets()} * shape_.ways(); }

private:
    static mpam::system_settings whole()
    {
        return {.partids = partids, .monitor_groups = 4, .components = {}};
    }
    static mpam::component_settings component_of(mpam::resource_settings of)
    {
        mpam::component_settings one{.name = "cache"};
        one.resources.push_back(std::move(of));
        return one;
    }

    cache_geometry shape_;
    cache cache_;
    mpam::component component_;
    page page_;
};

constexpr std::uint16_t fraction(std::uint32_t of_256)
{
    return static_cast<std::uint16_t>(of_256 << 8U);
}

// --- Portions ---

TEST(M4CachePortions, T101APartitionAllocatesInItsPortionsOnly)
{
    cache_with_mpam model;
    model.set(1, MPAMCFG_CPBM(0), 0x000F);
    model.set(2, MPAMCFG_CPBM(0), 0xFFF0);
    for (std::uint64_t line = 0; line < 4 * model.lines(); ++line) {
        model.touch(line, {.partition = 1});
    }
    EXPECT_EQ(model.held(1, 4 * model.lines()), 4 * model.sets()) << "four ways of sixteen";
    for (std::uint64_t line = 4 * model.lines(); line < 8 * model.lines(); ++line) {
        model.touch(line, {.partition = 2});
    }
    EXPECT_EQ(model.held(1, 4 * model.lines()), 4 * model.sets()) << "nobody else takes them";
    EXPECT_EQ(model.held(2, 8 * model.lines()), 12 * model.sets());
}

TEST(M4CachePortions, ALookupFindsALineInAnyPortion)
{
    cache_with_mpam model;
    model.set(1, MPAMCFG_CPBM(0), 0x0001);
    model.set(2, MPAMCFG_CPBM(0), 0x8000);
    model.touch(5, {.partition = 1});
    EXPECT_FALSE(model.touch(5, {.partition = 2}));
    EXPECT_EQ(model.held(1, 6), 1U) << "and it stays the line of who brought it";
    EXPECT_EQ(model.held(2, 6), 0U);
}

TEST(M4CachePortions, WhatWasAllocatedStaysUntilItIsReplaced)
{
    cache_with_mpam model;
    model.touch(0, {.partition = 1}); // way 0
    model.set(1, MPAMCFG_CPBM(0), 0xFF00);
    EXPECT_TRUE(model.has(0));
    for (std::uint64_t i = 1; i < 20; ++i) {
        model.touch(i * model.sets(), {.partition = 1});
    }
    EXPECT_TRUE(model.has(0)) << "the portion is not the partition's any more";
    EXPECT_EQ(model.held(1, 20 * model.sets()), 9U);
}

TEST(M4CachePortions, WithoutPortionsNothingIsAllocated)
{
    cache_with_mpam model;
    model.set(1, MPAMCFG_CPBM(0), 0);
    EXPECT_FALSE(model.touch(3, {.partition = 1}));
    EXPECT_FALSE(model.has(3));
    const auto passed = model.storage().receive({phys_addr{3 * line_bytes}, first, {.partition = 1}});
    ASSERT_TRUE(passed) << "a dirty line goes on to the level below";
    EXPECT_TRUE(passed->dirty);
    EXPECT_EQ(passed->line, phys_addr{3 * line_bytes});
    EXPECT_EQ(model.storage().gone_label().partition, 1U);
    EXPECT_FALSE(model.has(3));
}

TEST(M4CachePortions, PortionsOfSetsAreSets)
{
    mpam::resource_settings of{.level = "l2", .portions = 4, .portions_are = mpam::portion_kind::sets};
    cache_with_mpam model(of);
    model.set(1, MPAMCFG_CPBM(0), 0b0010);
    for (std::uint64_t line = 0; line < 64; ++line) {
        model.touch(line, {.partition = 1});
        EXPECT_EQ(model.has(line), line / 16 == 1) << line;
    }
}

TEST(M4CachePortions, MorePortionsThanWaysArePartsOfAWay)
{
    mpam::resource_settings of{.level = "l2", .portions = 32};
    cache_with_mpam model(of);
    model.set(1, MPAMCFG_CPBM(0), 0b01); // of way 0, the lower half of the sets
    for (std::uint64_t line = 0; line < 64; ++line) {
        model.touch(line, {.partition = 1});
        EXPECT_EQ(model.has(line), line < 32) << line;
    }
    EXPECT_EQ(model.held(1, 64), 32U);
}

// Isolation: where lines of an owner are, whatever label they were filled with.
TEST(M4CachePortions, LinesAreCountedByTheOwnerOfTheirFrameAndWhereTheyWent)
{
    cache_with_mpam model;
    model.storage().statistics().count_places(16, 4);
    model.set(1, MPAMCFG_CPBM(0), 0x000F);
    model.set(2, MPAMCFG_CPBM(0), 0xFFF0);
    const cache_statistics &counts = model.storage().statistics();
    const auto lines_of = [&counts](owner_id owner, std::size_t from, std::size_t to) {
        std::uint64_t sum = 0;
        for (std::size_t way = from; way < to; ++way) {
            for (std::size_t part = 0; part < counts.set_parts(); ++part) {
                sum += counts.placed(owner, way, part).get();
            }
        }
        return sum;
    };
    for (std::uint64_t line = 0; line < 2 * model.lines(); ++line) {
        model.touch(line, {.partition = 1});
    }
    EXPECT_EQ(lines_of(first, 0, 4), 2 * model.lines());
    EXPECT_EQ(lines_of(first, 4, 16), 0U);

    const std::uint64_t far = 4 * model.lines();
    model.storage().fill(phys_addr{far * line_bytes}, second, access_kind::read, line_mark::none,
                         {.partition = 1});
    EXPECT_EQ(lines_of(second, 0, 4), 1U) << "a neighbour's label: in the neighbour's ways";
    (void)model.storage().receive(
        {phys_addr{(far + 3 * model.sets() / 4) * line_bytes}, second, {.partition = 2}});
    EXPECT_EQ(lines_of(second, 4, 16), 1U) << "written back from above";
    std::uint64_t in_last_part = 0;
    for (std::size_t way = 4; way < 16; ++way) {
        in_last_part += counts.placed(second, way, 3).get();
    }
    EXPECT_EQ(in_last_part, 1U);

    model.storage().statistics().reset();
    EXPECT_EQ(lines_of(first, 0, 16) + lines_of(second, 0, 16), 0U);
}

// --- Capacity ---

TEST(M4CacheCapacity, T102AHardMaximumIsNeverExceeded)
{
    cache_with_mpam model;
    model.set(1, MPAMCFG_CMAX, fraction(63)); // 64 / 256: a quarter
    for (std::uint64_t line = 0; line < 4 * model.lines(); ++line) {
        model.touch(line, {.partition = 1});
        ASSERT_LE(model.registers().read(MPAMF_ESR), 0U);
    }
    EXPECT_EQ(model.held(1, 4 * model.lines()), model.lines() / 4);
}

TEST(M4CacheCapacity, T103PortionsAndMaximumHoldTogether)
{
    cache_with_mpam model;
    model.set(1, MPAMCFG_CPBM(0), 0x000F);
    model.set(1, MPAMCFG_CMAX, fraction(31)); // half of the four ways
    for (std::uint64_t line = 0; line < 4 * model.lines(); ++line) {
        model.touch(line, {.partition = 1});
    }
    EXPECT_EQ(model.held(1, 4 * model.lines()), model.lines() / 8);
}

TEST(M4CacheCapacity, T104AssociativityIsAShareOfEachSet)
{
    cache_with_mpam model;
    model.set(1, MPAMCFG_CASSOC, 0x7000); // 8 / 16: half of the ways
    for (std::uint64_t line = 0; line < 4 * model.lines(); ++line) {
        model.touch(line, {.partition = 1});
    }
    EXPECT_EQ(model.held(1, 4 * model.lines()), 8 * model.sets());
    cache_with_mpam one_set;
    one_set.set(1, MPAMCFG_CASSOC, 0x7000);
    for (std::uint64_t i = 0; i < 40; ++i) {
        one_set.touch(i * one_set.sets(), {.partition = 1});
        EXPECT_LE(one_set.held(1, 40 * one_set.sets()), 8U);
    }
}

TEST(M4CacheCapacity, T105BeyondASoftMaximumOnlyWhatNobodyElseHas)
{
    cache_with_mpam model;
    model.set(1, MPAMCFG_CMAX, fraction(63) | MPAMCFG_CMAX_SOFTLIM);
    const std::uint64_t half = model.lines() / 2;
    for (std::uint64_t line = 0; line < half; ++line) {
        model.touch(line, {.partition = 2});
    }
    for (std::uint64_t line = half; line < 4 * model.lines(); ++line) {
        model.touch(line, {.partition = 1});
    }
    EXPECT_EQ(model.held(1, 4 * model.lines()), half) << "all that was empty";
    EXPECT_EQ(model.held(2, half), half) << "and nothing of another's";
    EXPECT_TRUE(model.has(4 * model.lines() - 1)) << "its own lines go for its new ones";
}

TEST(M4CacheCapacity, T106BelowItsMinimumAPartitionKeepsItsLines)
{
    cache_with_mpam model;
    model.set(1, MPAMCFG_CMIN, fraction(64)); // a quarter
    const std::uint64_t quarter = model.lines() / 4;
    for (std::uint64_t line = 0; line < quarter - 1; ++line) {
        model.touch(line, {.partition = 1});
    }
    for (std::uint64_t line = quarter; line < 8 * model.lines(); ++line) {
        model.touch(line, {.partition = 2});
    }
    EXPECT_EQ(model.held(1, quarter), quarter - 1);
    model.touch(quarter - 1, {.partition = 1}); // now it has its minimum
    for (std::uint64_t line = 8 * model.lines(); line < 16 * model.lines(); ++line) {
        model.touch(line, {.partition = 2});
    }
    EXPECT_EQ(model.held(1, quarter), quarter - 1) << "what is above the minimum can go, and no more";
}

// --- Disabled partitions ---

TEST(M4CacheCapacity, T125ADisabledPartitionAllocatesNothingAndItsLinesGoFirst)
{
    cache_with_mpam model;
    for (std::uint64_t i = 0; i < 4; ++i) {
        model.touch(i * model.sets(), {.partition = 1});
    }
    for (std::uint64_t i = 4; i < 16; ++i) {
        model.touch(i * model.sets(), {.partition = 2});
    }
    for (std::uint64_t i = 0; i < 4; ++i) {
        model.touch(i * model.sets(), {.partition = 1}); // used last
    }
    model.registers().write(MPAMCFG_DIS, 1);
    model.touch(100 * model.sets(), {.partition = 1});
    EXPECT_FALSE(model.has(100 * model.sets()));
    for (std::uint64_t i = 16; i < 20; ++i) {
        model.touch(i * model.sets(), {.partition = 2});
    }
    EXPECT_EQ(model.held(1, 200 * model.sets()), 0U);
    EXPECT_EQ(model.held(2, 200 * model.sets()), 16U);
    model.registers().write(MPAMCFG_EN, 1);
    model.touch(100 * model.sets(), {.partition = 1});
    EXPECT_TRUE(model.has(100 * model.sets())) << "with its settings as they were";
}

// --- Narrowing ---

TEST(M4CacheCapacity, NarrowedPartitionsHaveOneMaximumTogether)
{
    settings all = machine_with_mpam(1);
    all.mpam->components[0].internal_partids = 4;
    const auto machine = make_machine(all);
    page registers = page_of(*machine);
    for (const std::uint32_t partid : {5, 6}) {
        registers.select(cache_instance, partid);
        registers.write(MPAMCFG_INTPARTID, MPAMCFG_INTPARTID_INTERNAL | 2);
    }
    registers.write(MPAMCFG_PART_SEL, MPAMCFG_PART_SEL_INTERNAL | 2);
    registers.write(MPAMCFG_CMAX, fraction(15)); // a sixteenth
    cache &level = machine->memory().level(0).storage();
    const std::uint64_t lines = level.geometry().size().value / line_bytes;
    for (std::uint64_t line = 0; line < lines; ++line) {
        const mpam_label label{.partition = static_cast<std::uint16_t>(5 + line % 2)};
        level.fill(phys_addr{line * line_bytes}, first, access_kind::read, line_mark::none, label);
    }
    const mpam::cache_partitions &own = *machine->mpam()->at(0).instance(cache_instance).cache;
    EXPECT_EQ(own.lines_of_internal(2), lines / 16);
    EXPECT_EQ(own.lines_of({.partition = 5}) + own.lines_of({.partition = 6}), lines / 16);
    // Changing the mapping moves a partition's lines to the new PARTID.
    registers.select(cache_instance, 6);
    registers.write(MPAMCFG_INTPARTID, MPAMCFG_INTPARTID_INTERNAL | 3);
    EXPECT_EQ(own.lines_of_internal(3), own.lines_of({.partition = 6}));
    EXPECT_EQ(own.lines_of_internal(2), own.lines_of({.partition = 5}));
}

// --- Property: random settings, random accesses ---

class M4CacheProperty : public testing::TestWithParam<replacement> {};

TEST_P(M4CacheProperty, RandomSettingsHoldForEveryLineThatComesIn)
{
    for (std::uint32_t seed = 1; seed <= 8; ++seed) {
        std::mt19937 random(seed);
        const auto below = [&random](std::uint32_t limit) {
            return static_cast<std::uint32_t>(random() % limit);
        };
        cache_with_mpam model(full_component().resources[0], GetParam());
        std::vector<std::uint32_t> portions(partids);
        std::vector<std::uint64_t> most(partids);
        std::vector<std::uint64_t> held(partids);
        std::vector<std::uint32_t> ways(partids);
        for (std::uint32_t partid = 0; partid < partids; ++partid) {
            portions[partid] = below(4) == 0 ? 0xFFFF : below(0x10000);
            const std::uint32_t share = below(256);
            most[partid] = (share + 1) * model.lines() / 256;
            ways[partid] = below(16) + 1;
            model.set(partid, MPAMCFG_CPBM(0), portions[partid]);
            model.set(partid, MPAMCFG_CMAX, fraction(share));
            model.set(partid, MPAMCFG_CMIN, fraction(below(share + 1) / 2));
            model.set(partid, MPAMCFG_CASSOC, (ways[partid] - 1) << 12U);
        }
        const std::uint64_t range = 3 * model.lines();
        for (int step = 0; step < 30'000; ++step) {
            const std::uint64_t line = random() % range;
            const auto partid = static_cast<std::uint16_t>(below(partids));
            const bool was_here = model.has(line);
            const auto gone = model.touch(line, {.partition = partid, .monitor_group = 1});
            if (was_here) {
                ASSERT_FALSE(gone);
                continue;
            }
            if (gone) {
                --held[model.storage().gone_label().partition];
            }
            if (!model.has(line)) {
                ASSERT_FALSE(gone) << "what is not allocated pushes nothing out";
                continue;
            }
            ++held[partid];
            ASSERT_NE(portions[partid], 0U);
            ASSERT_LE(held[partid], most[partid]) << "seed " << seed << " step " << step;
            if (step % 1000 == 0) {
                std::uint32_t in_set = 0;
                for (std::uint64_t other = line % model.sets(); other < range; other += model.sets()) {
                    const phys_addr at{other * line_bytes};
                    in_set += model.has(other) && model.storage().label_of(at).partition == partid ? 1 : 0;
                }
                ASSERT_LE(in_set, ways[partid]);
                ASSERT_LE(in_set, static_cast<std::uint32_t>(std::popcount(portions[partid])));
            }
        }
        for (std::uint16_t partid = 0; partid < partids; ++partid) {
            EXPECT_EQ(model.held(partid, range), held[partid]);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Policies, M4CacheProperty,
                         testing::Values(replacement::lru, replacement::tree_plru, replacement::random),
                         [](const auto &one) { return std::string(replacement_name(one.param)); });

// --- On the machine: labels ---

// A core's lines keep its label in all caches, and its write-backs carry it, whichever program runs then.
TEST(M4Labels, AWrittenBackLineCarriesThePartitionThatBroughtIt)
{
    const auto machine = make_machine(machine_with_mpam(1));
    page registers = page_of(*machine);
    registers.watch_bandwidth(0, {.partition = 3, .monitor_group = 2});
    registers.watch_bandwidth(1, {.partition = 5, .monitor_group = 0});
    core &own = machine->core_at({0});
    constexpr std::uint64_t written = 100;
    own.start([](core &runs) {
        runs.set_label({.partition = 3, .monitor_group = 2});
        for (std::uint64_t line = 0; line < written; ++line) {
            runs.access(phys_addr{line * line_bytes}, 8, access_kind::write);
        }
        runs.set_label({.partition = 5});
        for (std::uint64_t line = 1000; line < 200'000; ++line) { // more than all caches hold
            runs.access(phys_addr{line * line_bytes}, 8, access_kind::read);
        }
    });
    machine->timeline().run(for_ever);
    registers.now = picoseconds{1'000'000'000'000};
    registers.select_monitor(memory_instance, 0);
    EXPECT_EQ(registers.read(MSMON_MBWU), 2 * written * line_bytes) << "read once, written back once";
    registers.select_monitor(memory_instance, 1);
    EXPECT_EQ(registers.read(MSMON_MBWU), 199'000 * line_bytes) << "and nothing of the others' writes";
    EXPECT_EQ(machine->memory().counts().line_writes, written);
}

// Prefetches, walks of tables and fetches carry the label of the core; so all memory traffic has it.
TEST(M4Labels, AllThatACoreAsksForHasItsLabel)
{
    settings all = machine_with_mpam(1);
    all.cores[0].prefetcher = {.streams = 4, .depth_lines = 4};
    all.cores[0].write_streaming = {.lines = 3, .shared_lines = 16};
    const auto machine = make_machine(all);
    page registers = page_of(*machine);
    registers.watch_bandwidth(0, {.partition = 7, .monitor_group = 3});
    core &own = machine->core_at({0});
    own.start([](core &runs) {
        runs.set_label({.partition = 7, .monitor_group = 3});
        for (std::uint64_t at = 0; at < 1U << 20U; at += 16) {
            runs.access(phys_addr{at}, 16, access_kind::read);
            runs.access(phys_addr{at + (1U << 24U)}, 16, access_kind::write);
        }
        runs.past_caches(phys_addr{1U << 26U}, 8, access_kind::write);
        runs.past_caches(phys_addr{1U << 26U}, 8, access_kind::read);
        runs.walk_read(phys_addr{1U << 27U}, walk_path::l2);
    });
    machine->timeline().run(for_ever);
    const memory_counts &counts = machine->memory().counts();
    registers.now = picoseconds{1'000'000'000'000};
    registers.select_monitor(memory_instance, 0);
    EXPECT_GT(counts.line_reads, (1U << 20U) / line_bytes);
    EXPECT_GT(counts.line_writes, 1000U);
    EXPECT_EQ(registers.read(MSMON_MBWU), (counts.line_reads + counts.line_writes) * line_bytes);
}

} // namespace
} // namespace bulkhead::machine::test::cache_test
