// SPDX-License-Identifier: Apache-2.0
// VCPUs on a core under random guests, interrupts and late drivers (B2). Invariants: from one recharge to the
// next a VCPU causes no more than its budget and the events before a late reading; in RECHARGE it causes
// none; a recharge is never lost; no VCPU that could run waits while the core idles or a lower priority runs,
// unless the policy has no priorities.
#include "sched_bench.h"
#include <gtest/gtest.h>
#include <random>

namespace vcpu_sched_property_test {
namespace {

constexpr uint64_t LATE_EVENTS = 5;

class random_system {
public:
    explicit random_system(uint64_t seed)
        : random_(seed), setups_(any_setups(random_)),
          policy_(random_() % 2 == 0 ? SCHED_ROUND_ROBIN : SCHED_FIXED_PRIORITY),
          bench_(setups_, random_() % 2 * 7, policy_), caused_(setups_.size())
    {
    }

    void step()
    {
        const auto i = unsigned(random_() % setups_.size());
        switch (random_() % 8) {
        case 0:
            if (bench_.vcpus[i].state == SCHED_RESET &&
                bench_.vcpus[i].budget.reservation.period.end_ticks <= now_) {
                caused_[i] = 0; // it was stopped beyond a deadline: a new period begins
            }
            bench_.start(i, now_);
            break;
        case 1:
            if (random_() % 4 == 0) {
                bench_.stop(i, now_);
            }
            break;
        case 2:
            bench_.block(now_);
            break;
        case 3:
            bench_.wake(i, now_);
            break;
        case 4:
            time_passes();
            break;
        default:
            guest_runs();
            break;
        }
        check();
    }

private:
    static std::vector<sched_setup> any_setups(std::mt19937_64 &random)
    {
        std::vector<sched_setup> setups(1 + random() % 4);
        for (auto &setup : setups) {
            setup = {random() % 30, 20 + random() % 100, uint32_t(random() % 3)};
        }
        return setups;
    }

    void guest_runs()
    {
        const int i = bench_.running();
        if (i >= 0) {
            const uint64_t left = setups_[unsigned(i)].budget_events - bench_.used(unsigned(i));
            const uint64_t events =
                random_() % 2 == 0 ? random_() % left : left + random_() % (LATE_EVENTS + 1);
            caused_[unsigned(i)] += events;
            bench_.use(events, now_);
        }
    }

    // The timer comes at the deadline, or later.
    void time_passes()
    {
        const uint64_t deadline = sched_deadline(&bench_.core);
        now_ += random_() % 20;
        if (deadline <= now_) {
            now_ += random_() % 10 == 0 ? random_() % 500 : 0;
            for (unsigned i = 0; i < setups_.size(); i++) {
                const sched_vcpu &vcpu = bench_.vcpus[i];
                if (vcpu.state != SCHED_RESET && budget_deadline(&vcpu.budget) <= now_) {
                    caused_[i] = 0;
                }
            }
            bench_.timer(now_);
            ASSERT_GT(sched_deadline(&bench_.core), now_);
        }
    }

    void check()
    {
        const int running = bench_.running();
        for (unsigned i = 0; i < setups_.size(); i++) {
            const sched_vcpu &vcpu = bench_.vcpus[i];
            ASSERT_EQ(caused_[i], bench_.used(i));
            ASSERT_LE(caused_[i], setups_[i].budget_events + LATE_EVENTS);
            ASSERT_EQ(int(i) == running, vcpu.state == SCHED_RUNNING);
            ASSERT_EQ(vcpu.budget.reservation.counting, vcpu.state == SCHED_RUNNING);
            if (vcpu.state == SCHED_RECHARGE) {
                ASSERT_GE(caused_[i], setups_[i].budget_events);
            } else if (vcpu.state == SCHED_READY) {
                ASSERT_GE(running, 0);
                if (policy_ == SCHED_FIXED_PRIORITY) {
                    ASSERT_LE(setups_[unsigned(running)].priority, setups_[i].priority);
                }
            } else if (vcpu.state == SCHED_RUNNING) {
                ASSERT_LT(caused_[i], setups_[i].budget_events);
            }
            if (vcpu.state != SCHED_RESET) {
                ASSERT_EQ(budget_deadline(&vcpu.budget) % setups_[i].period_ticks, 0u);
                ASSERT_LE(sched_deadline(&bench_.core), budget_deadline(&vcpu.budget));
            }
        }
    }

    std::mt19937_64 random_;
    std::vector<sched_setup> setups_;
    sched_policy policy_;
    sched_bench bench_;
    std::vector<uint64_t> caused_; // since the last recharge
    uint64_t now_ = 0;
};

TEST(VcpuSchedProperty, B2_InvariantsHoldUnderRandomOperations)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        random_system system(seed);
        for (int step = 0; step < 500; step++) {
            system.step();
            if (HasFatalFailure()) {
                FAIL() << "seed " << seed << ", step " << step;
            }
        }
    }
}

TEST(VcpuSchedProperty, B2_EachPeriodOfAHungryVcpuGivesItsWholeBudget)
{
    std::mt19937_64 random(11);
    for (int run = 0; run < 50; run++) {
        sched_bench bench({{10 + random() % 20, 100, 0}, {10 + random() % 20, 70, 0}}, random() % 2 * 10);
        bench.start(0, 0);
        bench.start(1, 0);
        uint64_t now = 0;
        while (now < 70000) { // an event a tick
            const uint64_t next = std::min(sched_deadline(&bench.core), now + 1 + random() % 5);
            for (; now < next; now++) {
                bench.use(1, now);
            }
            if (now >= sched_deadline(&bench.core)) {
                bench.timer(now);
            }
        }
        for (unsigned i = 0; i < 2; i++) {
            const reservation &reservation = bench.vcpus[i].budget.reservation;
            EXPECT_EQ(reservation.statistics.periods, 70000u / (i == 0 ? 100 : 70));
            EXPECT_EQ(reservation.statistics.events - reservation.used_events[0],
                      reservation.statistics.periods * reservation.parameters.limit_events[0]);
            EXPECT_EQ(reservation.statistics.throttled_periods, reservation.statistics.periods);
        }
    }
}

} // namespace
} // namespace vcpu_sched_property_test
