// SPDX-License-Identifier: Apache-2.0
// The order of cores, events and memory.
#include <algorithm>
#include <tuple>

#include <gtest/gtest.h>

#include "tests/machine/machine_make.h"

namespace bulkhead::machine::test::engine_test {

namespace {

void walk(core &own, std::uint64_t start, std::uint64_t bytes, int rounds, access_kind kind)
{
    for (int round = 0; round < rounds; ++round) {
        for (std::uint64_t at = 0; at < bytes; at += 8) {
            own.instructions(1);
            own.access(phys_addr{start + at}, 8, kind);
        }
    }
}

TEST(engine, time_of_instructions_is_their_number_times_their_cost)
{
    const auto machine = make_machine(small_machine(1));
    picoseconds end{};
    machine->core_at({0}).start([&](core &own) {
        own.instructions(1'200'000);
        end = own.clock();
    });
    EXPECT_EQ(machine->timeline().run(for_ever), engine::ending::idle);
    EXPECT_NEAR(static_cast<double>(end.value), 1e9, 2e3); // a millisecond at 1.2 GHz
    EXPECT_EQ(machine->core_at({0}).counts().instructions, 1'200'000U);
}

TEST(engine, equal_runs_have_equal_digests)
{
    const auto run = [](std::uint64_t lookahead_ps) {
        settings wanted = small_machine();
        wanted.signals = signals_after(lookahead_ps);
        const auto machine = make_machine(wanted);
        for (std::uint32_t i = 0; i < 4; ++i) {
            machine->core_at({i}).start([i](core &own) {
                walk(own, std::uint64_t{i} << 24U, 256 * 1024, 3,
                     i % 2 == 0 ? access_kind::read : access_kind::write);
            });
        }
        EXPECT_EQ(machine->timeline().run(for_ever), engine::ending::idle);
        return machine->digest();
    };
    const std::uint64_t digest = run(0);
    EXPECT_EQ(digest, run(0));
    EXPECT_EQ(digest, run(50'000));
    EXPECT_EQ(digest, run(1'000'000));
    EXPECT_EQ(digest, run(1'000'000'000));
}

TEST(engine, a_core_that_may_run_on_little_behind_a_missed_load_stops_at_the_same_instruction_in_each_run)
{
    const auto run = [](std::uint64_t lookahead_ps, bool events) {
        settings wanted = small_machine();
        wanted.signals = signals_after(lookahead_ps);
        for (core_settings &own : wanted.cores) {
            own.loads = 3;
            own.window_instructions = 3;
        }
        const auto machine = make_machine(wanted);
        for (std::uint32_t i = 0; i < 4; ++i) {
            machine->core_at({i}).start([i](core &own) {
                for (std::uint64_t n = 0; n < 20'000; ++n) {
                    const std::uint64_t at = n * 2'654'435'761U % (512 * 1024) & ~std::uint64_t{7};
                    own.instructions(1);
                    own.access(phys_addr{(std::uint64_t{i} << 24U) + at}, 8, access_kind::read);
                    own.instructions(1 + n % 3);
                }
            });
        }
        for (std::uint64_t when = 0; events && when < 2'000'000'000; when += 1'234'567) {
            machine->timeline().at(picoseconds{when}, [] {});
        }
        EXPECT_EQ(machine->timeline().run(for_ever), engine::ending::idle);
        return machine->digest();
    };
    const std::uint64_t digest = run(0, false);
    for (const std::uint64_t lookahead_ps : {0ULL, 777ULL, 50'000ULL, 1'000'000'000ULL}) {
        EXPECT_EQ(digest, run(lookahead_ps, false)) << lookahead_ps;
        EXPECT_EQ(digest, run(lookahead_ps, true)) << lookahead_ps;
    }
}

// A core that executes loses the time of each broadcast that reaches it, a sleeping core none; the result is
// the same however far cores run ahead.
TEST(engine, a_core_stands_still_for_what_another_one_broadcasts)
{
    constexpr std::uint64_t instructions = 120'000;
    constexpr picoseconds stall{200'000};
    constexpr picoseconds way{1'000'000}; // no shorter than the time that a core may run ahead
    constexpr std::uint64_t broadcasts = 40;
    const auto run = [&](std::uint64_t lookahead_ps, bool sleeps) {
        settings wanted = small_machine();
        wanted.signals = signals_after(lookahead_ps);
        const auto machine = make_machine(wanted);
        core &victim = machine->core_at({0});
        victim.start([&](core &own) {
            if (sleeps) {
                own.wait();
            }
            own.instructions(instructions);
            own.access(phys_addr{0}, 8, access_kind::read);
        });
        machine->core_at({1}).start([&](core &own) {
            for (std::uint64_t i = 0; i < broadcasts; ++i) {
                own.instructions(500);
                victim.stand_still(own.order() + way, stall);
            }
        });
        if (sleeps) {
            machine->timeline().at(picoseconds{50'000'000}, [&] { victim.signal(picoseconds{50'000'000}); });
        }
        EXPECT_EQ(machine->timeline().run(for_ever), engine::ending::idle);
        return std::tuple{victim.counts().of(stall_cause::maintenance), victim.clock().value,
                          machine->digest()};
    };
    const auto [stood, end, digest] = run(0, false);
    EXPECT_EQ(stood, broadcasts * stall.value);
    EXPECT_GT(end, instructions * 1'000'000 / 1200 + broadcasts * stall.value);
    for (const std::uint64_t lookahead_ps : {777ULL, 50'000ULL, 1'000'000ULL}) {
        EXPECT_EQ(run(lookahead_ps, false), (std::tuple{stood, end, digest})) << lookahead_ps;
    }
    EXPECT_EQ(std::get<0>(run(0, true)), 0U);
}

TEST(engine, a_refused_core_goes_on_when_a_line_comes_that_memory_has_long_decided_on)
{
    settings wanted = small_machine(1);
    wanted.levels[0].misses = 3;
    wanted.cores[0].loads = 8;
    wanted.cores[0].prefetcher.depth_lines = 0;
    wanted.masters[0].answer_ps = 1'000'000; // long after the decision
    const auto machine = make_machine(wanted);
    machine->core_at({0}).start([](core &own) {
        for (std::uint64_t line = 0; line < 4; ++line) {
            own.instructions(line == 3 ? 500 : 1);
            own.access(phys_addr{line * 4096}, 8, access_kind::read);
        }
    });
    EXPECT_EQ(machine->timeline().run(for_ever), engine::ending::idle);
    EXPECT_TRUE(machine->core_at({0}).ended());
    EXPECT_GT(machine->memory().counts().refused, 0U);
}

TEST(engine,
     lines_that_a_level_may_not_ask_for_and_writes_that_memory_does_not_take_wait_the_same_in_each_run)
{
    const auto run = [](std::uint64_t lookahead_ps) {
        settings wanted = small_machine();
        wanted.signals = signals_after(lookahead_ps);
        wanted.levels[0].misses = 3;
        wanted.levels[0].cache.size_bytes = 64 * 1024;
        wanted.writes_in_flight = 2;
        wanted.dram.how = {.write_queue = 4, .write_high = 3, .write_low = 1};
        const auto machine = make_machine(wanted);
        for (std::uint32_t i = 0; i < 4; ++i) {
            machine->core_at({i}).start(
                [i](core &own) { walk(own, std::uint64_t{i} << 24U, 128 * 1024, 2, access_kind::write); });
        }
        EXPECT_EQ(machine->timeline().run(for_ever), engine::ending::idle);
        EXPECT_GT(machine->memory().counts().refused, 0U);
        EXPECT_EQ(machine->memory().counts().answered, machine->memory().counts().line_reads);
        return machine->digest();
    };
    EXPECT_EQ(run(0), run(1'000'000));
}

TEST(engine, an_event_comes_between_the_accesses_before_and_after_it)
{
    const auto machine = make_machine(small_machine(2));
    std::vector<std::pair<std::uint64_t, char>> seen; // time, who
    for (std::uint32_t i = 0; i < 2; ++i) {
        machine->core_at({i}).start([&, i](core &own) {
            for (int round = 0; round < 50; ++round) {
                own.instructions(100 + i * 7);
                own.order();
                seen.emplace_back(own.clock().value, static_cast<char>('a' + i));
            }
        });
    }
    for (std::uint64_t when = 0; when < 4'000'000; when += 333'000) {
        machine->timeline().at(picoseconds{when}, [&, when] { seen.emplace_back(when, 'e'); });
    }
    machine->timeline().run(for_ever);
    EXPECT_EQ(seen.size(), 100U + 13U);
    EXPECT_TRUE(
        std::is_sorted(seen.begin(), seen.end(), [](auto &one, auto &two) { return one.first < two.first; }));
}

TEST(engine, a_cancelled_event_does_not_come)
{
    const auto machine = make_machine(small_machine(1));
    int seen = 0;
    const auto first = machine->timeline().at(picoseconds{100}, [&] { seen += 1; });
    machine->timeline().at(picoseconds{200}, [&] { seen += 10; });
    machine->timeline().cancel(first);
    EXPECT_EQ(machine->timeline().run(for_ever), engine::ending::idle);
    EXPECT_EQ(seen, 10);
}

TEST(engine, a_waiting_core_goes_on_when_it_is_signalled)
{
    const auto machine = make_machine(small_machine(2));
    std::vector<std::uint64_t> woken;
    machine->core_at({0}).start([&](core &own) {
        own.wait();
        woken.push_back(own.clock().value);
        own.wait();
        woken.push_back(own.clock().value);
    });
    machine->timeline().at(picoseconds{5'000'000},
                           [&] { machine->core_at({0}).signal(picoseconds{5'100'000}); });
    machine->core_at({1}).start([&](core &own) {
        own.instructions(12'000); // 10 us
        own.order();
        machine->core_at({0}).signal(own.clock());
    });
    machine->timeline().run(for_ever);
    ASSERT_EQ(woken.size(), 2U);
    EXPECT_EQ(woken[0], 5'100'000U);
    EXPECT_NEAR(static_cast<double>(woken[1]), 1e7, 1e3);
    EXPECT_GT(machine->core_at({0}).counts().idle_ps, 9'000'000U);
}

TEST(engine, an_interrupt_is_attended_between_two_instructions_whatever_the_lookahead)
{
    const auto run = [](std::uint64_t lookahead_ps) {
        settings wanted = small_machine(2);
        wanted.signals = signals_after(lookahead_ps);
        const auto machine = make_machine(wanted);
        std::vector<std::uint64_t> attended;
        core &own = machine->core_at({0});
        own.set_attend([&] { attended.push_back(own.clock().value); });
        own.start([](core &one) {
            for (int i = 0; i < 100'000; ++i) {
                one.instructions(3);
                one.access(phys_addr{static_cast<std::uint64_t>(i % 512) * 8}, 8, access_kind::write);
            }
        });
        for (std::uint64_t i = 1; i < 20; ++i) {
            const picoseconds when{i * 7'777'777};
            machine->timeline().at(when, [&own, when] { own.signal(when); });
        }
        machine->timeline().run(for_ever);
        return attended;
    };
    const std::vector<std::uint64_t> attended = run(1'000'000'000);
    ASSERT_EQ(attended.size(), 19U);
    for (std::size_t i = 0; i < attended.size(); ++i) {
        EXPECT_GE(attended[i], (i + 1) * 7'777'777);
        EXPECT_LT(attended[i], (i + 1) * 7'777'777 + 4 * 834);
    }
    EXPECT_EQ(attended, run(0));
}

TEST(engine, a_run_can_be_continued_and_ends_the_same)
{
    const auto run = [](std::uint64_t step_ps) {
        const auto machine = make_machine(small_machine(2));
        for (std::uint32_t i = 0; i < 2; ++i) {
            machine->core_at({i}).start(
                [i](core &own) { walk(own, std::uint64_t{i} << 24U, 64 * 1024, 2, access_kind::write); });
        }
        picoseconds until{step_ps};
        while (machine->timeline().run(until) == engine::ending::reached) {
            until = until + picoseconds{step_ps};
        }
        return machine->digest();
    };
    EXPECT_EQ(run(1'000'000'000'000), run(1'234'567));
}

TEST(engine, a_core_can_change_between_fibers_like_a_hypervisor_and_its_guest)
{
    const auto machine = make_machine(small_machine(1));
    core &own = machine->core_at({0});
    std::string order;
    fiber *hypervisor = nullptr;
    fiber guest([&]() -> fiber & {
        for (int i = 0; i < 3; ++i) {
            own.instructions(1000);
            order += 'g';
            own.run_on(*hypervisor);
        }
        return *hypervisor;
    });
    own.start([&](core &one) {
        hypervisor = &one.current();
        for (int i = 0; i < 3; ++i) {
            one.run_on(guest);
            one.spend(picoseconds{500'000});
            order += 'h';
        }
        one.run_on(guest);
        order += '.';
    });
    machine->timeline().run(for_ever);
    EXPECT_EQ(order, "ghghgh.");
    EXPECT_NEAR(static_cast<double>(own.clock().value), 3 * (833'333 + 500'000), 2'000);
}

} // namespace

} // namespace bulkhead::machine::test::engine_test
