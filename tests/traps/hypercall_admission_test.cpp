// SPDX-License-Identifier: Apache-2.0
// Changes of budgets and of the regulator by managers are admitted by the test of a system's file (T4: F3,
// B7, B10): a refused change changes nothing and reports how much would be admitted, a decrease is always
// admitted, and no two requests get the same capacity, whenever they come.
#include "hosted_machine.h"
#include "run/vcpu_run.h"
#include <algorithm>
#include <array>
#include <barrier>
#include <bit>
#include <gtest/gtest.h>
#include <random>
#include <thread>

extern "C" {
#include "time/admission.h"
#include "time/bandwidth_update.h"
#include "time/regulation.h"
}

namespace hypercall_admission_test {
namespace {

using namespace bulkhead_test;

constexpr uint32_t control = 0; // a manager, on core 0
constexpr uint32_t linux_ = 1;  // another, on cores 1 and 3
constexpr uint64_t ms = 1'000'000;
constexpr uint64_t period_ticks = 62500;
constexpr uint32_t hypervisor_timer = 26;

constexpr uint64_t not_admitted = static_cast<uint64_t>(-int64_t{BH_HYPERCALL_ERROR_NOT_ADMITTED});

void two_managers(SampleManifest &m)
{
    m.domains[control].flags |= BH_DOMAIN_FLAG_MANAGER;
    m.domains[linux_].flags |= BH_DOMAIN_FLAG_MANAGER;
}

class Admission : public testing::Test {
protected:
    explicit Admission(const std::function<void(SampleManifest &)> &change)
        : machine([&](SampleManifest &m) {
              two_managers(m);
              change(m);
          })
    {
        machine.on_core(1);
        machine.on_core(0);
    }

    // A call by the manager on `core`; x1 and x2 of the answer are kept.
    uint64_t change(uint32_t domain, uint64_t events, uint64_t period_ns = ms, uint32_t core = 0)
    {
        guest_regs &regs = machine.on_core(core);
        const uint64_t result = machine.hvc(BH_HYPERCALL_BUDGET_CHANGE, domain, events, period_ns);
        answer = regs.x[1];
        return result;
    }

    void refuse(uint32_t domain, uint64_t events, uint64_t most, uint64_t period_ns = ms)
    {
        const bandwidth_setting before = latest(domain);
        EXPECT_EQ(change(domain, events, period_ns), not_admitted);
        EXPECT_EQ(answer, most);
        const bandwidth_setting after = latest(domain);
        EXPECT_EQ(after.events, before.events);
        EXPECT_EQ(after.period_ns, before.period_ns);
        EXPECT_EQ(after.waits, before.waits);
    }

    static bandwidth_setting latest(uint32_t domain)
    {
        return bandwidth_latest_setting(domain_at(domain), clock_now());
    }

    // Period `number` begins on the core.
    void period_begins(uint32_t core, uint64_t number)
    {
        fake_clock_set(number * period_ticks);
        fake_switch_core(core);
        fake_gic_raise(hypervisor_timer);
        machine.interrupt();
    }

