// SPDX-License-Identifier: Apache-2.0
// Budgets and regulators on simulated cores: overflows and how far the core runs on after them, waiting,
// periods on their grid, the same budgets for all, the cost of an interrupt, and that equal runs are equal.
#include <numeric>

#include <gtest/gtest.h>

#include "machine/regulation/driver.h"
#include "tests/machine/machine_make.h"
#include "tests/machine/patterns.h"

namespace bulkhead::machine::regulation::driver_test {

namespace {

using namespace machine::test;

using settings_of_machine = machine::settings;

constexpr std::uint64_t ms = 1'000'000'000;
constexpr std::uint64_t mib = 1024 * 1024;

// Misses without end, each on another line of more than the caches hold.
std::function<void(core &)> walker(std::uint32_t number, access_kind kind = access_kind::read)
{
    return [=](core &own) {
        for (std::uint64_t at = 0;; at = (at + 64) % (8 * mib)) {
            own.instructions(2);
            own.access(phys_addr{(std::uint64_t{number} << 28U) + at}, 8, kind);
        }
    };
}

// The shortest and the longest time between two misses of an unregulated walker.
std::pair<std::uint64_t, std::uint64_t> between_misses()
{
    const auto machine = make_machine(small_machine(1));
    std::pair<std::uint64_t, std::uint64_t> found{~std::uint64_t{0}, 0};
    machine->core_at({0}).start([&](core &own) {
        std::uint64_t before = 0;
        for (std::uint64_t at = 0; at < 4 * mib; at += 64) {
            own.instructions(2);
            own.access(phys_addr{at}, 8, access_kind::read);
            const std::uint64_t now = own.clock().value;
            if (at != 0) {
                found = {std::min(found.first, now - before), std::max(found.second, now - before)};
            }
            before = now;
        }
    });
    machine->timeline().run(for_ever);
    return found;
}

settings_of_machine interrupted_after(std::uint64_t latency_ps, std::size_t cores = 1)
{
    settings_of_machine made = small_machine(cores);
    made.signals = signals_after(latency_ps);
    return made;
}

core_budget one_budget(std::uint32_t core, std::uint64_t events, std::uint64_t period_ps = ms)
{
    return {.core = core,
            .kind = RESERVATION_ONE,
            .events = {core_event::l2d_refill},
            .limits = {events},
            .slack_events = 0,
            .period_ps = period_ps};
}

std::unique_ptr<driver> make_driver(simulated_machine &of, const settings &wanted, picoseconds start = {})
{
    return expect_made(driver::make(of, wanted, start));
}

feedback utilization(double threshold, std::uint64_t interval_ps = ms)
{
    feedback made{};
    made.policy = REGULATOR_UTILIZATION;
    made.threshold = static_cast<std::uint32_t>(threshold * UTILIZATION_ONE);
    made.interval_ticks = interval_ps;
    made.floor_events = 16;
    made.ceiling_events = REGULATOR_MAX_EVENTS;
    return made;
}

} // namespace

TEST(regulation, B1_a_core_causes_its_budget_in_each_period_and_waits_for_the_next)
{
    const auto machine = make_machine(interrupted_after(0));
    const auto driven = make_driver(*machine, {.budgets = {one_budget(0, 1000)}});
    machine->core_at({0}).start(walker(0));
    machine->timeline().run(picoseconds{10 * ms});
    const reservation_statistics &found = driven->cores()[0]->state().statistics;
    EXPECT_EQ(driven->cores()[0]->used(), 10'000U);
    EXPECT_EQ(found.overshoot_max_events, 0U); // interrupted at once, it stops at the first
    EXPECT_EQ(machine->core_at({0}).count_of(core_event::l2d_refill), 10'000U);
    EXPECT_GT(reservation_throttled_ticks(&driven->cores()[0]->state(), 10 * ms), 8 * ms);
    EXPECT_GT(machine->core_at({0}).counts().idle_ps, 8 * ms);
}

// Between the overflow and the interrupt the core continues at its own rate: that many misses exceed the
// budget, in each period, and no more.
TEST(regulation, B1_a_core_is_beyond_its_budget_by_what_it_misses_in_the_latency_of_the_interrupt)
{
    const auto [shortest, longest] = between_misses();
    ASSERT_LT(longest, 1'000'000U);
    for (const std::uint64_t latency : {150'000U, 400'000U, 2'000'000U}) {
        const auto machine = make_machine(interrupted_after(latency));
        const auto driven = make_driver(*machine, {.budgets = {one_budget(0, 1000)}});
        machine->core_at({0}).start(walker(0));
        machine->timeline().run(picoseconds{10 * ms}); // the tenth period has not been accounted yet
        const reservation_statistics &found = driven->cores()[0]->state().statistics;
        const std::uint64_t least = latency / longest;
        const std::uint64_t most = (latency + shortest - 1) / shortest;
        EXPECT_EQ(found.overshoot_periods, 9U) << latency;
        EXPECT_GE(found.overshoot_events, 9 * least) << latency;
        EXPECT_LE(found.overshoot_max_events, most) << latency;
        EXPECT_GE(driven->cores()[0]->used(), 10 * (1000 + least)) << latency;
        EXPECT_LE(driven->cores()[0]->used(), 10 * (1000 + most)) << latency;
    }
}

TEST(regulation, B1_what_the_handler_fetches_before_it_stops_the_counter_is_beyond_the_budget_too)
{
    const auto machine = make_machine(interrupted_after(0));
    settings wanted{.budgets = {one_budget(0, 20'000, 4 * ms)}};
    wanted.cost = {.lines = 5, .data = {64 * mib}};
    const auto driven = make_driver(*machine, wanted);
    machine->core_at({0}).start(walker(0));
    machine->timeline().run(picoseconds{10 * ms});
    const reservation_statistics &found = driven->cores()[0]->state().statistics;
    EXPECT_GT(found.overshoot_max_events, 0U);
    EXPECT_LE(found.overshoot_max_events, 5U);
    EXPECT_EQ(found.throttled_periods, 3U);
}

TEST(regulation, an_overflow_of_accesses_is_exact_although_they_hit)
{
    constexpr std::uint64_t periods = 3;
    for (const std::uint64_t latency : {0U, 200'000U}) {
        const auto machine = make_machine(interrupted_after(latency));
        core_budget budget = one_budget(0, 12'345);
        budget.events = {core_event::memory_access};
        const auto driven = make_driver(*machine, {.budgets = {budget}});
        machine->core_at({0}).start([](core &own) {
            for (;;) {
                own.instructions(1);
                own.access(phys_addr{0}, 8, access_kind::read);
            }
        });
        machine->timeline().run(picoseconds{periods * ms - 1});
        // An instruction and an access take a cycle at 1.2 GHz.
        const std::uint64_t later = latency * 12 / 10'000;
        const std::uint64_t counted = machine->core_at({0}).count_of(core_event::memory_access);
        EXPECT_GE(counted, periods * (12'345 + later));
        EXPECT_LE(counted, periods * (12'345 + later + (latency == 0 ? 0 : 1)));
    }
}

TEST(regulation, B3_a_sum_of_two_events_is_kept_within_its_slack)
{
    const auto machine = make_machine(interrupted_after(0));
    core_budget budget = one_budget(0, 3000);
    budget.kind = RESERVATION_SUM;
    budget.events = {core_event::l2d_refill, core_event::l2d_write_back};
    budget.slack_events = 16;
    const auto driven = make_driver(*machine, {.budgets = {budget}});
    machine->core_at({0}).start(walker(0, access_kind::write));
    machine->timeline().run(picoseconds{40 * ms});
    const core &own = machine->core_at({0});
    EXPECT_GT(own.count_of(core_event::l2d_write_back), 10'000U);
    const reservation_statistics &found = driven->cores()[0]->state().statistics;
    EXPECT_EQ(found.throttled_periods, 40U);
    EXPECT_LE(found.overshoot_max_events, 16U);
    EXPECT_EQ(driven->cores()[0]->used(),
              own.count_of(core_event::l2d_refill) + own.count_of(core_event::l2d_write_back));
}

TEST(regulation, a_budget_of_nothing_lets_nothing_run)
{
    const auto machine = make_machine(small_machine(1));
    const auto driven = make_driver(*machine, {.budgets = {one_budget(0, 0)}});
    machine->core_at({0}).start(walker(0));
    machine->timeline().run(picoseconds{5 * ms});
    EXPECT_EQ(machine->core_at({0}).counts().instructions, 0U);
}

TEST(regulation, interrupts_cost_what_is_said_and_their_lines_are_the_cores_own)
{
    const auto run = [](const interrupt_cost &cost, bool keep_running) {
        const auto machine = make_machine(small_machine(1));
        core_budget budget = one_budget(0, 10);
        budget.keep_running = keep_running;
        const auto driven = make_driver(*machine, {.budgets = {budget}, .regulator = {}, .cost = cost});
        machine->core_at({0}).start([](core &own) {
            for (;;) {
                own.instructions(1);
            }
        });
        machine->timeline().run(picoseconds{10 * ms + ms / 2});
        EXPECT_EQ(driven->cores()[0]->taken().periods, 10U);
        return std::pair(machine->core_at({0}).counts().instructions,
                         machine->core_at({0}).count_of(core_event::memory_access));
    };
    const interrupt_cost cost{
        .entry_ps = 470'000, .exit_ps = 470'000, .period_instructions = 300, .lines = 4, .data = {64 * mib}};
    const auto [free_instructions, no_accesses] = run({}, true);
    const auto [instructions, accesses] = run(cost, true);
    EXPECT_EQ(no_accesses, 0U);
    EXPECT_EQ(accesses, 40U);
    // Ten times 940 ns and the lines, less than 2 us each; the handler's instructions count as the core's.
    const std::uint64_t lost = free_instructions - instructions;
    EXPECT_GT(lost, 10U * 940 * 12 / 10);
    EXPECT_LT(lost, 10U * 1500 * 12 / 10);
}

TEST(regulation, B5_the_regulator_finds_the_budget_that_makes_the_memory_as_busy_as_wanted)
{
    for (const double threshold : {0.3, 0.6}) {
        const auto machine = make_machine(small_machine(3));
        settings wanted;
        for (const std::uint32_t i : {1U, 2U}) {
            wanted.budgets.push_back(one_budget(i, 800));
            wanted.budgets.back().regulated = true;
        }
        wanted.regulator = utilization(threshold);
        wanted.sample_ps = ms;
        const auto driven = make_driver(*machine, wanted);
        // Two cores that read one line at a time synchronize, and then the memory is never busier than by
        // one.
        machine->core_at({1}).start(walker(1, access_kind::write));
        machine->core_at({2}).start(walker(2));
        machine->timeline().run(picoseconds{120 * ms + 1'000'000});
        const auto &intervals = driven->series()->intervals();
        ASSERT_EQ(intervals.size(), 120U);
        double busy = 0;
        for (std::size_t i = 100; i < 120; ++i) {
            busy += static_cast<double>(intervals[i].busy_cycles) / static_cast<double>(intervals[i].cycles);
            // Both run with budgets of the same interval.
            EXPECT_LE(intervals[i].cores[1].limit + intervals[i].cores[2].limit,
                      driven->shared()->state().parameters.ceiling_events);
        }
        EXPECT_NEAR(busy / 20, threshold, 0.02);
        EXPECT_EQ(driven->shared()->state().statistics.samples, 120U);
        EXPECT_EQ(driven->shared()->state().statistics.missed, 0U);
        EXPECT_GE(driven->cores()[0]->taken().messages + driven->cores()[1]->taken().messages, 119U);
    }
}

TEST(regulation, a_core_whose_program_ends_is_left_out)
{
    const auto machine = make_machine(small_machine(2));
    settings wanted;
    for (const std::uint32_t i : {0U, 1U}) {
        wanted.budgets.push_back(one_budget(i, 800));
        wanted.budgets.back().regulated = true;
    }
    wanted.regulator = utilization(0.5);
    const auto driven = make_driver(*machine, wanted);
    machine->core_at({0}).start(walker(0));
    machine->core_at({1}).start([](core &own) {
        for (int i = 0; i < 6000; ++i) { // 5 ms
            own.instructions(1000);
        }
    });
    machine->timeline().run(picoseconds{50 * ms + 1});
    EXPECT_GE(driven->shared()->state().statistics.samples, 48U);
    EXPECT_GT(driven->cores()[0]->state().granted_events[0], 1600U);
}

TEST(regulation, equal_runs_have_equal_digests_whatever_the_lookahead)
{
    const auto run = [](std::uint64_t lookahead_ps) {
        auto board = interrupted_after(800'000, 3);
        board.signals.event_ps = lookahead_ps; // no core sends any, but cores do not run ahead by more
        const auto machine = make_machine(board);
        settings wanted;
        for (const std::uint32_t i : {1U, 2U}) {
            wanted.budgets.push_back(one_budget(i, 800));
            wanted.budgets.back().regulated = true;
        }
        wanted.regulator = utilization(0.5);
        wanted.cost = {.entry_ps = 470'000, .exit_ps = 470'000};
        const auto driven = make_driver(*machine, wanted);
        for (std::uint32_t i = 0; i < 3; ++i) {
            machine->core_at({i}).start(walker(i, i == 1 ? access_kind::write : access_kind::read));
        }
        machine->timeline().run(picoseconds{20 * ms});
        return machine->digest();
    };
    const std::uint64_t digest = run(200'000);
    EXPECT_EQ(digest, run(200'000));
    EXPECT_EQ(digest, run(800'000));
    EXPECT_EQ(digest, run(0));
}

TEST(regulation, impossible_settings_are_refused_with_the_reason)
{
    const auto machine = make_machine(small_machine(2));
    const auto why = [&](const settings &wanted) { return reason_of(driver::make(*machine, wanted, {})); };
    EXPECT_NE(why({.budgets = {one_budget(7, 1)}}).find("no such core"), std::string::npos);
    EXPECT_NE(why({.budgets = {one_budget(1, 1), one_budget(1, 1)}}).find("another"), std::string::npos);
    EXPECT_NE(why({.budgets = {one_budget(1, 1, 0)}}).find("period"), std::string::npos);
    core_budget regulated = one_budget(1, 100);
    regulated.regulated = true;
    EXPECT_NE(why({.budgets = {regulated}}).find("nothing can"), std::string::npos);
    settings wanted{.budgets = {one_budget(1, 100)}};
    wanted.regulator = utilization(0.5);
    EXPECT_NE(why(wanted).find("no core is regulated"), std::string::npos);
    wanted.budgets[0].regulated = true;
    wanted.regulator->floor_events = 101;
    EXPECT_NE(why(wanted).find("floor"), std::string::npos);
    wanted.regulator->floor_events = 1;
    wanted.cost.lines = 3;
    EXPECT_NE(why(wanted).find("cost.data"), std::string::npos);
    core_budget sum = one_budget(0, 10);
    sum.kind = RESERVATION_SUM;
    EXPECT_NE(why({.budgets = {sum}}).find("kind"), std::string::npos);
    sum.events.push_back(core_event::l2d_refill);
    EXPECT_NE(why({.budgets = {sum}}).find("twice"), std::string::npos);
    core_budget third = one_budget(1, 100);
    third.events = {core_event::l3d_refill}; // the machine has L1 and a shared level
    EXPECT_NE(why({.budgets = {third}}).find("no l3d_refill"), std::string::npos);
}

} // namespace bulkhead::machine::regulation::driver_test
