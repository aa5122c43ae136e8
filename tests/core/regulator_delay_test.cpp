// SPDX-License-Identifier: Apache-2.0
// The regulator by an account of delay (B11): who may run, by numbers worked out by hand, and its promise by
// property: whatever the others and the regulated cores do, and whatever they know of its intervals, the
// delay of the others is at most the share of time and what was saved up for.
#include "core/regulator_policy.h"
#include "regulator_setup.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace {

constexpr uint64_t full = 10000;       // events of an interval that regulated cores can move together
constexpr uint64_t others_most = 5000; // events of an interval of core 0
constexpr uint32_t horizon = 100;

// Core 0 is a real-time core. An event of core 0 is delayed by 1/10,000 interval beside core 1, and by four
// times that beside core 2; it may be delayed for 5 % of the time.
regulator_parameters delay_parameters()
{
    regulator_parameters parameters = dynamic_parameters(2, 1000);
    parameters.policy = REGULATOR_DELAY;
    parameters.threshold = UTILIZATION_ONE / 20;
    parameters.bandwidth_threshold_events = full;
    parameters.horizon_intervals = horizon;
    parameters.event_delays[1] = UINT32_MAX / 10000;
    parameters.event_delays[2] = UINT32_MAX / 2500;
    return parameters;
}

regulator started(const regulator_parameters &parameters)
{
    EXPECT_EQ(regulator_check(&parameters), REGULATOR_ERROR_NONE);
    regulator made{};
    regulator_init(&made, &parameters);
    return made;
}

regulator_sample interval(uint64_t number, uint32_t others, uint32_t first, uint32_t second)
{
    regulator_sample sample{};
    sample.number = number;
    sample.accesses[1] = first;
    sample.accesses[2] = second;
    sample.traffic_events = uint64_t{others} + first + second;
    return sample;
}

double account_of(const regulator &reg)
{
    return static_cast<double>(reg.account) / UTILIZATION_ONE;
}

bool runs(const regulator &reg, unsigned core)
{
    return reg.budgets[core] > reg.parameters.floor_events;
}

regulator after(uint32_t others, uint32_t first, uint32_t second)
{
    regulator reg = started(delay_parameters());
    const regulator_sample sample = interval(0, others, first, second);
    regulator_step(&reg, &sample);
    return reg;
}

} // namespace

TEST(RegulatorDelay, B11_TheAccountBeginsHalfFullAndGrowsByTheShareOfEachIntervalUpToTheHorizon)
{
    regulator reg = started(delay_parameters());
    EXPECT_NEAR(account_of(reg), 2.5, 0.01); // half of 5 % of 100 intervals
    for (uint64_t number = 0; number < 200; number++) {
        const regulator_sample sample = interval(number, 1000, 0, 0);
        regulator_step(&reg, &sample);
        EXPECT_NEAR(account_of(reg), std::min(5.0, 2.5 + 0.05 * static_cast<double>(number + 1)), 0.01);
    }
}

TEST(RegulatorDelay, B11_TheAccountPaysForEachEventOfTheOthersByWhatEachCoreMovedOfAllThatItCan)
{
    // 1,000 events, each delayed by 1/10,000 interval beside a half of core 1, by 1/2,500 beside a quarter of
    // core 2
    EXPECT_NEAR(account_of(after(1000, full / 2, full / 4)), 2.5 + 0.05 - 0.05 - 0.1, 0.01);
    EXPECT_NEAR(after(1000, full / 2, full / 4).last_load, 0.15 * UTILIZATION_ONE, 20);
    // no more than all that it can is paid for
    EXPECT_NEAR(account_of(after(1000, 3 * full, 0)), 2.5 + 0.05 - 0.1, 0.01);
}

TEST(RegulatorDelay, B11_WhoDelaysTheOthersLeastRunsFirstAndAllRunWhileTheyAskForNothing)
{
    // the account of 2.55 allows 8/100 of it: 0.204 interval of delay
    EXPECT_TRUE(runs(after(0, 0, 0), 1) && runs(after(0, 0, 0), 2));
    EXPECT_TRUE(runs(after(500, 0, 0), 1) && runs(after(500, 0, 0), 2));    // 0.05 and 0.2
    EXPECT_TRUE(runs(after(1000, 0, 0), 1) && !runs(after(1000, 0, 0), 2)); // 0.1 and 0.4
    EXPECT_FALSE(runs(after(2500, 0, 0), 1) || runs(after(2500, 0, 0), 2)); // 0.25 and 1
}

TEST(RegulatorDelay, B11_WhoDoesNotRunHasItsFloorAndTheRestIsForThoseWhoDo)
{
    const regulator reg = after(1000, 0, 0);
    EXPECT_EQ(reg.budgets[2], reg.parameters.floor_events);
    EXPECT_EQ(reg.budgets[1], reg.parameters.ceiling_events - reg.parameters.floor_events);
    EXPECT_EQ(reg.budgets[0], REGULATOR_UNLIMITED);
    EXPECT_EQ(sum_of_regulated(after(2500, 0, 0)), 2 * reg.parameters.floor_events);
    EXPECT_EQ(sum_of_regulated(after(0, 0, 0)), reg.parameters.ceiling_events);
}

