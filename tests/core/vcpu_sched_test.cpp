// SPDX-License-Identifier: Apache-2.0
// VCPUs that share a core (B2): each row of the table of states, which VCPU runs next, slices, and that a
// VCPU alone on a core costs nothing.
#include "sched_bench.h"
#include <algorithm>
#include <gtest/gtest.h>

namespace vcpu_sched_test {
namespace {

constexpr sched_setup HIGH{100, 1000, 0};
constexpr sched_setup LOW{100, 1000, 5};
constexpr period_grid PERIOD{.number = 0, .start_ticks = 0, .length_ticks = 1000};
constexpr period_grid LONG_PERIOD{.number = 0, .start_ticks = 0, .length_ticks = 3000};
constexpr sched_setup FREE_HIGH{RESERVATION_UNLIMITED, 0, 0};
constexpr sched_setup FREE_LOW{RESERVATION_UNLIMITED, 0, 5};

TEST(VcpuSched, B2_StartMakesItReadyAndDispatchLoadsItsBudget)
{
    sched_bench bench({HIGH}, 0);
    EXPECT_EQ(bench.vcpus[0].state, SCHED_RESET);
    EXPECT_EQ(sched_deadline(&bench.core), BUDGET_NO_DEADLINE);
    const sched_decision decision = bench.start(0, 10);
    EXPECT_EQ(decision.vcpu, &bench.vcpus[0]);
    EXPECT_TRUE(decision.switched);
    EXPECT_EQ(decision.preload[0], (uint64_t{1} << 32) - 100);
    EXPECT_EQ(bench.vcpus[0].state, SCHED_RUNNING);
    EXPECT_FALSE(sched_start(&bench.core, &bench.vcpus[0], 11)); // once
}

TEST(VcpuSched, B2_PreemptionSavesWhatIsLeft)
{
    sched_bench bench({LOW, HIGH}, 0);
    bench.start(0, 0);
    bench.use(30, 5);
    EXPECT_EQ(bench.start(1, 10).vcpu, &bench.vcpus[1]);
    EXPECT_EQ(bench.vcpus[0].state, SCHED_READY);
    EXPECT_EQ(reservation_left(&bench.vcpus[0].budget.reservation, 0), 70u);
    const sched_decision back = bench.block(20);
    EXPECT_EQ(back.vcpu, &bench.vcpus[0]);
    EXPECT_EQ(back.preload[0], (uint64_t{1} << 32) - 70);
}

TEST(VcpuSched, B2_OverflowLetsAnotherRunUntilTheRecharge)
{
    sched_bench bench({HIGH, LOW}, 0);
    bench.start(0, 0);
    bench.start(1, 0);
    bench.use(100, 300);
    EXPECT_EQ(bench.vcpus[0].state, SCHED_RECHARGE);
    EXPECT_EQ(bench.running(), 1);
    bench.wake(0, 400); // an interrupt for it does not let it run
    EXPECT_EQ(bench.vcpus[0].state, SCHED_RECHARGE);
    bench.use(100, 500);
    EXPECT_EQ(bench.running(), -1); // the core idles, and keeps its timer
    EXPECT_EQ(sched_deadline(&bench.core), 1000u);
    EXPECT_EQ(bench.timer(1000).vcpu, &bench.vcpus[0]);
    EXPECT_EQ(bench.vcpus[1].state, SCHED_READY);
}

TEST(VcpuSched, B2_ARechargeIsNotLostWhilePreemptedOrPaused)
{
    sched_bench bench({LOW, HIGH}, 0);
    bench.start(0, 0);
    bench.use(60, 5);
    bench.start(1, 10);
    bench.timer(1000);
    EXPECT_EQ(bench.vcpus[0].state, SCHED_READY);
    EXPECT_EQ(bench.used(0), 0u);
    bench.use(50, 1100);
    bench.block(1200);
    EXPECT_EQ(bench.vcpus[1].state, SCHED_PAUSED);
    bench.timer(2000);
    EXPECT_EQ(bench.vcpus[1].state, SCHED_PAUSED);
    EXPECT_EQ(bench.used(1), 0u);
    EXPECT_EQ(bench.wake(1, 2100).vcpu, &bench.vcpus[1]);
}

TEST(VcpuSched, B2_AnOverflowThatIsFoundLateCameFirst)
{
    sched_bench bench({HIGH}, 0);
    bench.start(0, 0);
    const uint64_t spent[] = {0, 0}; // the counter has just wrapped
    sched_account(&bench.core, spent, 10);
    sched_block(&bench.core, 10);
    EXPECT_EQ(bench.vcpus[0].state, SCHED_RECHARGE);
    EXPECT_EQ(bench.timer(1000).vcpu, &bench.vcpus[0]);
}

TEST(VcpuSched, B2_StopEndsItsPeriodsFromAnyState)
{
    sched_bench bench({HIGH, LOW}, 0);
    bench.start(0, 0);
    bench.start(1, 0);
    bench.use(100, 10); // 0 in RECHARGE, 1 runs
    EXPECT_EQ(bench.stop(1, 20).vcpu, nullptr);
    bench.stop(0, 30);
    EXPECT_EQ(sched_deadline(&bench.core), BUDGET_NO_DEADLINE);
    bench.timer(5000);
    EXPECT_EQ(bench.vcpus[0].state, SCHED_RESET);
    EXPECT_TRUE(bench.start(1, 5100).switched); // another life, other registers
}

TEST(VcpuSched, B2_WithoutABudgetNoInstructionRuns)
{
    sched_bench bench({{0, 1000, 0}, LOW}, 0);
    EXPECT_EQ(bench.start(0, 0).vcpu, nullptr);
    EXPECT_EQ(bench.vcpus[0].state, SCHED_RECHARGE);
    EXPECT_EQ(bench.start(1, 10).vcpu, &bench.vcpus[1]);
    EXPECT_EQ(bench.timer(1000).vcpu, &bench.vcpus[1]);
    EXPECT_EQ(bench.vcpus[0].state, SCHED_RECHARGE);
}

TEST(VcpuSched, B2_RoundRobinKnowsNoPriorities)
{
    sched_bench bench({LOW, HIGH, LOW}, 10, SCHED_ROUND_ROBIN);
    for (unsigned i = 0; i < 3; i++) {
        bench.start(i, 0);
    }
    EXPECT_EQ(bench.running(), 0); // a higher priority does not interrupt its slice
    std::vector<int> ran;
    for (uint64_t now = 10; now <= 60; now += 10) {
        bench.timer(now);
        ran.push_back(bench.running());
    }
    EXPECT_EQ(ran, (std::vector<int>{1, 2, 0, 1, 2, 0}));
    bench.use(100, 65); // its budget is spent: it is queued behind the others
    EXPECT_EQ(bench.running(), 1);
    EXPECT_EQ(sched_deadline(&bench.core), 75u);
}

TEST(VcpuSched, B2_EqualsTakeTurnsBySlices)
{
    sched_bench bench({LOW, LOW, LOW, HIGH}, 10);
    for (unsigned i = 0; i < 3; i++) {
        bench.start(i, 0);
    }
    EXPECT_EQ(sched_deadline(&bench.core), 10u);
    std::vector<int> ran;
    for (uint64_t now = 10; now <= 60; now += 10) {
        bench.timer(now);
        ran.push_back(bench.running());
    }
    EXPECT_EQ(ran, (std::vector<int>{1, 2, 0, 1, 2, 0}));
    // A VCPU that is preempted by a higher priority keeps its turn.
    bench.start(3, 65);
    EXPECT_EQ(bench.running(), 3);
    EXPECT_EQ(sched_deadline(&bench.core), 1000u); // no VCPU of equal priority waits
    bench.block(300);
    EXPECT_EQ(bench.running(), 0);
    EXPECT_EQ(sched_deadline(&bench.core), 310u);
}

TEST(VcpuSched, B2_EqualsShareACoreEvenly)
{
    sched_bench bench({{RESERVATION_UNLIMITED, 1000, 1}, {RESERVATION_UNLIMITED, 700, 1}}, 10);
    bench.start(0, 0);
    bench.start(1, 0);
    uint64_t ticks[2] = {0, 0};
    for (uint64_t now = 0; now < 100000;) {
        const uint64_t next = sched_deadline(&bench.core);
        ticks[bench.running()] += next - now;
        now = next;
        bench.timer(now);
    }
    EXPECT_NEAR(double(ticks[0]), double(ticks[1]), 20);
}

TEST(VcpuSched, B2_OneVcpuAloneHasNoSliceNoSwitchAndNoTimerButItsRecharge)
{
    sched_bench bench({HIGH}, 10);
    bench.start(0, 0);
    for (uint64_t now = 100; now < 1000; now += 100) {
        EXPECT_EQ(sched_deadline(&bench.core), 1000u);
        EXPECT_FALSE(bench.at(now, [] {}).switched);
    }
    EXPECT_FALSE(bench.timer(1000).switched);
    bench.block(1100);
    EXPECT_FALSE(bench.wake(0, 1200).switched);
    bench.use(100, 1300);
    EXPECT_FALSE(bench.timer(2000).switched);
    sched_bench unlimited({{RESERVATION_UNLIMITED, 0, 0}}, 10);
    unlimited.start(0, 0);
    EXPECT_EQ(sched_deadline(&unlimited.core), BUDGET_NO_DEADLINE);
}

TEST(VcpuSched, B2_ACoreHasRoomForSoManyVcpusAndNoMore)
{
    sched_core core;
    sched_vcpu vcpus[SCHED_MAX_VCPUS + 1]{};
    sched_init(&core, SCHED_FIXED_PRIORITY, 0);
    for (uint32_t i = 0; i < SCHED_MAX_VCPUS; i++) {
        EXPECT_TRUE(sched_add(&core, &vcpus[i]));
    }
    EXPECT_FALSE(sched_add(&core, &vcpus[SCHED_MAX_VCPUS]));
}

TEST(VcpuSched, T3_ASpinningVcpuOfHighPriorityStopsWhenItsCpuTimeIsSpent)
{
    sched_bench bench({FREE_HIGH, FREE_LOW}, 0);
    sched_reserve_cpu_time(&bench.vcpus[0], 300, PERIOD);
    bench.start(0, 0);
    bench.start(1, 0);
    EXPECT_EQ(bench.last.vcpu, &bench.vcpus[0]);
    EXPECT_EQ(sched_deadline(&bench.core), 300u);
    EXPECT_EQ(bench.timer(300).vcpu, &bench.vcpus[1]);
    EXPECT_EQ(bench.vcpus[0].state, SCHED_RECHARGE);
    EXPECT_EQ(sched_deadline(&bench.core), 1000u);
    EXPECT_EQ(bench.timer(1000).vcpu, &bench.vcpus[0]) << "with the next period";
    EXPECT_EQ(bench.vcpus[0].cpu_time.statistics.throttled_periods, 1u);
    EXPECT_EQ(bench.vcpus[0].cpu_time.statistics.period_max_events, 300u);
}

TEST(VcpuSched, T3_TimeInWhichOthersHaveTheCoreIsNotItsOwn)
{
    sched_bench bench({FREE_HIGH, FREE_LOW}, 0);
    sched_reserve_cpu_time(&bench.vcpus[1], 300, PERIOD);
    bench.start(0, 0);
    bench.start(1, 0);
    bench.block(100);
    EXPECT_EQ(bench.last.vcpu, &bench.vcpus[1]);
    bench.wake(0, 250); // 1 has run for 150
    bench.block(800);
    EXPECT_EQ(bench.last.vcpu, &bench.vcpus[1]);
    EXPECT_EQ(sched_deadline(&bench.core), 950u);
    EXPECT_EQ(bench.timer(950).vcpu, nullptr);
    EXPECT_EQ(bench.timer(1000).vcpu, &bench.vcpus[1]);
}

TEST(VcpuSched, T3_OneThatSleepsAgainAndAgainHasNoMoreThanItsCpuTime)
{
    sched_bench bench({FREE_HIGH, FREE_LOW}, 0);
    sched_reserve_cpu_time(&bench.vcpus[0], 300, PERIOD);
    bench.start(0, 0);
    bench.start(1, 0);
    uint64_t now = 0;
    uint64_t used = 0;
    while (bench.vcpus[0].state != SCHED_RECHARGE) { // 7 ticks awake, 1 asleep
        ASSERT_LT(now, 1000u);
        ASSERT_EQ(bench.last.vcpu, &bench.vcpus[0]);
        const uint64_t until = std::min(now + 7, sched_deadline(&bench.core));
        used += until - now;
        now = until;
        if (now == sched_deadline(&bench.core)) {
            bench.timer(now);
            break;
        }
        bench.block(now);
        ASSERT_EQ(bench.last.vcpu, &bench.vcpus[1]);
        bench.wake(0, ++now);
    }
    EXPECT_EQ(used, 300u);
    EXPECT_EQ(bench.last.vcpu, &bench.vcpus[1]);
    EXPECT_EQ(sched_deadline(&bench.core), 1000u) << "its next period";
}

TEST(VcpuSched, T3_BothBudgetsAreNeeded)
{
    sched_bench bench({HIGH}, 0);
    sched_reserve_cpu_time(&bench.vcpus[0], 900, LONG_PERIOD);
    bench.start(0, 0);
    bench.use(100, 50); // all of its events
    EXPECT_EQ(bench.vcpus[0].state, SCHED_RECHARGE);
    EXPECT_EQ(bench.timer(1000).vcpu, &bench.vcpus[0]);
    EXPECT_EQ(bench.timer(1850).vcpu, nullptr) << "50 and 850 ticks";
    EXPECT_EQ(bench.timer(2000).vcpu, nullptr) << "events it has again";
    EXPECT_EQ(bench.timer(3000).vcpu, &bench.vcpus[0]);
}

} // namespace
} // namespace vcpu_sched_test
