// SPDX-License-Identifier: Apache-2.0
// Budgets under random guests and drivers that are late (B1, B3): always, at most Q and the events between an
// overflow and its reading are caused from one recharge to the next, every event is counted, and each period
// that ends recharges.
#include "fake_counters.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace budget_property_test {
namespace {

constexpr uint64_t PERIOD = 1000;
constexpr uint64_t LATE_EVENTS = 20; // at most, between an overflow and its reading

reservation_parameters any_parameters(std::mt19937_64 &random)
{
    reservation_parameters parameters = reservation_of(random() % 400, PERIOD);
    parameters.counter_bits = random() % 2 == 0 ? 8 : 32;
    parameters.kind = static_cast<reservation_kind>(random() % RESERVATION_KIND_COUNT);
    if (parameters.kind == RESERVATION_EACH) {
        parameters.limit_events[1] = random() % 400;
    } else if (parameters.kind == RESERVATION_SUM) {
        parameters.slack_events = random() % 32;
    }
    return parameters;
}

// A guest, the counters and a driver that may be late, beside a simple count of the events that were caused.
class system_under_test {
public:
    system_under_test(const reservation_parameters &parameters, std::mt19937_64 &random)
        : parameters_(parameters), random_(random), budget_(budget_of(parameters)),
          counters_(parameters.counter_bits)
    {
        budget_start(&budget_, 0);
        runs_ = counters_.obey(budget_load(&budget_, 0));
    }

    // Causes events of one counter up to its overflow or a few beyond, and handles the overflow.
    void guest_runs()
    {
        if (!runs_) {
            return;
        }
        const auto which = parameters_.kind == RESERVATION_ONE ? 0u : unsigned(random_() % 2);
        uint64_t events = random_() % 100;
        if (events >= counters_.until_overflow(which)) {
            events = counters_.until_overflow(which) + random_() % (LATE_EVENTS + 1);
        }
        counters_.count(which, events);
        caused_[which] += events;
        total_ += events;
        if (counters_.overflowed()) {
            runs_ = counters_.obey(budget_overflow(&budget_, now_, counters_.stop()));
        }
        check_bound();
    }

    void time_passes()
    {
        now_ += random_() % 300;
        if (random_() % 8 == 0) {
            now_ += 3 * PERIOD;
        }
        if (now_ >= budget_deadline(&budget_)) {
            ASSERT_EQ(budget_deadline(&budget_) % PERIOD, 0u);
            runs_ = counters_.obey(budget_timer(&budget_, now_, counters_.stop()));
            caused_ = {0, 0};
            ASSERT_EQ(runs_, parameters_.limit_events[0] != 0 &&
                                 (parameters_.kind != RESERVATION_EACH || parameters_.limit_events[1] != 0));
            ASSERT_GT(budget_deadline(&budget_), now_);
            ASSERT_LE(budget_deadline(&budget_), now_ + PERIOD);
            ASSERT_EQ(budget_.reservation.statistics.periods, now_ / PERIOD);
        }
    }

    void driver_looks()
    {
        runs_ = counters_.obey(budget_overflow(&budget_, now_, counters_.stop()));
        ASSERT_EQ(budget_.reservation.statistics.events, total_);
    }

private:
    void check_bound() const
    {
        const uint64_t slack = parameters_.slack_events + LATE_EVENTS;
        if (parameters_.kind == RESERVATION_EACH) {
            ASSERT_LE(caused_[0], parameters_.limit_events[0] + slack);
            ASSERT_LE(caused_[1], parameters_.limit_events[1] + slack);
        } else {
            ASSERT_LE(caused_[0] + caused_[1], parameters_.limit_events[0] + slack);
        }
        // The guest runs if and only if some budget is left.
        const bool left =
            parameters_.kind == RESERVATION_EACH
                ? caused_[0] < parameters_.limit_events[0] && caused_[1] < parameters_.limit_events[1]
                : caused_[0] + caused_[1] < parameters_.limit_events[0];
        if (left) {
            ASSERT_TRUE(runs_);
        }
        ASSERT_EQ(runs_, !budget_.reservation.throttled);
    }

    reservation_parameters parameters_;
    std::mt19937_64 &random_;
    budget budget_;
    fake_counters counters_;
    std::array<uint64_t, 2> caused_{}; // since the last recharge
    uint64_t total_ = 0;
    uint64_t now_ = 0;
    bool runs_ = false;
};

TEST(BudgetProperty, B1_B3_NoMoreThanTheBudgetFromOneRechargeToTheNext)
{
    std::mt19937_64 random(42);
    for (int run = 0; run < 400; run++) {
        const reservation_parameters parameters = any_parameters(random);
        system_under_test system(parameters, random);
        for (int step = 0; step < 300; step++) {
            switch (random() % 4) {
            case 0:
                system.time_passes();
                break;
            case 1:
                system.driver_looks();
                break;
            default:
                system.guest_runs();
                break;
            }
            if (HasFatalFailure()) {
                FAIL() << "run " << run << ", step " << step << ", kind " << parameters.kind << ", budgets "
                       << parameters.limit_events[0] << " and " << parameters.limit_events[1];
            }
        }
    }
}

} // namespace
} // namespace budget_property_test
