// SPDX-License-Identifier: Apache-2.0
// Walks that read at random and that copy: their reads and writes, what overlaps, and what is refused.
#include "machine/generator.h"

#include <gtest/gtest.h>

#include "machine_make.h"
#include "make.h"

namespace bulkhead::machine::test::generator_test {

namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t draws = 20'000;

std::vector<std::uint64_t> pages(std::uint64_t bytes)
{
    std::vector<std::uint64_t> found;
    for (std::uint64_t at = 0; at < bytes; at += page) {
        found.push_back(at);
    }
    return found;
}

struct outcome {
    double ns; // of the last walk, for each draw
    core_counts counts;
    dram::memory_profile dram;
};

outcome run(const walk_settings &wanted, std::uint32_t loads = 3)
{
    settings all = small_machine(1);
    all.cores[0].loads = loads;
    all.cores[0].window_instructions = 3;
    const auto machine = make_machine(all);
    core &mine = machine->core_at({0});
    walk what = expect_made(walk::make(wanted));
    mine.start([&](core &on) { what.run_on(on); });
    EXPECT_EQ(machine->timeline().run(for_ever), engine::ending::idle);
    return {static_cast<double>(what.times().back().value) / 1000 / draws, mine.counts(),
            machine->memory().profile(mine.clock())};
}

walk_settings random_walk(walk_kind kind, std::uint64_t bytes)
{
    return {.kind = kind,
            .addresses = pages(bytes),
            .page_bytes = page,
            .access_bytes = 1,
            .instructions = 12,
            .draws = draws,
            .walks = 2};
}

std::string refused(const walk_settings &wanted)
{
    auto made = walk::make(wanted);
    const auto *why = std::get_if<refusal>(&made);
    return why == nullptr ? "" : why->reason;
}

TEST(generator, random_reads_wait_for_each_other_and_most_miss_a_cache_that_holds_a_part)
{
    const outcome within = run(random_walk(walk_kind::random, 512 * 1024));
    const outcome beyond = run(random_walk(walk_kind::random, 16 * 1024 * 1024));
    EXPECT_GT(within.ns, 10);
    EXPECT_LT(within.ns, 25);
    // An L2 of 1 MiB holds a 16th of the block, minus the lines that walks evict.
    EXPECT_GT(beyond.counts.of(core_event::l2d_refill), 2 * draws * 14 / 16);
    EXPECT_GT(beyond.ns, 60);
}

TEST(generator, two_random_reads_at_a_time_overlap_where_the_core_lets_them)
{
    const std::uint64_t bytes = 16 * 1024 * 1024;
    const double one = run(random_walk(walk_kind::random, bytes)).ns;
    const double both = run(random_walk(walk_kind::random_pair, bytes)).ns;
    const double in_turn = run(random_walk(walk_kind::random_pair, bytes), 1).ns;
    EXPECT_GT(both, one);
    EXPECT_LT(both, 1.5 * one);
    EXPECT_GT(in_turn, 1.8 * one);
}

TEST(generator, each_walk_draws_other_places)
{
    walk_settings twice = random_walk(walk_kind::random, 16 * 1024 * 1024);
    twice.draws = 1000; // places that fit into L2: if drawn again, they would all hit
    const outcome found = run(twice);
    EXPECT_GT(found.counts.of(core_event::l2d_refill), 1900);
}

TEST(generator, a_copy_reads_its_first_half_and_writes_the_second)
{
    const std::uint64_t half = 2 * 1024 * 1024;
    const outcome found = run({.kind = walk_kind::copy,
                               .addresses = pages(2 * half),
                               .page_bytes = page,
                               .stride_bytes = 32,
                               .access_bytes = 32,
                               .instructions = 3,
                               .walks = 1});
    EXPECT_EQ(found.counts.of(core_event::memory_access), 2 * half / 32);
    EXPECT_GE(found.dram.read.value, half);
    EXPECT_GE(found.dram.written.value, half - 1024 * 1024); // lines that stay in L2
}

TEST(generator, walks_with_a_period_begin_at_its_multiples_and_take_as_long)
{
    constexpr std::uint64_t period_ps = 100'000'000; // longer than a walk
    walk_settings wanted{
        .kind = walk_kind::chase, .addresses = pages(1024 * 1024), .page_bytes = page, .walks = 3};
    settings all = small_machine(1);
    const auto ends_after = [&](const walk_settings &walked, std::vector<picoseconds> &times) {
        const auto machine = make_machine(all);
        core &mine = machine->core_at({0});
        walk what = expect_made(walk::make(walked));
        mine.start([&](core &on) { what.run_on(on); });
        EXPECT_EQ(machine->timeline().run(for_ever), engine::ending::idle);
        times = what.times();
        return mine.clock().value;
    };
    std::vector<picoseconds> at_once;
    std::vector<picoseconds> periodic;

    wanted.bytes = 64 * 1024;
    (void)ends_after(wanted, at_once);
    wanted.period_ps = period_ps;
    const std::uint64_t end = ends_after(wanted, periodic);
    EXPECT_GE(end, 2 * period_ps + periodic[2].value);
    EXPECT_LT(end, 2 * period_ps + periodic[2].value + period_ps / 10);
    EXPECT_NEAR(static_cast<double>(periodic[2].value), static_cast<double>(at_once[2].value),
                static_cast<double>(at_once[2].value) / 10);
}

TEST(generator, a_copy_between_halves_needs_an_even_number_of_places)
{
    walk_settings odd{.kind = walk_kind::copy, .addresses = {0, 64, 128}, .instructions = 3};
    EXPECT_NE(refused(odd).find("odd number"), std::string::npos);
    odd.addresses.push_back(192);
    EXPECT_EQ(refused(odd), "");
    odd.instructions = 1;
    EXPECT_NE(refused(odd).find("fewer instructions"), std::string::npos);
}

} // namespace

} // namespace bulkhead::machine::test::generator_test
