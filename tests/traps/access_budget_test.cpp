// SPDX-License-Identifier: Apache-2.0
// A budget of accesses beside one of refills (T5): EL2's second counter counts the platform's event, the
// budget that is spent first stops the VCPU until the next period, and a VCPU without such a budget is not
// stopped by one.
#include "hosted_machine.h"
#include <gtest/gtest.h>

extern "C" {
#include "time/bandwidth_update.h"
}

namespace access_budget_test {
namespace {

using namespace bulkhead_test;

constexpr uint32_t control_core = 0;
constexpr uint32_t hypervisor_timer = 26;
constexpr uint32_t refills = 0x17;
constexpr uint32_t write_backs = 0x18;
constexpr uint32_t accesses = 0x19;
constexpr uint32_t refill_budget = 1000;
constexpr uint32_t access_budget = 300;
constexpr uint32_t first_counter = 4; // of six, for refills; the next one for the second event
constexpr uint64_t period_ticks = 62500;

void give(manifest_domain &domain, uint32_t counts)
{
    domain.flags |= BH_DOMAIN_FLAG_BUDGET;
    domain.budget_events = refill_budget;
    domain.budget_period_ns = 1000000;
    domain.budget_counts = counts;
    domain.budget_second_events = counts == BH_BUDGET_COUNTS_ACCESSES ? access_budget : 0;
}

void give_accesses(SampleManifest &m)
{
    m.header.platform.traffic_event = refills;
    m.header.platform.writeback_event = write_backs;
    m.header.platform.access_event = accesses;
    give(m.domains[0], BH_BUDGET_COUNTS_ACCESSES);
}

class AccessBudget : public testing::Test {
protected:
    AccessBudget() { machine.on_core(control_core); }

    static const status_budget &status() { return cpu_at(control_core)->status->budget; }
    static bool throttled() { return cpu_at(control_core)->hold == CPU_HOLD_THROTTLED; }

    void cause(uint32_t event, uint32_t count)
    {
        fake_pmu_cause(event, FAKE_EL1, count);
        if (fake_gic_has_interrupt()) {
            machine.interrupt();
        }
    }

    // Period `number` begins.
    void begin_period(uint64_t number)
    {
        fake_clock_set(number * period_ticks);
        fake_gic_raise(hypervisor_timer);
        if (throttled()) {
            machine.take_while_idle();
        } else {
            machine.interrupt();
        }
    }

    HostedMachine machine{give_accesses};
};

TEST_F(AccessBudget, T5_HasACounterOfItsOwn)
{
    EXPECT_EQ(fake_pmu_type(first_counter) & 0xFFFF, refills);
    EXPECT_EQ(fake_pmu_type(first_counter + 1) & 0xFFFF, accesses);
    EXPECT_EQ(sysreg_read(PMINTENSET_EL1), 3u << first_counter) << "and both interrupt";
}

TEST_F(AccessBudget, T5_AccessesThatAreNoRefillsAreStopped)
{
    cause(accesses, access_budget - 1);
    EXPECT_FALSE(throttled());
    cause(accesses, 1);
    EXPECT_TRUE(throttled()) << "although no line was refilled";
}

TEST_F(AccessBudget, T5_RefillsAreStoppedAsBefore)
{
    cause(refills, refill_budget - 1);
    EXPECT_FALSE(throttled());
    cause(refills, 1);
    EXPECT_TRUE(throttled());
}

TEST_F(AccessBudget, T5_WriteBacksAreOfNeither)
{
    cause(write_backs, 10 * refill_budget);
    EXPECT_FALSE(throttled());
}

TEST_F(AccessBudget, T5_TheNextPeriodHasBothAgainAndBothAreReported)
{
    cause(refills, 5);
    cause(accesses, access_budget + 7);
    ASSERT_TRUE(throttled());
    begin_period(1);
    EXPECT_FALSE(throttled());
    EXPECT_EQ(status().throttled_periods, 1u);
    EXPECT_EQ(status().period_max_events, 5u);
    EXPECT_EQ(status().second_events, access_budget + 7u);
    EXPECT_EQ(status().second_max_events, access_budget + 7u);
    EXPECT_EQ(status().overshoot_max_events, 7u);
    EXPECT_EQ(status().events, access_budget + 12u);
    machine.on_core(control_core);
    cause(accesses, access_budget - 1);
    EXPECT_FALSE(throttled());
    cause(accesses, 1);
    EXPECT_TRUE(throttled());
}

TEST_F(AccessBudget, T5_IsNoManagersToChange)
{
    EXPECT_FALSE(bandwidth_is_changeable(domain_at(0)));
}

// Domain 1 shares the core of domain 0, with a budget that counts so.
std::function<void(SampleManifest &)> beside(uint32_t counts)
{
    return [counts](SampleManifest &m) {
        give_accesses(m);
        give(m.domains[1], counts);
        m.vcpus[1].core = control_core;
    };
}

TEST(AccessBudgetOfASharedCore, T5_BesideABudgetOfRefillsEachHasItsOwn)
{
    HostedMachine machine(beside(BH_BUDGET_COUNTS_REFILLS));
    ASSERT_TRUE(machine.booted());
    fake_clock_set(1000);
    machine.on_core(control_core);
    EXPECT_EQ(fake_pmu_type(first_counter) & 0xFFFF, refills);
    EXPECT_EQ(fake_pmu_type(first_counter + 1) & 0xFFFF, accesses);
    ASSERT_EQ(cpu_at(control_core)->vcpu->domain->index, 0u);
    fake_pmu_cause(accesses, FAKE_EL1, access_budget);
    ASSERT_TRUE(fake_gic_has_interrupt());
    machine.interrupt();
    ASSERT_EQ(cpu_at(control_core)->vcpu->domain->index, 1u) << "the core is the other's";
    fake_pmu_cause(accesses, FAKE_EL1, 10 * access_budget);
    EXPECT_FALSE(fake_gic_has_interrupt()) << "who has no such budget is not stopped";
    fake_pmu_cause(refills, FAKE_EL1, refill_budget);
    EXPECT_TRUE(fake_gic_has_interrupt());
}

TEST(AccessBudgetOfASharedCore, T5_TheSecondCounterIsNotOfTwoEvents)
{
    for (const uint32_t counts : {BH_BUDGET_COUNTS_SUM, BH_BUDGET_COUNTS_EACH}) {
        EXPECT_FALSE(HostedMachine(beside(counts)).booted()) << counts;
    }
}

TEST(AccessBudgetOfASharedCore, T5_BesideOneOfTheSameKind)
{
    EXPECT_TRUE(HostedMachine(beside(BH_BUDGET_COUNTS_ACCESSES)).booted());
}

} // namespace
} // namespace access_budget_test
