// SPDX-License-Identifier: Apache-2.0
// The regulator by an account of delay (B11): which cores may run, by numbers worked out by hand, and its
// guarantee by property: for any behaviour of the others and of the regulated cores, even if they know its
// intervals, the delay of the others is at most the share of time and the savings in the account.
#include "core/regulated_core.h"
#include "core/regulator_policy.h"
#include "fake_counters.h"
#include "regulator_setup.h"
#include <algorithm>
#include <array>
#include <functional>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <vector>

namespace regulator_delay_test {
namespace {

constexpr uint64_t full =
    10000; // events of an interval with which a regulated core delays the others all the time
constexpr uint32_t others_most = 2500; // events of an interval of core 0: beside core 2 each is delayed
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

TEST(RegulatorDelay, B11_SamplesShowTheAccountAlsoWhenItIsOverdrawn)
{
    regulator reg = after(1000, 0, full);
    EXPECT_NEAR(regulator_carried(&reg), (2.55 - 0.4) * REGULATOR_CARRIED_ONE, 10);
    reg.account = -(int64_t{REGULATOR_MAX_HORIZON} << 16);
    EXPECT_EQ(regulator_carried(&reg), -int32_t{REGULATOR_MAX_HORIZON} * REGULATOR_CARRIED_ONE);
    reg.parameters.policy = REGULATOR_UTILIZATION;
    EXPECT_EQ(regulator_carried(&reg), 0);
}

TEST(RegulatorDelay, B11_TheAccountBeginsHalfFullAndGrowsByTheShareOfEachIntervalUpToTheHorizon)
{
    regulator reg = started(delay_parameters());
    // 5 % of 100 intervals at most, and half of it at first
    for (uint64_t number = 0; number < 200; number++) {
        const regulator_sample sample = interval(number, 1000, 0, 0);
        regulator_step(&reg, &sample);
        EXPECT_NEAR(account_of(reg), std::min(5.0, 2.5 + 0.05 * static_cast<double>(number + 1)), 0.01);
    }
}

TEST(RegulatorDelay, B11_TheAccountPaysForTheMostThatTheRegulatedCoresCanHaveDelayedTheOthers)
{
    // 1,000 events are delayed by 0.1 interval beside core 1 and by 0.4 beside core 2, if these cores always
    // move lines.
    EXPECT_NEAR(account_of(after(1000, full, 0)), 2.55 - 0.1, 0.01);
    EXPECT_NEAR(account_of(after(1000, 0, full)), 2.55 - 0.4, 0.01);
    // Half of the time can suffice to delay all events, if they fall into it.
    EXPECT_NEAR(account_of(after(1000, full / 2, 0)), 2.55 - 0.1, 0.01);
    EXPECT_NEAR(account_of(after(1000, full / 20, 0)), 2.55 - 0.05, 0.01);
    // In a quarter of the time core 2 delays 5/8 of the events, and core 1 the others.
    EXPECT_NEAR(account_of(after(1000, full / 2, full / 4)), 2.55 - 0.25 - 0.1 * 3 / 8, 0.01);
    EXPECT_NEAR(after(1000, full / 2, full / 4).last_load, (0.25 + 0.1 * 3 / 8) * UTILIZATION_ONE, 20);
}

TEST(RegulatorDelay, B11_WhoDelaysTheOthersLeastRunsFirstAndAllRunWhileTheyAskForNothing)
{
    // the account of 2.55 allows 8/100 of it: 0.204 interval of delay
    EXPECT_TRUE(runs(after(0, 0, 0), 1) && runs(after(0, 0, 0), 2));
    EXPECT_TRUE(runs(after(500, 0, 0), 1) && runs(after(500, 0, 0), 2));    // 0.05 and 0.2
    EXPECT_TRUE(runs(after(1000, 0, 0), 1) && !runs(after(1000, 0, 0), 2)); // 0.1 and 0.4
    EXPECT_FALSE(runs(after(2500, 0, 0), 1) || runs(after(2500, 0, 0), 2)); // 0.25 and 1
}

TEST(RegulatorDelay, B11_WhoDoesNotRunHasItsFloorAndWhoDoesShareTheCeilingAlike)
{
    const regulator reg = after(1000, 0, 0);
    EXPECT_EQ(reg.budgets[2], reg.parameters.floor_events);
    EXPECT_EQ(reg.budgets[1], reg.parameters.ceiling_events - reg.parameters.floor_events);
    EXPECT_EQ(reg.budgets[0], REGULATOR_UNLIMITED);
    EXPECT_EQ(sum_of_regulated(after(2500, 0, 0)), 2 * reg.parameters.floor_events);
    const regulator both = after(0, 100, 3000);
    EXPECT_EQ(both.budgets[1], reg.parameters.ceiling_events / 2);
    EXPECT_EQ(both.budgets[2], reg.parameters.ceiling_events / 2);
}

TEST(RegulatorDelay, B11_AnOverdrawnAccountStopsAllUntilItIsPaidBack)
{
    regulator reg = started(delay_parameters());
    regulator_sample sample = interval(0, others_most * 10, 2 * full, 2 * full);
    regulator_step(&reg, &sample); // four intervals of delay: two of each core
    EXPECT_LT(reg.account, 0);
    uint64_t stopped = 0;
    for (uint64_t number = 1; number < 1000 && !runs(reg, 1); number++, stopped++) {
        sample = interval(number, 0, 0, 0);
        regulator_step(&reg, &sample);
    }
    EXPECT_NEAR(static_cast<double>(stopped), (4 - 2.55) / 0.05, 2);
}

TEST(RegulatorDelay, B11_IntervalsWithoutASampleArePaidForAsDelayAllTheTimeIfSomebodyWasFree)
{
    regulator reg = after(0, 0, 0); // both may run freely
    ASSERT_EQ(reg.number, 0u);
    regulator_sample sample = interval(3, 0, 0, 0);
    regulator_step(&reg, &sample);
    EXPECT_NEAR(account_of(reg), 2.55 + 0.05 - 2, 0.01);
    reg = after(2500, 0, 0); // neither may
    sample = interval(3, 0, 0, 0);
    regulator_step(&reg, &sample);
    EXPECT_NEAR(account_of(reg), 2.55 + 0.05, 0.01);
}

TEST(RegulatorDelay, B11_ThresholdTrafficHorizonAndDelaysAreChecked)
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
        // a regulated core that is never charged would never be stopped
        {REGULATOR_ERROR_DELAY, [](regulator_parameters &p) { p.event_delays[2] = 0; }},
        {REGULATOR_ERROR_DELAY,
         [](regulator_parameters &p) {
             p.regulated |= 1U << 7;
             p.budget_events[7] = p.floor_events;
         }},
    };
    for (const auto &one : bad) {
        regulator_parameters parameters = delay_parameters();
        one.change(parameters);
        EXPECT_EQ(regulator_check(&parameters), one.error);
    }
}

