// SPDX-License-Identifier: Apache-2.0
// What an access costs: latency steps at each cache size, bandwidth below DRAM's peak, stores that do not
// stall until the buffer is full, prefetching, write streaming, frames that cores share.
#include <gtest/gtest.h>

#include "tests/machine/machine_make.h"
#include "tests/machine/patterns.h"

namespace bulkhead::machine::test::core_test {

namespace {

constexpr std::uint64_t kib = 1024;

struct outcome {
    double ns_per_access;
    double bytes_per_s; // over DRAM's bus
    core_counts counts;
    memory_counts memory;
    double dram_peak;
};

outcome run(const settings &wanted, const pattern_settings &what, std::size_t cores = 1)
{
    const auto machine = make_machine(wanted);
    for (std::uint32_t i = 0; i < cores; ++i) {
        pattern_settings own = what;
        own.start.value += std::uint64_t{i} << 26U;
        own.seed += i;
        machine->core_at({i}).start(make_pattern(own));
    }
    EXPECT_EQ(machine->timeline().run(for_ever), engine::ending::idle);
    picoseconds end{};
    for (std::uint32_t i = 0; i < cores; ++i) {
        end = std::max(end, machine->core_at({i}).clock());
    }
    const dram::memory_profile profile = machine->memory().profile(end);
    return {static_cast<double>(end.value) / 1000 / static_cast<double>(what.accesses),
            static_cast<double>(profile.read.value + profile.written.value) /
                (static_cast<double>(end.value) * 1e-12),
            machine->core_at({0}).counts(), machine->memory().counts(),
            machine->memory().memory().peak_bytes_per_s()};
}

pattern_settings chase(std::uint64_t bytes, std::uint64_t rounds)
{
    return {
        .pattern = access_pattern::chase, .working_set = byte_count{bytes}, .accesses = rounds * bytes / 64};
}

// Time of an access after a first round that fetched everything.
double settled_ns(const settings &wanted, std::uint64_t bytes)
{
    const double once = run(wanted, chase(bytes, 1)).ns_per_access;
    const double thrice = run(wanted, chase(bytes, 3)).ns_per_access;
    return (3 * thrice - once) / 2;
}

TEST(core, a_pointer_chase_costs_more_where_a_cache_ends)
{
    const settings wanted = small_machine(1);
    EXPECT_NEAR(settled_ns(wanted, 16 * kib), 0.833 * 3, 0.1);   // an instruction and the load-use latency
    EXPECT_NEAR(settled_ns(wanted, 256 * kib), 0.833 + 12, 0.5); // the shared level's latency instead
    const double in_dram = settled_ns(wanted, 4096 * kib);
    EXPECT_GT(in_dram,
              12 + 2 * 10 + 20 + 20); // its lookup, the paths in both directions, and the DRAM itself
    EXPECT_LT(in_dram, 150);
}

TEST(core, every_line_that_is_missed_is_read_once)
{
    for (const access_pattern pattern : {access_pattern::sequential, access_pattern::random}) {
        settings wanted = small_machine(4);
        for (core_settings &one : wanted.cores) {
            one.loads = 4;
            one.prefetcher.depth_lines = 4;
        }
        const outcome seen = run(wanted,
                                 {.pattern = pattern,
                                  .working_set = byte_count{2048 * kib},
                                  .accesses = 100'000,
                                  .writes_percent = 30},
                                 4);
        EXPECT_GT(seen.memory.line_reads, 1000U);
        EXPECT_EQ(seen.memory.answered, seen.memory.line_reads);
        EXPECT_EQ(seen.memory.fetches, seen.memory.level_hits + seen.memory.joined + seen.memory.line_reads);
        EXPECT_EQ(seen.memory.bursts_written, seen.memory.line_writes);
    }
}

TEST(core, no_traffic_exceeds_the_peak_of_the_data_bus)
{
    settings wanted = small_machine(4);
    for (core_settings &one : wanted.cores) {
        one.loads = 8;
        one.prefetcher.depth_lines = 4;
    }
    const outcome seen = run(wanted,
                             {.pattern = access_pattern::strided,
                              .working_set = byte_count{8192 * kib},
                              .accesses = 60'000,
                              .writes_percent = 20},
                             4);
    EXPECT_LT(seen.bytes_per_s, seen.dram_peak);
    EXPECT_GT(seen.bytes_per_s, 0.5 * seen.dram_peak); // four cores can keep it busy
}

TEST(core, more_loads_under_way_overlap_their_latencies)
{
    settings wanted = small_machine(1);
    const pattern_settings what{
        .pattern = access_pattern::random, .working_set = byte_count{32768 * kib}, .accesses = 20'000};
    const double blocking = run(wanted, what).ns_per_access;
    wanted.cores[0].loads = 4;
    const double overlapped = run(wanted, what).ns_per_access;
    EXPECT_LT(overlapped, 0.5 * blocking);
    wanted.cores[0].window_instructions = 1; // one more load may begin after a miss, not three
    EXPECT_GT(run(wanted, what).ns_per_access, 1.3 * overlapped);
}

TEST(core, a_prefetcher_hides_the_latency_of_a_stream)
{
    settings wanted = small_machine(1);
    const pattern_settings what{.working_set = byte_count{8192 * kib}, .accesses = 400'000};
    const double without = run(wanted, what).ns_per_access;
    wanted.cores[0].prefetcher.depth_lines = 4;
    const outcome with = run(wanted, what);
    EXPECT_LT(with.ns_per_access, 0.5 * without);
    EXPECT_EQ(with.counts.of(core_event::l1d_refill), 400'000U * 8 / 64);
}

TEST(core, stores_wait_only_when_the_buffer_is_full)
{
    settings wanted = small_machine(1);
    const auto few = run(wanted, {.pattern = access_pattern::strided,
                                  .working_set = byte_count{8192 * kib},
                                  .accesses = 4,
                                  .writes_percent = 100});
    EXPECT_LT(few.ns_per_access, 2.0);
    EXPECT_EQ(few.counts.of(stall_cause::store_buffer), 0U);
    const auto many = run(wanted, {.pattern = access_pattern::strided,
                                   .working_set = byte_count{8192 * kib},
                                   .accesses = 4000,
                                   .writes_percent = 100});
    EXPECT_GT(many.counts.of(stall_cause::store_buffer), 1'000'000U);
}

TEST(core, write_streaming_fetches_no_lines_that_are_overwritten)
{
    settings wanted = small_machine(1);
    const pattern_settings what{
        .working_set = byte_count{8192 * kib}, .accesses = 300'000, .writes_percent = 100};
    EXPECT_EQ(run(wanted, what).memory.line_reads, 300'000U * 8 / 64);
    wanted.cores[0].write_streaming = {.lines = 3, .shared_lines = 100};
    const outcome seen = run(wanted, what);
    EXPECT_LT(seen.memory.line_reads, 10U);
    EXPECT_GT(seen.memory.line_writes,
              37'000U); // the lines, except those that are still in caches No refills, but write-backs: the
                        // events that stand for traffic must count them.
    EXPECT_LT(seen.counts.of(core_event::l2d_refill), 10U);
    EXPECT_EQ(seen.counts.of(core_event::l2d_write_back), seen.memory.line_writes);
}

TEST(core, lines_of_a_write_stream_follow_one_another_through_the_shared_level)
{
    settings wanted = small_machine(1);
    wanted.cores[0].write_streaming = {.lines = 3, .shared_lines = 100};
    const pattern_settings what{
        .working_set = byte_count{8192 * kib}, .accesses = 100'000, .writes_percent = 100};
    const double fast = run(wanted, what).ns_per_access;
    wanted.levels[0].latency_ps *= 4; // each is later, and their rate is the same
    EXPECT_NEAR(run(wanted, what).ns_per_access, fast, 0.02 * fast);
    // A regulator behind the level still stalls the core.
    const double rate = 500e6;
    wanted.masters[0].writes = {.rate_bytes_per_s = 500'000'000, .burst_bytes = 64};
    EXPECT_NEAR(8 / (run(wanted, what).ns_per_access * 1e-9), rate, 0.03 * rate);
}

TEST(core, beats_are_of_all_that_leaves_the_core_hits_of_the_shared_level_too)
{
    const outcome hits = run(small_machine(1), chase(128 * kib, 3));
    EXPECT_EQ(hits.counts.of(core_event::beats), hits.counts.of(core_event::l1d_refill) * 64 / 16);
    EXPECT_GT(hits.counts.of(core_event::beats), 2 * 4 * hits.counts.of(core_event::l2d_refill));

    const auto machine = make_machine(small_machine(1));
    machine->core_at({0}).start([](core &own) {
        own.uncached(phys_addr{64}, 8, access_kind::read);
        own.uncached(phys_addr{64}, 8, access_kind::write);
    });
    machine->timeline().run(for_ever);
    const core_counts counts = machine->core_at({0}).counts();
    EXPECT_EQ(counts.of(core_event::beats), 2U);
    EXPECT_EQ(counts.of(core_event::l2d_refill) + counts.of(core_event::l2d_write_back), 0U);
}

TEST(core, what_goes_past_the_caches_is_a_line_of_memory_each_time_and_no_refill)
{
    constexpr std::uint64_t accesses = 100;
    for (const bool private_level : {false, true}) {
        settings wanted = small_machine(1);
        if (private_level) {
            wanted.cores[0].l2 = cache_settings{.size_bytes = 512 * kib, .ways = 8};
        }
        for (const access_kind kind : {access_kind::read, access_kind::write}) {
            const auto machine = make_machine(wanted);
            machine->core_at({0}).start([kind](core &own) {
                for (std::uint64_t i = 0; i < accesses; ++i) {
                    own.past_caches(phys_addr{64}, 8, kind); // the same line each time
                }
            });
            machine->timeline().run(for_ever);
            const core_counts counts = machine->core_at({0}).counts();
            const memory_counts &moved = machine->memory().counts();
            EXPECT_EQ(kind == access_kind::read ? moved.line_reads : moved.line_writes, accesses);
            EXPECT_EQ(counts.of(core_event::uncached), accesses);
            EXPECT_EQ(counts.of(core_event::memory_access), accesses);
            EXPECT_EQ(counts.of(core_event::beats), accesses);
            EXPECT_EQ(counts.of(core_event::bus_access), accesses);
            EXPECT_EQ(counts.of(core_event::l1d_refill) + counts.of(core_event::l2d_refill) +
                          counts.of(core_event::l2d_write_back),
                      0U);
        }
    }
}

TEST(core, stalls_and_instructions_add_up_to_the_clock)
{
    const auto machine = make_machine(small_machine(1));
    machine->core_at({0}).start((make_pattern({.pattern = access_pattern::random,
                                               .working_set = byte_count{4096 * kib},
                                               .accesses = 20'000,
                                               .writes_percent = 30})));
    machine->timeline().run(for_ever);
    const core_counts counts = machine->core_at({0}).counts();
    std::uint64_t sum_ps = counts.instructions * 833'333 / 1000;
    for (const std::uint64_t stall : counts.stall_ps) {
        sum_ps += stall;
    }
    EXPECT_NEAR(static_cast<double>(sum_ps), static_cast<double>(machine->core_at({0}).clock().value),
                0.001 * static_cast<double>(sum_ps));
    EXPECT_EQ(counts.of(core_event::memory_access), 20'000U);
}

TEST(core, a_private_second_level_keeps_what_the_first_gives_up)
{
    settings wanted = small_machine(1);
    wanted.cores[0].l2 = cache_settings{.size_bytes = 512 * kib, .ways = 8};
    wanted.cores[0].l2_latency_ps = 5'000;
    EXPECT_NEAR(settled_ns(wanted, 256 * kib), 0.833 + 5, 0.5);
    const outcome seen = run(wanted, chase(256 * kib, 3));
    EXPECT_EQ(seen.memory.fetches, 256 * kib / 64);
    EXPECT_EQ(seen.counts.of(core_event::l2d_refill), 256 * kib / 64);
}

TEST(core, a_shared_frame_moves_between_cores_that_write_it)
{
    const auto machine = make_machine(small_machine(2));
    machine->share(phys_addr{0}, byte_count{4096}, true);
    for (std::uint32_t i = 0; i < 2; ++i) {
        machine->core_at({i}).start([](core &own) {
            for (int round = 0; round < 1000; ++round) {
                own.instructions(10);
                own.access(phys_addr{64}, 8, access_kind::write);
            }
        });
    }
    machine->timeline().run(for_ever);
    const core_counts counts = machine->core_at({0}).counts();
    EXPECT_GT(counts.of(core_event::l1d_refill), 400U); // it nearly never still has the line
    EXPECT_GT(counts.of(core_event::l1d_write_back), 400U);
    EXPECT_EQ(machine->memory().counts().line_reads, 1U);
}

TEST(core, an_access_across_two_lines_misses_both)
{
    const auto machine = make_machine(small_machine(1));
    machine->core_at({0}).start([](core &own) { own.access(phys_addr{60}, 8, access_kind::read); });
    machine->timeline().run(for_ever);
    EXPECT_EQ(machine->memory().counts().line_reads, 2U);
}

TEST(core, a_watched_event_is_reported_at_the_count_and_only_then)
{
    const auto machine = make_machine(small_machine(1));
    std::vector<std::uint64_t> seen;
    core &own = machine->core_at({0});
    own.watch(core_event::l2d_refill, 100, [&] { seen.push_back(own.counts().of(core_event::l2d_refill)); });
    own.start((make_pattern(
        {.pattern = access_pattern::strided, .working_set = byte_count{4096 * kib}, .accesses = 1000})));
    machine->timeline().run(for_ever);
    EXPECT_EQ(seen, std::vector<std::uint64_t>{100});
    EXPECT_EQ(own.counts().of(core_event::l2d_refill), 1000U);
}

TEST(core, what_the_platform_gives_no_address_to_is_no_memory)
{
    settings wanted = small_machine(1);
    wanted.dram.bytes = 16 * 1024 * kib;
    const auto machine = make_machine(wanted);
    picoseconds memory_took{};
    picoseconds device_took{};
    machine->core_at({0}).start([&](core &one) {
        one.uncached(phys_addr{wanted.dram.bytes - 64}, 4, access_kind::read);
        memory_took = one.clock();
        one.uncached(phys_addr{wanted.dram.bytes}, 4, access_kind::read);
        device_took = one.clock() - memory_took;
    });
    EXPECT_EQ(machine->timeline().run(for_ever), engine::ending::idle);
    EXPECT_EQ(machine->memory().counts().line_reads, 1U);
    EXPECT_NEAR(static_cast<double>(device_took.value), static_cast<double>(wanted.device_ps), 1000);
}

} // namespace

} // namespace bulkhead::machine::test::core_test
