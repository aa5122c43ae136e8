// SPDX-License-Identifier: Apache-2.0
// Pools: events that idle cores give and others draw (B4), and a domain's budget that its VCPUs share (B2).
// The sum of all cores' events in a period is the invariant.
#include "fake_counters.h"
#include <barrier>
#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace reclaim_test {
namespace {

constexpr uint64_t PERIOD = 1000;
constexpr uint64_t MANY = uint64_t{1} << 40;

struct core_with_pool : fake_core {
    core_with_pool(event_pool *pool, uint64_t limit, uint64_t chunk, bool gives) : fake_core(32)
    {
        EXPECT_TRUE(reclaim_init(&share, pool, limit, chunk, gives, false));
        start(budget_of(reservation_of(limit, PERIOD), &share));
    }

    reclaim share{};
};

struct pooled_cores {
    pooled_cores(uint64_t base, std::vector<uint64_t> limits, uint64_t chunk, bool give)
    {
        event_pool_init(&pool, base, 0);
        for (const uint64_t limit : limits) {
            cores.push_back(std::make_unique<core_with_pool>(&pool, limit, chunk, give));
        }
    }

    void timers(uint64_t now)
    {
        for (auto &core : cores) {
            core->timer(now);
        }
    }

    event_pool pool{};
    std::vector<std::unique_ptr<core_with_pool>> cores;
};

TEST(EventPool, B4_HoldsWhatIsLeftOfItsPeriodAndNothingOfAnEarlierOne)
{
    event_pool pool{};
    event_pool_init(&pool, 100, 7);
    EXPECT_EQ(event_pool_draw(&pool, 7, 30), 30u);
    event_pool_give(&pool, 7, 5);
    EXPECT_EQ(event_pool_left(&pool, 7), 75u);
    EXPECT_EQ(event_pool_draw(&pool, 8, 60), 60u); // the first of a new period
    EXPECT_EQ(event_pool_draw(&pool, 7, 10), 0u);  // a core that is late gets nothing
    event_pool_give(&pool, 7, 10);
    EXPECT_EQ(event_pool_draw(&pool, 8, 60), 40u);
    event_pool_set_base(&pool, 10);
    EXPECT_EQ(event_pool_left(&pool, 8), 0u);
    EXPECT_EQ(event_pool_draw(&pool, 20, 60), 10u);
}

TEST(EventPool, B4_NumbersMayWrapAndEventsSaturate)
{
    event_pool pool{};
    event_pool_init(&pool, 3, 0xFFFFFF);
    EXPECT_EQ(event_pool_draw(&pool, 0x1000000, 2), 2u);
    EXPECT_EQ(event_pool_draw(&pool, 0xFFFFFF, 2), 0u);
    event_pool_give(&pool, 0x1000000, UINT64_MAX);
    EXPECT_EQ(event_pool_left(&pool, 0x1000000), EVENT_POOL_MAX_EVENTS);
    EXPECT_EQ(event_pool_left(&pool, 0x1000001), 3u);
}

TEST(EventPool, B4_ThreadsNeverDrawMoreThanThereIs)
{
    constexpr uint64_t PERIODS = 2000;
    event_pool pool{};
    event_pool_init(&pool, 1000, 0);
    std::vector<std::vector<uint64_t>> drawn(3, std::vector<uint64_t>(PERIODS));
    std::vector<std::thread> threads;
    for (auto &mine : drawn) {
        threads.emplace_back([&pool, &mine] {
            for (uint64_t number = 0; number < PERIODS; number++) {
                while (const uint64_t events = event_pool_draw(&pool, number, 7)) {
                    mine[number] += events;
                }
            }
        });
    }
    for (auto &thread : threads) {
        thread.join();
    }
    for (uint64_t number = 0; number < PERIODS; number++) {
        // A thread that came late to a period found nothing, since the thread that began the period used all
        // of it.
        ASSERT_EQ(drawn[0][number] + drawn[1][number] + drawn[2][number], 1000u) << number;
    }
}

TEST(Reclaim, B4_ABusyCoreGetsWhatAnIdleOneWillNotNeed)
{
    pooled_cores system(0, {1000, 1000}, 50, true);
    uint64_t busy = 0;
    for (uint64_t number = 1; number <= 40; number++) {
        busy = system.cores[0]->use(MANY, number * PERIOD - 1);
        EXPECT_EQ(system.cores[1]->use(100, number * PERIOD - 1), 100u);
        EXPECT_LE(busy + 100, 2000u);
        system.timers(number * PERIOD);
    }
    EXPECT_GT(busy, 1850u); // the prediction has decreased to what the idle core uses
    EXPECT_EQ(system.cores[1]->share.violations, 0u);
}

TEST(Reclaim, B4_WhoGaveTooMuchGetsItBackOrTheViolationIsCounted)
{
    pooled_cores system(0, {1000, 1000}, 50, true);
    for (uint64_t number = 1; number <= 40; number++) {
        system.cores[1]->use(100, number * PERIOD - 1);
        system.timers(number * PERIOD);
    }
    const uint64_t given = system.cores[1]->share.given_events;
    ASSERT_GT(given, 800u);
    // The other core has left the events in the pool: all of them come back.
    EXPECT_GE(system.cores[1]->use(1000, 40 * PERIOD), 1000u);
    EXPECT_EQ(system.cores[1]->share.violations, 0u);
    system.timers(41 * PERIOD);
    // The other core has used them up.
    const uint64_t first = system.cores[0]->use(MANY, 41 * PERIOD);
    const uint64_t second = system.cores[1]->use(MANY, 41 * PERIOD);
    EXPECT_LT(second, 1000u);
    EXPECT_EQ(first + second, 2000u);
    EXPECT_EQ(system.cores[1]->share.violations, 1u);
    EXPECT_EQ(system.cores[1]->share.shortfall_events, 1000 - second);
    EXPECT_EQ(system.cores[0]->share.violations, 0u);
    // This is decided for the whole period, whatever comes into the pool, and counted once.
    event_pool_give(&system.pool, 41, 100);
    core_with_pool &throttled = *system.cores[1];
    EXPECT_FALSE(budget_overflow(&throttled.budget, 41 * PERIOD + 5, throttled.counters.stop()).runs);
    EXPECT_EQ(system.cores[1]->share.violations, 1u);
    EXPECT_EQ(event_pool_left(&system.pool, 41), 100u);
}

TEST(Reclaim, B4_AStopAndAStartWithinAPeriodGiveNothingASecondTime)
{
    pooled_cores system(0, {1000, 1000}, 50, true);
    for (uint64_t number = 1; number <= 20; number++) {
        system.timers(number * PERIOD);
    }
    const uint64_t left = event_pool_left(&system.pool, 20);
    ASSERT_GT(left, 1900u);
    budget &idle = system.cores[1]->budget;
    budget_save(&idle, system.cores[1]->counters.stop());
    budget_stop(&idle, 20 * PERIOD + 10);
    budget_start(&idle, 20 * PERIOD + 20);
    EXPECT_EQ(event_pool_left(&system.pool, 20), left);
}

TEST(Reclaim, B4_APredictionIsNeverBelowASteadyUse)
{
    for (uint64_t use = 0; use <= 120; use++) {
        event_pool pool{};
        reclaim share{};
        event_pool_init(&pool, 0, 0);
        ASSERT_TRUE(reclaim_init(&share, &pool, 100, 1, true, false));
        for (uint64_t number = 0; number < 100; number++) {
            ASSERT_LE(reclaim_begin(&share, number), use < 100 ? 100 - use : 0) << use;
            reclaim_learn(&share, use);
        }
        EXPECT_GE(share.given_events + 1, use < 100 ? 100 - use : 0) << "it learns " << use;
    }
}

TEST(Reclaim, B4_NeverOfARealTimeBudgetNorOfOneWithoutALimit)
{
    event_pool pool{};
    reclaim share{};
    EXPECT_FALSE(reclaim_init(&share, &pool, 100, 10, true, true));
    EXPECT_FALSE(reclaim_init(&share, &pool, RESERVATION_UNLIMITED, 10, true, false));
    EXPECT_FALSE(reclaim_init(&share, &pool, 100, 0, true, false));
    ASSERT_TRUE(reclaim_init(&share, &pool, 100, 10, true, false));
    budget budget{};
    reservation_parameters other = reservation_of(99, PERIOD);
    EXPECT_FALSE(budget_init(&budget, &other, &share)); // its guarantee differs
}

TEST(Reclaim, B2_ADomainsBudgetIsThatOfAllItsVcpusTogether)
{
    std::mt19937 random(7);
    for (int run = 0; run < 20; run++) {
        const uint64_t chunk = 1 + random() % 100;
        pooled_cores system(1000, {0, 0, 0}, chunk, false);
        for (uint64_t number = 1; number <= 20; number++) {
            uint64_t used = 0;
            for (int turn = 0; turn < 60; turn++) {
                used += system.cores[random() % 3]->use(random() % 60, number * PERIOD - 1);
            }
            ASSERT_LE(used, 1000u);
            if (number % 2 == 0) { // one core alone may use all but what the others have drawn and not used
                used += system.cores[0]->use(MANY, number * PERIOD - 1);
                ASSERT_LE(used, 1000u);
                ASSERT_GE(used + 2 * chunk, 1000u);
            }
            system.timers(number * PERIOD);
        }
    }
}

TEST(Reclaim, B2_ADomainsBudgetPaysForOvershoot)
{
    pooled_cores system(1000, {0, 0}, 100, false);
    core_with_pool &core = *system.cores[0];
    core.counters.count(0, 250); // a chunk, and more than another one until the overflow is read
    EXPECT_TRUE(core.counters.obey(budget_overflow(&core.budget, 5, core.counters.stop())));
    EXPECT_EQ(250 + core.use(MANY, 5) + system.cores[1]->use(MANY, 5), 1000u);
}

constexpr uint64_t HALF_OF_ALL = uint64_t{1} << 23; // of the numbers that the pool's word can hold
constexpr uint64_t LATER = 0x10000;                 // periods, as core/event_pool.c has it
constexpr uint64_t BREAKS[] = {1,
                               HALF_OF_ALL - 1,
                               HALF_OF_ALL,
                               HALF_OF_ALL + 1000000,
                               2 * HALF_OF_ALL - LATER - 1,
                               3 * HALF_OF_ALL,
                               (uint64_t{1} << 40) + 5};

TEST(EventPool, B2_ABreakOfAnyLengthEndsWithAFullPool)
{
    for (const uint64_t pause : BREAKS) {
        event_pool pool{};
        event_pool_init(&pool, 100, 5);
        uint64_t number = 5;
        for (int turn = 0; turn < 5; turn++, number += pause) { // also when it has slept before
            EXPECT_EQ(event_pool_left(&pool, number), 100u) << pause;
            EXPECT_EQ(event_pool_draw(&pool, number, 60), 60u) << pause;
            EXPECT_EQ(event_pool_draw(&pool, number, 60), 40u) << pause;
            EXPECT_EQ(event_pool_draw(&pool, number, 60), 0u) << pause;
            EXPECT_EQ(event_pool_draw(&pool, number - 1, 60), 0u) << "a core that is late, " << pause;
            EXPECT_EQ(event_pool_left(&pool, number - 1), 0u) << pause;
        }
    }
}

TEST(EventPool, B2_AfterTheWorstBreakThePoolIsEmptyForAFewPeriods)
{
    for (uint64_t early = 1; early <= LATER; early++) {
        event_pool pool{};
        event_pool_init(&pool, 100, 5);
        EXPECT_EQ(event_pool_draw(&pool, 5, 60), 60u);
        const uint64_t number = 5 + 2 * HALF_OF_ALL - early;
        EXPECT_EQ(event_pool_draw(&pool, number, 60), 0u);
        EXPECT_EQ(event_pool_draw(&pool, number + early + 1, 60), 60u) << early;
    }
}

TEST(EventPool, B4_GiftsAfterABreakOfAnyLengthArrive)
{
    for (const uint64_t pause : BREAKS) {
        event_pool pool{}; // as the spare events: nothing at the beginning of a period
        uint64_t number = 0;
        for (int turn = 0; turn < 5; turn++, number += pause) {
            EXPECT_EQ(event_pool_draw(&pool, number, 10), 0u) << pause;
            event_pool_give(&pool, number, 30);
            event_pool_give(&pool, number, 5);
            EXPECT_EQ(event_pool_left(&pool, number), 35u) << pause;
            EXPECT_EQ(event_pool_draw(&pool, number, 40), 35u) << pause;
            event_pool_give(&pool, number, 7); // left, and not given to the next period
        }
        // A break in which only draws of 0 were made, lap after lap.
        for (int turn = 0; turn < 5; turn++, number += HALF_OF_ALL) {
            EXPECT_EQ(event_pool_draw(&pool, number + 2, 10), 0u) << pause;
        }
    }
}

TEST(EventPool, B2_AnActivePoolGoesThroughAllNumbersOfItsWordAndOn)
{
    event_pool pool{};
    event_pool_init(&pool, 3, 0);
    for (uint64_t number = 0; number < 5 * HALF_OF_ALL; number += 1023) {
        ASSERT_EQ(event_pool_draw(&pool, number, 2), 2u) << number;
        ASSERT_EQ(event_pool_draw(&pool, number, 2), 1u) << number;
        ASSERT_EQ(event_pool_draw(&pool, number, 2), 0u) << number;
    }
}

// All threads return from the same break at once, and some of them one period later.
TEST(EventPool, B2_ThreadsThatReturnFromABreakShareOnePool)
{
    constexpr uint64_t BREAK_COUNT = 2000;
    for (const uint64_t pause : {HALF_OF_ALL, HALF_OF_ALL + 1000000, 2 * HALF_OF_ALL - 2 * LATER}) {
        event_pool pool{};
        event_pool_init(&pool, 1000, 0);
        std::vector<std::vector<uint64_t>> drawn(3, std::vector<uint64_t>(2 * BREAK_COUNT));
        std::vector<std::thread> threads;
        std::barrier begin(3);
        for (auto &mine : drawn) {
            threads.emplace_back([&] {
                for (uint64_t turn = 0; turn < 2 * BREAK_COUNT; turn++) {
                    if (turn % 2 == 0) {
                        begin.arrive_and_wait();
                    }
                    const uint64_t number = turn / 2 * pause + turn % 2;
                    while (const uint64_t events = event_pool_draw(&pool, number, 7)) {
                        mine[turn] += events;
                    }
                }
            });
        }
        for (auto &thread : threads) {
            thread.join();
        }
        for (uint64_t turn = 0; turn < 2 * BREAK_COUNT; turn++) {
            ASSERT_EQ(drawn[0][turn] + drawn[1][turn] + drawn[2][turn], 1000u) << pause << ", " << turn;
        }
    }
}

} // namespace
} // namespace reclaim_test
