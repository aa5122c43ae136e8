// SPDX-License-Identifier: Apache-2.0
// Cores, budgets, exchange and regulator together (B5, B8): timers that come late in any order, budgets that
// arrive by an interrupt, cores that leave and return, an interval that changes during the run.
#include "core/regulated_core.h"
#include "fake_counters.h"
#include "regulator_setup.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <set>

namespace regulated_core_test {
namespace {

constexpr uint64_t INTERVAL = 1000;
constexpr uint64_t LATE_TICKS = 50; // of a timer, at most
constexpr double CAPACITY = 10000;  // events of an interval that make the memory busy all the time

// A regulated core, its guest and its driver.
struct member {
    member(unsigned which, const regulator_parameters &parameters, regulator_exchange &exchange)
        : budget(budget_of(reservation_of(parameters.budget_events[which], parameters.interval_ticks))),
          counters(32), index(which)
    {
        EXPECT_TRUE(regulated_init(&regulated, &budget, &exchange, which));
        budget_start(&budget, 0);
        runs = counters.obey(budget_load(&budget, 0));
    }

    // Causes events until it is throttled.
    void use_all(uint64_t now)
    {
        while (runs) {
            counters.count(0, counters.until_overflow(0));
            runs = counters.obey(budget_overflow(&budget, now, counters.stop()));
        }
    }

    // The interrupt of a publisher.
    void receive(uint64_t now)
    {
        budget_save(&budget, counters.stop());
        runs = counters.obey(regulated_load(&regulated, now));
    }

    uint64_t number() const { return budget.reservation.period.number; }
    uint64_t limit() const { return budget.reservation.granted_events[0]; }

    ::budget budget;
    fake_counters counters;
    regulated_core regulated{};
    unsigned index;
    bool runs;
};

// Cores 1 to q, all with unlimited demand, a memory that is busy in proportion to their events, and their
// driver.
class regulated_system {
public:
    // `counted`: members that are not regulated; their budget stays that of the parameters.
    regulated_system(const regulator_parameters &parameters, unsigned seed, uint32_t counted = 0)
        : random_(seed)
    {
        regulator_init(&regulator, &parameters);
        regulator_exchange_init(&exchange, parameters.regulated | counted, 0);
        for (unsigned i = 1; i < REGULATOR_MAX_CORES; i++) {
            if (((parameters.regulated | counted) >> i & 1) != 0) {
                cores.push_back(std::make_unique<member>(i, parameters, exchange));
            }
        }
    }

    // All timers of the interval that ends first, late and in any order; then the interrupts of the
    // publisher, of which no other core learns anything.
    void interval()
    {
        std::vector<std::pair<uint64_t, member *>> timers;
        for (auto &core : cores) {
            core->use_all(now);
            timers.emplace_back(budget_deadline(&core->budget) + random_() % LATE_TICKS, core.get());
        }
        std::sort(timers.begin(), timers.end());
        uint64_t used = 0;
        for (auto &core : cores) {
            used += core->budget.reservation.used_events[0];
        }
        for (const auto &[when, core] : timers) {
            now = std::max(now, when);
            timer(*core, double(used) / CAPACITY);
        }
        for (auto &core : cores) {
            if ((told >> core->index & 1) == 0) {
                continue;
            }
            interrupts[core->index]++;
            core->receive(now);
        }
    }

    void timer(member &core, double u)
    {
        regulator_sample sample{};
        if (regulated_timer(&core.regulated, now, core.counters.stop(), &sample)) {
            sample.has_utilization = true;
            sample.utilization = uint32_t(std::min(1.0, u) * UTILIZATION_ONE);
            told = regulated_step(&core.regulated, &regulator, &sample) & ~(1U << core.index);
        }
        core.runs = core.counters.obey(regulated_load(&core.regulated, now));
    }