TEST(RegulatorDelay, B11_AnOverdrawnAccountStopsAllUntilItIsPaidBack)
{
    regulator reg = started(delay_parameters());
    regulator_sample sample = interval(0, others_most * 10, full, full);
    regulator_step(&reg, &sample); // 5 and 20 intervals of delay
    EXPECT_LT(reg.account, 0);
    uint64_t stopped = 0;
    for (uint64_t number = 1; number < 1000 && !runs(reg, 1); number++, stopped++) {
        sample = interval(number, 100, 0, 0);
        regulator_step(&reg, &sample);
    }
    EXPECT_NEAR(static_cast<double>(stopped), (25 - 2.55) / 0.05, 10);
}

TEST(RegulatorDelay, B11_ThresholdTrafficAndHorizonAreChecked)
{
    const struct {
        regulator_error error;
        void (*change)(regulator_parameters &);
    } bad[] = {
        {REGULATOR_ERROR_THRESHOLD, [](regulator_parameters &p) { p.threshold = 0; }},
        {REGULATOR_ERROR_THRESHOLD, [](regulator_parameters &p) { p.threshold = UTILIZATION_ONE; }},
        {REGULATOR_ERROR_TRAFFIC, [](regulator_parameters &p) { p.bandwidth_threshold_events = 0; }},
        {REGULATOR_ERROR_TRAFFIC,
         [](regulator_parameters &p) { p.bandwidth_threshold_events = TRAFFIC_MAX_EVENTS + 1; }},
        {REGULATOR_ERROR_HORIZON, [](regulator_parameters &p) { p.horizon_intervals = 0; }},
        {REGULATOR_ERROR_HORIZON,
         [](regulator_parameters &p) { p.horizon_intervals = REGULATOR_MAX_HORIZON + 1; }},
    };
    for (const auto &one : bad) {
        regulator_parameters parameters = delay_parameters();
        one.change(parameters);
        EXPECT_EQ(regulator_check(&parameters), one.error);
    }
}

namespace {

// What the others ask for in an interval, and what core `i` moves of its budget, by who plays.
struct players {
    std::function<uint32_t(uint64_t)> others;
    std::function<double(uint64_t, unsigned, bool)> part; // number, core, whether it has more than its floor
};

// Delay of the others in all windows of `length` intervals, at most; in intervals.
double worst_delay(const players &who, uint64_t length, uint64_t count)
{
    regulator reg = started(delay_parameters());
    std::vector<double> delays;
    for (uint64_t number = 0; number < count; number++) {
        const uint32_t others = who.others(number);
        std::array<uint32_t, 3> moved{};
        double delay = 0;
        for (unsigned core = 1; core <= 2; core++) {
            const double wanted = who.part(number, core, runs(reg, core)) * static_cast<double>(full);
            moved[core] = static_cast<uint32_t>(std::min(wanted, static_cast<double>(reg.budgets[core])));
            const double each = core == 1 ? 1.0 / 10000 : 1.0 / 2500;
            delay += others * each * std::min(1.0, static_cast<double>(moved[core]) / full);
        }
        delays.push_back(delay);
        const regulator_sample sample = interval(number, others, moved[1], moved[2]);
        regulator_step(&reg, &sample);
    }
    double worst = 0;
    double window = 0;
    for (std::size_t i = 0; i < delays.size(); i++) {
        window += delays[i] - (i >= length ? delays[i - length] : 0);
        worst = std::max(worst, window);
    }
    return worst;
}

// The promise: the share of the window, what was saved up, and the delay of one interval that came unforeseen
// (all cores together), with that of the floors.
double promised(uint64_t length)
{
    const double unforeseen = others_most * (1.0 / 10000 + 1.0 / 2500);
    const double floors =
        static_cast<double>(length) * others_most * 10.0 / full * (1.0 / 10000 + 1.0 / 2500);
    return 0.05 * static_cast<double>(length) + 0.05 * horizon + unforeseen + floors + 0.01;
}

} // namespace

TEST(RegulatorDelay, B11_TheDelayOfAnyWindowIsWithinThePromiseWhoeverPlays)
{
    std::mt19937_64 random(7);
    const auto all = [](uint64_t, unsigned, bool) { return 1.0; };
    const std::vector<players> games = {
        {[](uint64_t) { return others_most; }, all},
        {[](uint64_t number) { return static_cast<uint32_t>(number % 2 == 0 ? others_most : 0); }, all},
        {[](uint64_t number) { return static_cast<uint32_t>(number / 50 % 2 == 0 ? others_most : 0); }, all},
        {[&random](uint64_t) { return static_cast<uint32_t>(random() % (others_most + 1)); }, all},
        // attackers who save up while the others read little, and move when these read most
        {[](uint64_t number) { return static_cast<uint32_t>(number % 150 < 130 ? 10 : others_most); },
         [](uint64_t number, unsigned, bool) { return number % 150 < 130 ? 0.0 : 1.0; }},
        {[](uint64_t number) { return static_cast<uint32_t>(number % 7 == 0 ? others_most : 10); },
         [](uint64_t number, unsigned, bool) { return number % 7 == 0 ? 1.0 : 0.0; }},
        {[&random](uint64_t) { return static_cast<uint32_t>(random() % (others_most + 1)); },
         [&random](uint64_t, unsigned, bool) { return static_cast<double>(random() % 3) / 2; }},
    };
    for (std::size_t game = 0; game < games.size(); game++) {
        for (const uint64_t length : {1, 10, 100, 1000}) {
            EXPECT_LE(worst_delay(games[game], length, 5000), promised(length)) << game << ", " << length;
        }
    }
}