    HostedMachine machine;
    uint64_t answer = 0;
};

// As tests/core/sample_manifest.h defines it: control 1000 events in a ms, linux 2000 together, of 11,250
// that the curve leaves beside the broker.
class BudgetAdmission : public Admission {
protected:
    BudgetAdmission() : Admission(give_bandwidth) {}
};

TEST_F(BudgetAdmission, T4_ARaiseIsAdmittedWhereThereIsRoom)
{
    EXPECT_EQ(change(control, 9250), 0u);
    EXPECT_EQ(answer, period_ticks) << "from the next period on";
    EXPECT_EQ(latest(control).events, 9250u);
}

TEST_F(BudgetAdmission, T4_OneThatIsRefusedChangesNothingAndSaysHowMuchWouldBeAdmitted)
{
    refuse(control, 9251, 9250);
    refuse(control, 18501, 18500, 2 * ms);
    refuse(linux_, (uint64_t{1} << 40) - 1, 10250);
    period_begins(0, 1);
    EXPECT_EQ(cpu_at(0)->status->budget.changes, 0u);
    EXPECT_EQ(cpu_at(0)->status->budget.limit_events, 1000u);
    EXPECT_EQ(change(linux_, 10250), 0u);
    refuse(control, 1001, 1000);
}

TEST_F(BudgetAdmission, T4_AChangeThatMakesLessAlwaysIs)
{
    ASSERT_EQ(change(control, 9250), 0u);
    for (const auto &[events, period_ns] :
         {std::pair{9249u, ms}, {9250u, ms + 1}, {277u, uint64_t{30'000}}, {50u, ms}, {1u, ms}, {0u, ms}}) {
        EXPECT_EQ(change(control, events, period_ns), 0u) << events;
    }
}

TEST_F(BudgetAdmission, F3_WhatNoRegulationEnforcesIsNotAdmitted)
{
    refuse(control, 1, 0, 29'999);
    EXPECT_EQ(change(control, 0, 29'999), 0u) << "a domain that stands still";
}

TEST_F(BudgetAdmission, T4_ARaiseThatWaitsHasItsRoom)
{
    ASSERT_EQ(change(linux_, 10000), 0u);
    refuse(control, 1251, 1250);
    ASSERT_EQ(change(linux_, 2000), 0u) << "instead of that";
    EXPECT_EQ(change(control, 9250), 0u);
}

TEST_F(BudgetAdmission, T4_TheRoomThatALoweringLeavesIsThereWhenItHolds)
{
    ASSERT_EQ(change(linux_, 10000), 0u);
    fake_clock_set(answer);
    ASSERT_EQ(change(linux_, 2000), 0u);
    const uint64_t from = answer;
    refuse(control, 1251, 1250);
    fake_clock_set(from - 1);
    refuse(control, 1251, 1250);
    fake_clock_set(from);
    EXPECT_EQ(change(control, 9250), 0u);
}

TEST_F(BudgetAdmission, T4_APeriodThatWaitsCountsWithItsEvents)
{
    ASSERT_EQ(change(linux_, 10000, 2 * ms), 0u) << "5000 in a ms";
    const uint64_t from = answer;
    refuse(control, 6251, 6250);
    fake_clock_set(from);
    ASSERT_EQ(change(linux_, 4000, ms / 2), 0u) << "8000 in a ms";
    refuse(control, 3251, 3250);
    ASSERT_EQ(change(linux_, 1000, ms / 2), 0u) << "instead of that";
    refuse(control, 6251, 6250); // 10,000 in 2 ms hold
}

TEST_F(BudgetAdmission, T4_TwoManagersCannotHaveTheSameRoom)
{
    EXPECT_EQ(change(control, 9000, ms, 0), 0u);
    EXPECT_EQ(change(linux_, 9000, ms, 1), not_admitted);
    EXPECT_EQ(answer, 2250u);
}

// On two cores at the same time.
TEST_F(BudgetAdmission, T4_RequestsOfTwoCoresAtTheSameTimeAreOneAfterTheOther)
{
    constexpr int rounds = 2000;
    std::array<std::atomic<int>, 2> admitted{};
    std::barrier start(3);
    std::barrier end(3);
    const auto ask = [&](uint32_t domain) {
        for (int round = 0; round < rounds; round++) {
            start.arrive_and_wait();
            admitted.at(domain) = admission_change_budget(domain_at(domain), 8000, ms).admitted ? 1 : 0;
            end.arrive_and_wait();
        }
    };
    std::thread first(ask, control);
    std::thread second(ask, linux_);
    int both = 0;
    int none = 0;
    for (int round = 0; round < rounds; round++) {
        for (uint32_t domain : {control, linux_}) {
            EXPECT_TRUE(admission_change_budget(domain_at(domain), 1000, ms).admitted);
        }
        fake_clock_set(static_cast<uint64_t>(2 + 2 * round) * period_ticks);
        start.arrive_and_wait();
        end.arrive_and_wait();
        both += admitted[control] + admitted[linux_] == 2;
        none += admitted[control] + admitted[linux_] == 0;
    }
    first.join();
    second.join();
    EXPECT_EQ(both, 0);
    EXPECT_EQ(none, 0);
}

// Whatever managers request, and whenever: at each moment the budgets in force and those waiting are admitted
// together, and so is the number that the answer states.
TEST_F(BudgetAdmission, T4_PropertyAtEachMomentTheMemoryBearsWhatHoldsAndWhatWaits)
{
    std::mt19937_64 random(3);
    uint64_t now = 0;
    int refused = 0;
    for (int step = 0; step < 3000; step++) {
        now += random() % 80000;
        fake_clock_set(now);
        const auto domain = static_cast<uint32_t>(random() % 2);
        const uint64_t period_ns = 30'000 + random() % (3 * ms);
        const uint64_t events = random() % (12 * period_ns / 1000);
        if (change(domain, events, period_ns) == not_admitted) {
            refused++;
            ASSERT_LT(answer, events);
            ASSERT_EQ(change(domain, answer, period_ns), 0u);
        }
        admission_state state{};
        for (uint32_t i = 0; i < domain_count(); i++) {
            bandwidth_parameters(domain_at(i), now, &state.held[i], &state.latest[i]);
        }
        ASSERT_TRUE(admission_holds(system_manifest(), &state)) << step;
    }
    EXPECT_GT(refused, 500);
}

// A budget that the VCPUs of linux share, in a life after the one in which it was changed: the pool that they
// draw from is not set up again.
class SharedBudget : public Admission {
protected:
    SharedBudget() : Admission(share_budget) {}

    static void share_budget(SampleManifest &m)
    {
        m.header.platform.traffic_event = 0x17;
        m.domains[linux_].flags |= BH_DOMAIN_FLAG_BUDGET;
        m.domains[linux_].budget_events = 2000;
        m.domains[linux_].budget_chunk_events = 60;
        m.domains[linux_].budget_period_ns = ms;
    }

    // What linux can still cause in the current period of core 1.
    static uint64_t left()
    {
        const reservation &own = cpu_at(1)->bandwidth.budget.reservation;
        return reservation_left(&own, 0) + event_pool_left(&domain_at(linux_)->share, own.period.number);
    }

    // The restart cleans the domain's memory on the domain's budget, so it takes some periods after this one.
    // Each of them, and the first one of the new life, has so many events.
    void restart_in_periods(uint64_t number, uint64_t events)
    {
        EXPECT_LE(left(), events);
        machine.on_core(1);
        while (machine.status(linux_).restarts == 0) {
            ASSERT_LT(number, 1000u);
            EXPECT_EQ(left(), 0u) << "it waits for the next period";
            period_begins(1, ++number);
            machine.on_core(1);
            EXPECT_LE(left(), events);
        }
        EXPECT_EQ(machine.status(linux_).state, uint32_t{BH_DOMAIN_STATE_RUNNING});
        EXPECT_EQ(cpu_at(1)->status->budget.limit_events, events);
        period_begins(1, number + 1);
        EXPECT_EQ(left(), events);
        EXPECT_EQ(cpu_at(1)->bandwidth.budget.reservation.period.number, number + 1);
    }

    void ask(uint64_t function)
    {
        machine.on_core(0);
        EXPECT_EQ(machine.hvc(function, linux_), 0u);
        for (uint32_t core : {1u, 3u, 1u}) { // its cores take the message
            fake_switch_core(core);
            if (vcpu_may_run(this_cpu()->vcpu) || fake_gic_has_interrupt()) {
                machine.interrupt();
            }
        }
    }
};

TEST_F(SharedBudget, B8_ALoweredOneIsInForceFromTheFirstPeriodOfTheNextLife)
{
    EXPECT_EQ(left(), 2000u);
    ASSERT_EQ(change(linux_, 800), 0u);
    period_begins(1, 1);
    ASSERT_EQ(left(), 800u);
    ask(BH_HYPERCALL_DOMAIN_RESTART);
    restart_in_periods(1, 800);
}

TEST_F(SharedBudget, B8_SoIsOneThatWasLoweredWhileTheDomainStood)
{
    ask(BH_HYPERCALL_DOMAIN_STOP);
    ASSERT_EQ(machine.status(linux_).state, uint32_t{BH_DOMAIN_STATE_STOPPED});
    ASSERT_EQ(change(linux_, 800), 0u);
    fake_clock_set(5 * period_ticks + 1);
    ask(BH_HYPERCALL_DOMAIN_RESTART);
    restart_in_periods(5, 800);
}

using Words = std::array<uint64_t, BH_REGULATION_WORDS>;
constexpr uint64_t first_budget = offsetof(manifest_regulation, budget_events) / sizeof(uint64_t);

// linux's cores have budgets that the regulator distributes; control has its own. Refills of 128 bytes, with
// what they write back: of 7,500 in a ms control has 1000, linux 500 on each core.
void regulate(SampleManifest &m)
{
    m.header.platform.traffic_event = 0x17;
    for (manifest_domain &domain : m.domains) {
        domain.flags |= BH_DOMAIN_FLAG_BUDGET;
        domain.budget_period_ns = ms;
    }
    m.domains[control].budget_events = 1000;
    m.domains[linux_].budget_events = 500;
    manifest_regulation &regulation = m.header.regulation;
    regulation.policy = BH_REGULATION_POLICY_FIXED;
    regulation.interval_ns = ms;
    regulation.floor_events = 10;
    regulation.ceiling_events = 1 << 20;
    regulation.members = regulation.regulated = 0b1010;
    regulation.budget_events[1] = regulation.budget_events[3] = 500;
    m.header.bandwidth.event_bytes = 64;
    m.header.bandwidth.limit_bytes_per_s = sample_limit;
}

class RegulationAdmission : public Admission {
protected:
    RegulationAdmission() : Admission(regulate) {}

    static manifest_regulation read()
    {
        manifest_regulation parameters{};
        EXPECT_TRUE(regulation_read(&parameters));
        return parameters;
    }

    uint64_t regulate_by(const manifest_regulation &to)
    {
        const Words words = std::bit_cast<Words>(to);
        guest_regs &regs = machine.on_core(0);
        std::copy(words.begin() + 3, words.end(), regs.x + 4);
        const uint64_t result = machine.hvc(BH_HYPERCALL_REGULATION_CHANGE, words[0], words[1], words[2]);
        answer = regs.x[1];
        most = regs.x[2];
        return result;
    }

    uint64_t give(uint64_t first, uint64_t second, uint64_t interval_ns = ms)
    {
        manifest_regulation to = read();
        to.budget_events[1] = first;
        to.budget_events[3] = second;
        to.interval_ns = interval_ns;
        return regulate_by(to);
    }

    // The most that control is told it could have.
    uint64_t most_of_control()
    {
        EXPECT_EQ(change(control, 1 << 30), not_admitted);
        return answer;
    }

    uint64_t most = 0;
};

TEST_F(RegulationAdmission, T4_ParametersThatAskForTooMuchAreRefusedWithTheWordAndTheMostOfIt)
{
    const Words before = std::bit_cast<Words>(read());
    EXPECT_EQ(give(3000, 3501), not_admitted);
    EXPECT_EQ(answer, first_budget + 3);
    EXPECT_EQ(most, 3500u);
    EXPECT_EQ(give(6501, 10), not_admitted);
    EXPECT_EQ(answer, first_budget + 1);
    EXPECT_EQ(most, 6500u);
    EXPECT_EQ(std::bit_cast<Words>(read()), before);
    period_begins(1, 1);
    EXPECT_EQ(system_status()->regulation.changes, 0u);
    EXPECT_EQ(give(3000, 3500), 0u);
}

TEST_F(RegulationAdmission, T4_WhatIsBadIsSaidFirst)
{
    EXPECT_EQ(give(1 << 30, 9000), static_cast<uint64_t>(-int64_t{BH_HYPERCALL_ERROR_INVALID_PARAMETERS}));
    EXPECT_EQ(answer, first_budget + 1);
}

TEST_F(RegulationAdmission, T4_ParametersThatWaitCountBesideThoseInForce)
{
    EXPECT_EQ(most_of_control(), 6500u);
    ASSERT_EQ(give(3000, 3000), 0u);
    EXPECT_EQ(most_of_control(), 1500u) << "they wait";
    period_begins(1, 1);
    EXPECT_EQ(most_of_control(), 1500u);
    ASSERT_EQ(give(500, 500), 0u);
    EXPECT_EQ(most_of_control(), 1500u) << "they are not lower yet";
    period_begins(1, 2);
    EXPECT_EQ(most_of_control(), 6500u);
}

TEST_F(RegulationAdmission, T4_BudgetsOfALongerIntervalAreInOneOfTheLengthBefore)
{
    ASSERT_EQ(change(control, 6500), 0u);
    EXPECT_EQ(give(1000, 1000, 2 * ms), not_admitted) << "for a ms they would be as many";
    EXPECT_EQ(answer, first_budget + 3);
    EXPECT_EQ(most, 0u);
    ASSERT_EQ(give(500, 500, 2 * ms), 0u);
    EXPECT_EQ(most_of_control(), 6500u);
    period_begins(1, 1);
    EXPECT_EQ(most_of_control(), 6500u) << "this interval is still a ms long";
    period_begins(1, 2);
    EXPECT_EQ(most_of_control(), 7000u);
}

TEST_F(RegulationAdmission, T4_AShorterIntervalWithAsManyEventsIsMore)
{
    ASSERT_EQ(change(control, 6000), 0u);
    EXPECT_EQ(give(500, 500, ms / 2), not_admitted);
    EXPECT_EQ(answer, first_budget + 3);
    EXPECT_EQ(most, 250u);
    EXPECT_EQ(give(500, 250, ms / 2), 0u);
}

TEST_F(RegulationAdmission, AMachineWithoutARegulatorStartsWithNoneInForceAndNoneThatWaits)
{
    ASSERT_EQ(give(1000, 250), 0u);
    const HostedMachine other([](SampleManifest &) {});
    regulation_parameters now{};
    regulation_read_parameters(&now);
    EXPECT_EQ(now.held.members, 0u);
    EXPECT_EQ(now.latest.members, 0u);
}

} // namespace
} // namespace hypercall_admission_test