    ::regulator regulator{};
    regulator_exchange exchange{};
    std::vector<std::unique_ptr<member>> cores;
    uint64_t now = 0;
    uint32_t told = 0;                          // cores that the publisher interrupts
    uint64_t interrupts[REGULATOR_MAX_CORES]{}; // of publishers, that a core took

private:
    std::mt19937 random_;
};

void expect_budgets_of_one_interval(const regulated_system &system)
{
    uint64_t sum = 0;
    for (const auto &core : system.cores) {
        ASSERT_EQ(core->number(), system.regulator.number + 1);
        ASSERT_EQ(core->limit(), system.regulator.budgets[core->index]);
        sum += core->limit();
    }
    ASSERT_LE(sum, system.regulator.global >> REGULATOR_FRACTION_BITS);
}

TEST(RegulatedCores, B5_AllRunWithTheBudgetsOfTheSameInterval)
{
    for (unsigned seed = 1; seed <= 20; seed++) {
        regulated_system system(dynamic_parameters(4, 100), seed);
        for (int i = 0; i < 200; i++) {
            system.interval();
            expect_budgets_of_one_interval(system);
            if (HasFatalFailure()) {
                FAIL() << "seed " << seed << ", interval " << i;
            }
        }
        EXPECT_EQ(system.exchange.given_up, 0u);
        EXPECT_EQ(system.regulator.statistics.samples, 200u);
        // The memory is as busy as it may be.
        EXPECT_NEAR(double(sum_of_regulated(system.regulator)), 8000, 50);
    }
}

TEST(RegulatedCores, B8_AnotherIntervalBeginsForAllWithTheSameNumber)
{
    for (const uint64_t length : {INTERVAL / 2, INTERVAL * 3}) {
        regulated_system system(dynamic_parameters(4, 100), 3);
        regulator_parameters parameters = *regulator_latest(&system.regulator);
        parameters.interval_ticks = length;
        for (int i = 0; i < 20; i++) {
            if (i == 10) {
                ASSERT_EQ(regulator_change(&system.regulator, &parameters), REGULATOR_ERROR_NONE);
            }
            system.interval();
            expect_budgets_of_one_interval(system);
            std::set<uint64_t> deadlines;
            for (const auto &core : system.cores) {
                deadlines.insert(budget_deadline(&core->budget));
            }
            ASSERT_EQ(deadlines.size(), 1u);
            // The step at the end of interval 10 applies the change; interval 11 still has the old length.
            ASSERT_EQ(*deadlines.begin(),
                      i <= 10 ? uint64_t(i + 2) * INTERVAL : 12 * INTERVAL + uint64_t(i - 10) * length);
        }
        EXPECT_EQ(system.exchange.given_up, 0u);
    }
}

TEST(RegulatedCores, B11_ACoreWhoseBudgetStaysIsNotInterruptedAndSeesAnotherIntervalAsTheOthersDo)
{
    for (const uint64_t length : {INTERVAL / 2, INTERVAL * 3}) {
        constexpr unsigned COUNTED = 5;
        regulator_parameters parameters = dynamic_parameters(3, 100);
        parameters.budget_events[COUNTED] = 2000;
        regulated_system system(parameters, 9, 1U << COUNTED);
        parameters.interval_ticks = length;
        for (int i = 0; i < 20; i++) {
            if (i == 10) {
                ASSERT_EQ(regulator_change(&system.regulator, &parameters), REGULATOR_ERROR_NONE);
            }
            system.interval();
            for (const auto &core : system.cores) {
                ASSERT_EQ(core->number(), uint64_t(i + 1)) << core->index;
                ASSERT_EQ(core->limit(), system.regulator.budgets[core->index]);
                ASSERT_EQ(budget_deadline(&core->budget),
                          i <= 10 ? uint64_t(i + 2) * INTERVAL : 12 * INTERVAL + uint64_t(i - 10) * length);
            }
        }
        EXPECT_LE(system.interrupts[COUNTED], 1u); // the first message is new to all
        EXPECT_GE(system.interrupts[1] + system.interrupts[2] + system.interrupts[3], 40u);
        EXPECT_EQ(system.exchange.given_up, 0u);
    }
}

TEST(RegulatedCores, B11_NobodyIsInterruptedWhileBudgetsStay)
{
    regulator_parameters parameters = dynamic_parameters(4, 100);
    parameters.ceiling_events = 400; // G can neither grow nor, at this load, shrink
    regulated_system system(parameters, 10);
    for (int i = 0; i < 20; i++) {
        system.interval();
        expect_budgets_of_one_interval(system);
    }
    for (const uint64_t taken : system.interrupts) {
        EXPECT_LE(taken, 1u);
    }
}

TEST(RegulatedCores, B5_ABudgetWhoseInterruptCameTooLateIsTakenAtTheNextTimer)
{
    regulated_system system(dynamic_parameters(2, 100), 11);
    member &core = *system.cores[0];
    regulator_sample sample{};
    regulator_message message{};
    message.number = 1;
    message.grid = {2, 2 * INTERVAL, INTERVAL};
    message.budgets[1] = 777;
    EXPECT_FALSE(regulated_timer(&core.regulated, INTERVAL, core.counters.stop(), &sample));
    core.runs = core.counters.obey(regulated_load(&core.regulated, INTERVAL));
    EXPECT_NE(regulator_exchange_publish(&system.exchange, &message) & 2u, 0u);
    // Interval 1 has passed when the interrupt is taken. No message repeats a budget that stays.
    core.receive(2 * INTERVAL);
    EXPECT_EQ(core.limit(), 100u);
    EXPECT_FALSE(regulated_timer(&core.regulated, 2 * INTERVAL, core.counters.stop(), &sample));
    core.runs = core.counters.obey(regulated_load(&core.regulated, 2 * INTERVAL));
    EXPECT_EQ(core.number(), 2u);
    EXPECT_EQ(core.limit(), 777u);
}

TEST(RegulatedCores, B8_ACoreThatMissesTheChangeOfTheIntervalFallsInAgain)
{
    for (const uint64_t length : {INTERVAL / 2, INTERVAL * 3}) {
        regulated_system system(dynamic_parameters(3, 100), 4);
        regulator_parameters parameters = *regulator_latest(&system.regulator);
        parameters.interval_ticks = length;
        system.interval();
        ASSERT_EQ(regulator_change(&system.regulator, &parameters), REGULATOR_ERROR_NONE);
        system.interval();
        // As if core 3 had not seen the message: its grid is the old one.
        system.cores[2]->regulated.seen = 0;
        period &strayed = system.cores[2]->budget.reservation.period;
        strayed.grid.length_ticks = INTERVAL;
        strayed.number = 20;
        strayed.end_ticks += 700;
        const uint64_t until = system.now + 10 * std::max(length, INTERVAL);
        while (system.now < until) { // each timer when it is due
            auto &next = *std::min_element(system.cores.begin(), system.cores.end(), [](auto &a, auto &b) {
                return budget_deadline(&a->budget) < budget_deadline(&b->budget);
            });
            system.now = budget_deadline(&next->budget);
            system.timer(*next, 0.5);
        }
        for (const auto &core : system.cores) {
            EXPECT_EQ(core->budget.reservation.period.grid.length_ticks, length);
            EXPECT_EQ((budget_deadline(&core->budget) - 3 * INTERVAL) % length, 0u);
        }
    }
}

TEST(RegulatedCores, B5_WhoLeavesIsNotMissed)
{
    regulated_system system(dynamic_parameters(3, 100), 5);
    system.interval();
    uint64_t number = 0;
    EXPECT_FALSE(regulator_exchange_leave(&system.exchange, 3, &number));
    auto away = std::move(system.cores.back());
    system.cores.pop_back();
    for (int i = 0; i < 10; i++) {
        system.interval();
        expect_budgets_of_one_interval(system);
    }
    EXPECT_EQ(system.regulator.budgets[3], 10u); // the floor
    budget_stop(&away->budget, system.now);
    budget_start(&away->budget, system.now);
    regulated_join(&away->regulated);
    away->runs = away->counters.obey(regulated_load(&away->regulated, system.now));
    system.cores.push_back(std::move(away));
    for (int i = 0; i < 10; i++) {
        system.interval();
    }
    expect_budgets_of_one_interval(system);
    EXPECT_GT(system.regulator.budgets[3], system.regulator.budgets[1] / 3) << "not for ever at the floor";
    EXPECT_EQ(system.exchange.given_up, 0u);
}

// With intervals of an earlier length, its interval would have a number far ahead of the others', whose posts
// would be late for as long.
TEST(RegulatedCores, B8_WhoReturnsWhileAMessageIsWrittenWaitsForTheGrid)
{
    regulated_system system(dynamic_parameters(3, 100), 5);
    regulator_parameters parameters = *regulator_latest(&system.regulator);
    parameters.interval_ticks = 100 * INTERVAL;
    system.interval();
    uint64_t number = 0;
    EXPECT_FALSE(regulator_exchange_leave(&system.exchange, 3, &number));
    auto away = std::move(system.cores.back());
    system.cores.pop_back();
    ASSERT_EQ(regulator_change(&system.regulator, &parameters), REGULATOR_ERROR_NONE);
    for (int i = 0; i < 10; i++) {
        system.interval();
    }
    budget_stop(&away->budget, system.now);
    budget_start(&away->budget, system.now);
    regulated_join(&away->regulated);
    system.exchange.sequence++; // the message is being written
    system.timer(*away, 0);
    system.now = budget_deadline(&away->budget); // its next timer, by its own grid
    system.timer(*away, 0);
    EXPECT_TRUE(away->regulated.joins);
    const auto posts = system.exchange.posts;
    const uint64_t before[] = {posts[0][3], posts[1][3]};
    regulator_sample sample{};
    EXPECT_FALSE(regulated_leave(&away->regulated, system.now, &sample));
    EXPECT_EQ(posts[0][3], before[0]) << "its numbers are not those of the others";
    EXPECT_EQ(posts[1][3], before[1]);
    regulated_join(&away->regulated);
    system.exchange.sequence--;
    system.now = budget_deadline(&away->budget);
    system.timer(*away, 0);
    EXPECT_FALSE(away->regulated.joins);
    system.cores.push_back(std::move(away));
    const uint64_t samples = system.regulator.statistics.samples;
    for (int i = 0; i < 10; i++) {
        system.interval();
    }
    expect_budgets_of_one_interval(system);
    EXPECT_EQ(system.regulator.statistics.samples, samples + 10);
    EXPECT_EQ(system.exchange.given_up, 0u);
}

// The core is off while its interval ends: by that it hides nothing of what it used.
TEST(RegulatedCores, B11_WhoLeavesBeforeTheEndOfAnIntervalAndReturnsAfterItIsCounted)
{
    regulated_system system(dynamic_parameters(2, 100), 12);
    member &stays = *system.cores[0];
    member &leaves = *system.cores[1];
    regulator_sample sample{};
    for (uint64_t number = 0; number < 10; number++) {
        const uint64_t end = (number + 1) * INTERVAL;
        const uint64_t limit = leaves.limit();
        const auto used = static_cast<uint32_t>(number % 2 == 0 ? limit : 3);
        for (int life = 0; life < 2; life++) { // it leaves and returns twice in the interval
            leaves.counters.count(0, life == 0 ? 2 : used - 2);
            budget_save(&leaves.budget, leaves.counters.stop());
            EXPECT_FALSE(regulated_leave(&leaves.regulated, end - 5, &sample));
            budget_stop(&leaves.budget, end - 5);
            if (life == 0) {
                budget_start(&leaves.budget, end - 4);
                regulated_join(&leaves.regulated);
                leaves.runs = leaves.counters.obey(regulated_load(&leaves.regulated, end - 4));
            }
        }
        ASSERT_TRUE(regulated_timer(&stays.regulated, end, stays.counters.stop(), &sample));
        EXPECT_EQ(sample.number, number);
        EXPECT_EQ(sample.accesses[2], used) << number;
        EXPECT_EQ(sample.throttled, used == limit ? 4u : 0u) << number;
        sample.has_utilization = true;
        regulated_step(&stays.regulated, &system.regulator, &sample);
        stays.runs = stays.counters.obey(regulated_load(&stays.regulated, end));
        budget_start(&leaves.budget, end + 5);
        regulated_join(&leaves.regulated);
        leaves.runs = leaves.counters.obey(regulated_load(&leaves.regulated, end + 5));
    }
}

TEST(RegulatedCores, B5_WhoWasThrottledIsKnownAlsoIfItWasReleasedOrNotYetStopped)
{
    regulated_system system(dynamic_parameters(2, 100), 6);
    member &released = *system.cores[0];
    member &not_stopped = *system.cores[1];
    const uint64_t more[] = {500, 0};
    regulator_sample sample{};
    released.use_all(10);
    EXPECT_TRUE(reservation_set_limits_now(&released.budget.reservation, more, 20));
    EXPECT_TRUE(released.counters.obey(budget_load(&released.budget, 20)));
    not_stopped.counters.count(0, 100); // the timer comes before the overflow's interrupt
    EXPECT_FALSE(regulated_timer(&released.regulated, INTERVAL, released.counters.stop(), &sample));
    EXPECT_TRUE(regulated_timer(&not_stopped.regulated, INTERVAL, not_stopped.counters.stop(), &sample));
    EXPECT_EQ(sample.throttled, 6u);
    EXPECT_EQ(sample.accesses[1], 100u);
    EXPECT_EQ(sample.accesses[2], 100u);
}

TEST(RegulatedCores, B5_BudgetsOfALaterIntervalAreNotTaken)
{
    regulated_system system(dynamic_parameters(2, 100), 7);
    member &core = *system.cores[0];
    regulator_message message{};
    message.grid = {1, INTERVAL, INTERVAL};
    message.budgets[1] = 777;
    for (const uint64_t number : {1u, 2u, 0u}) {
        message.number = number;
        regulator_exchange_publish(&system.exchange, &message);
        core.receive(10);
        EXPECT_EQ(core.limit(), number == 0 ? 777u : 100u); // it is in interval 0
    }
}

// A publisher that stands still in the middle (a fault, a debugger) holds up nobody.
TEST(RegulatedCores, B5_ACoreDoesNotWaitForAMessageThatIsNeverCompleted)
{
    regulated_system system(dynamic_parameters(2, 100), 9);
    member &core = *system.cores[0];
    regulator_message message{};
    message.grid = {1, INTERVAL, INTERVAL};
    message.budgets[1] = 777;
    regulator_exchange_publish(&system.exchange, &message);
    system.exchange.sequence |= 1;
    core.receive(10);
    EXPECT_EQ(core.limit(), 100u);

    system.exchange.sequence++; // the publisher goes on
    core.receive(20);
    EXPECT_EQ(core.limit(), 777u);
}

TEST(RegulatedCores, B5_AnInterruptOfThePublisherDoesNotTakeARechargeAway)
{
    regulated_system system(dynamic_parameters(2, 100), 8);
    member &core = *system.cores[0];
    regulator_message message{};
    message.number = 0;
    message.grid = {1, INTERVAL, 5 * INTERVAL};
    message.budgets[1] = 777;
    core.use_all(10);
    regulator_exchange_publish(&system.exchange, &message);
    // The message comes when the deadline has passed, and the timer is about to fire.
    core.runs = core.counters.obey(regulated_load(&core.regulated, INTERVAL + 5));
    EXPECT_FALSE(core.runs);
    EXPECT_EQ(budget_deadline(&core.budget), INTERVAL);
    system.now = INTERVAL + 6;
    system.timer(core, 0.5);
    EXPECT_TRUE(core.runs);
    EXPECT_EQ(core.budget.reservation.statistics.periods, 1u);
}

TEST(RegulatedCores, B5_WhatCannotBeRegulatedIsRefused)
{
    regulator_exchange exchange{};
    regulated_core core{};
    budget unlimited = budget_of(reservation_of(RESERVATION_UNLIMITED, 0));
    EXPECT_FALSE(regulated_init(&core, &unlimited, &exchange, 1)); // has no periods
    reservation_parameters each = reservation_of(10, INTERVAL);
    each.kind = RESERVATION_EACH;
    budget both = budget_of(each);
    EXPECT_FALSE(regulated_init(&core, &both, &exchange, 1));
    budget good = budget_of(reservation_of(10, INTERVAL));
    EXPECT_FALSE(regulated_init(&core, &good, &exchange, REGULATOR_MAX_CORES));
    EXPECT_TRUE(regulated_init(&core, &good, &exchange, 1));
}

} // namespace
} // namespace regulated_core_test