TEST(RegulatorDelay, B11_TheSmallestDelayIsNotZeroInAnyInterval)
{
    for (const uint64_t interval_ps : {uint64_t{1'000}, uint64_t{1} << 32, uint64_t{1'000'000'000'000}}) {
        EXPECT_EQ(regulator_event_delay(0, interval_ps), 0u);
        EXPECT_GE(regulator_event_delay(1, interval_ps), 1u);
        EXPECT_LE(regulator_event_delay(UINT32_MAX, interval_ps), UINT32_MAX);
    }
    EXPECT_EQ(regulator_event_delay(1'000'000, uint64_t{1} << 33), 500'000u);
    EXPECT_EQ(regulator_event_delay(1'000'001, uint64_t{1} << 33), 500'001u);
}

constexpr unsigned slots = 10; // of an interval: events in a slot are delayed by traffic in the same slot

using spread = std::array<double, slots>; // events of each

// The players: the others, and a regulated core that knows whether it has more than its floor. It may be off
// while an interval ends.
struct players {
    std::function<spread(uint64_t number)> others;
    std::function<spread(uint64_t number, unsigned core, bool free)> mover;
    std::function<bool(uint64_t number, unsigned core)> leaves = [](uint64_t, unsigned) { return false; };
};

// The cores of a game: each counts its events, and posts them or leaves at the end of an interval.
class game_cores {
public:
    explicit game_cores(regulator &steps) : regulator_(steps)
    {
        regulator_exchange_init(&exchange_, (1u << count) - 1, 0);
        for (unsigned core = 0; core < count; core++) {
            budgets_[core] = budget_of(reservation_of(steps.budgets[core], interval_ticks));
            EXPECT_TRUE(regulated_init(&cores_[core], &budgets_[core], &exchange_, core));
            budget_start(&budgets_[core], 0);
            load(core, 0);
        }
    }

    // Ends interval `number`, in which the cores moved `events`.
    void end(uint64_t number, const std::array<uint32_t, 3> &events, const players &who)
    {
        const uint64_t now = (number + 1) * interval_ticks;
        uint32_t away = 0;
        for (unsigned core = 0; core < count; core++) {
            counters_[core].count(0, events[core]);
            if (core != 0 && who.leaves(number, core)) {
                away |= 1u << core;
                leave(core, now - 5);
            }
        }
        for (unsigned core = 0; core < count; core++) {
            regulator_sample sample{};
            if ((away >> core & 1) == 0 &&
                regulated_timer(&cores_[core], now, counters_[core].stop(), &sample)) {
                step(core, sample);
            }
        }
        for (unsigned core = 0; core < count; core++) {
            if ((away >> core & 1) != 0) {
                budget_start(&budgets_[core], now + 5);
                regulated_join(&cores_[core]);
            }
            load(core, now + 5);
        }
        EXPECT_EQ(regulator_.number, number);
    }

private:
    static constexpr unsigned count = 3;
    static constexpr uint64_t interval_ticks = 1000;

    void leave(unsigned core, uint64_t now)
    {
        regulator_sample sample{};
        budget_save(&budgets_[core], counters_[core].stop());
        EXPECT_FALSE(regulated_leave(&cores_[core], now, &sample)); // core 0 stays
        budget_stop(&budgets_[core], now);
    }

    void step(unsigned core, regulator_sample &sample)
    {
        for (const uint32_t accesses : sample.accesses) {
            sample.traffic_events += accesses;
        }
        (void)regulated_step(&cores_[core], &regulator_, &sample);
    }

    void load(unsigned core, uint64_t now) { counters_[core].obey(regulated_load(&cores_[core], now)); }

    regulator &regulator_;
    regulator_exchange exchange_{};
    std::array<budget, count> budgets_{};
    std::array<regulated_core, count> cores_{};
    std::array<fake_counters, count> counters_{fake_counters(32), fake_counters(32), fake_counters(32)};
};

// The traffic of a core ends with its budget; in each slot it is limited to what the core can move.
spread within_budget(spread wanted, uint64_t budget)
{
    double left = static_cast<double>(budget);
    for (double &events : wanted) {
        events = std::min({events, left, static_cast<double>(full) / slots});
        left -= events;
    }
    return wanted;
}

uint32_t sum_of(const spread &events)
{
    return static_cast<uint32_t>(std::accumulate(events.begin(), events.end(), 0.5));
}

// The delay of the others in the worst window of `length` intervals; in intervals. In a slot the cores share
// what the memory can move.
double worst_delay(const players &who, uint64_t length, uint64_t count)
{
    regulator reg = started(delay_parameters());
    game_cores cores(reg);
    std::vector<double> delays;
    for (uint64_t number = 0; number < count; number++) {
        const spread others = who.others(number);
        const spread first = within_budget(who.mover(number, 1, runs(reg, 1)), reg.budgets[1]);
        const spread second = within_budget(who.mover(number, 2, runs(reg, 2)), reg.budgets[2]);
        spread moved_first{};
        spread moved_second{};
        double delay = 0;
        for (unsigned slot = 0; slot < slots; slot++) {
            const double can = static_cast<double>(full) / slots;
            const double asked = first[slot] + second[slot];
            const double part = asked > can ? can / asked : 1;
            moved_first[slot] = first[slot] * part;
            moved_second[slot] = second[slot] * part;
            delay += others[slot] * (moved_first[slot] / can / 10000 + moved_second[slot] / can / 2500);
        }
        delays.push_back(delay);
        cores.end(number, {sum_of(others), sum_of(moved_first), sum_of(moved_second)}, who);
    }
    double worst = 0;
    double window = 0;
    for (std::size_t i = 0; i < delays.size(); i++) {
        window += delays[i] - (i >= length ? delays[i - length] : 0);
        worst = std::max(worst, window);
    }
    return worst;
}

// The guarantee: the share of the window, the savings, the unforeseen delay of one interval, and the delay by
// the floors. No slot delays the others by more than its own length.
double promised(uint64_t length)
{
    const double floors = static_cast<double>(length) * 2 * 10 / full;
    return 0.05 * static_cast<double>(length) + 0.05 * horizon + 1 + floors;
}

spread even(double events)
{
    spread made{};
    made.fill(events / slots);
    return made;
}

// All in one slot, limited to what the memory delivers there while the core of the greater delay moves lines.
spread burst(double events)
{
    spread made{};
    made[3] = std::min(events, 2500.0 / slots);
    return made;
}

TEST(RegulatorDelay, B11_TheDelayOfAnyWindowIsWithinThePromiseWhoeverPlaysAndWhenever)
{
    std::mt19937_64 random(7);
    const auto all = [](uint64_t, unsigned, bool) { return even(full); };
    const auto at_the_burst = [](uint64_t, unsigned, bool) { return burst(full); };
    const auto any = [&random](uint64_t, unsigned, bool) {
        return random() % 2 == 0 ? even(static_cast<double>(random() % full)) : burst(full);
    };
    const auto in_turns = [](uint64_t period, uint64_t quiet, double most) {
        return [=](uint64_t number) { return even(number % period < quiet ? 10.0 : most); };
    };
    const auto lurking = [](uint64_t period, uint64_t quiet) {
        return [=](uint64_t number, unsigned, bool) { return even(number % period < quiet ? 0 : full); };
    };
    const std::vector<players> games = {
        {[](uint64_t) { return even(others_most); }, all},
        {[](uint64_t) { return even(300); }, all},
        {[](uint64_t) { return burst(full); }, all},
        {[](uint64_t) { return burst(full); }, at_the_burst},
        {in_turns(2, 1, others_most), all},
        {in_turns(100, 50, others_most), all},
        {[&random](uint64_t) { return even(static_cast<double>(random() % others_most)); }, any},
        {[&random](uint64_t) { return burst(static_cast<double>(random() % full)); }, any},
        // a core that moves lines only when the others read most, after all have saved up
        {in_turns(150, 130, others_most), lurking(150, 130)},
        {in_turns(7, 6, others_most), lurking(7, 6)},
        // a core that is off whenever its events would be posted, or now and then
        {[](uint64_t) { return even(others_most); }, all, [](uint64_t, unsigned) { return true; }},
        {[](uint64_t) { return burst(full); }, at_the_burst, [](uint64_t, unsigned) { return true; }},
        {in_turns(2, 1, others_most), all, [](uint64_t number, unsigned) { return number % 2 != 0; }},
        {[&random](uint64_t) { return even(static_cast<double>(random() % others_most)); }, any,
         [&random](uint64_t, unsigned) { return random() % 3 == 0; }},
    };
    for (std::size_t game = 0; game < games.size(); game++) {
        for (const uint64_t length : {1, 10, 100, 1000}) {
            EXPECT_LE(worst_delay(games[game], length, 5000), promised(length)) << game << ", " << length;
        }
    }
}

} // namespace
} // namespace regulator_delay_test
