// SPDX-License-Identifier: Apache-2.0
// A device as a master of the regulator of cores (B11): conversion between budgets and rates, what a sample
// says of it, its share of the feedback, and its part in admission.
#include "core/budget_admission.h"
#include "core/regulated_device.h"
#include "sample_manifest.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace regulated_device_test {
namespace {

constexpr uint64_t ms = 1'000'000;
constexpr uint32_t other_number = 3; // of another regulated device
constexpr uint32_t other_place = 7;

// Core 0 is counted, cores 1 and 3 and the device are regulated by the memory's traffic: 15,000 events, 960
// MB/s.
void regulate(SampleManifest &m)
{
    m.header.platform.traffic_event = 0x17;
    for (manifest_domain &domain : m.domains) {
        domain.flags |= BH_DOMAIN_FLAG_BUDGET;
        domain.budget_period_ns = ms;
        domain.budget_events = 1000;
    }
    m.domains[0].flags |= BH_DOMAIN_FLAG_REALTIME;
    m.domains[1].flags &= ~uint32_t{BH_DOMAIN_FLAG_REALTIME};
    m.domains[0].budget_events = BH_UNLIMITED_EVENTS;
    manifest_regulation &regulation = m.header.regulation;
    regulation.policy = BH_REGULATION_POLICY_DYNAMIC_BANDWIDTH;
    regulation.bandwidth_threshold_events = 15000;
    regulation.interval_ns = ms;
    regulation.ceiling_events = 1 << 20;
    regulation.members = 0b1011;
    regulation.regulated = 0b1010;
    regulation.budget_events[0] = BH_UNLIMITED_EVENTS;
    regulation.budget_events[1] = regulation.budget_events[3] = 1000;
    give_regulated_device(m);
}

class RegulatedDevice : public testing::Test {
protected:
    RegulatedDevice()
    {
        regulate(*sample);
        sample->seal();
    }

    manifest_device_regulators &device() { return sample->header.device_regulators; }

    std::unique_ptr<SampleManifest> sample = make_sample_manifest();
};

TEST_F(RegulatedDevice, B11_HasAPlaceBehindTheCores)
{
    ASSERT_EQ(sample->check().error, BH_MANIFEST_ERROR_NONE) << "at " << sample->check().offset;
    EXPECT_EQ(regulated_device_place(&sample->header, 0), sample_device_place);
    EXPECT_GE(regulated_device_place(&sample->header, 1), uint32_t{BH_MAX_CORES}) << "constant, or none";
    EXPECT_EQ(regulated_devices(&sample->header), 1U << sample_device_place);
    sample->header.cpus.count = BH_MAX_CORES;
    EXPECT_EQ(regulated_devices(&sample->header), 0U) << "no room behind eight cores";
}

TEST_F(RegulatedDevice, B11_ItsRateIsTheLargestThatKeepsTheBudget)
{
    const auto rate = [&](uint64_t events, uint64_t interval_ns = ms) {
        return regulated_device_rate(&device(), 0, events, interval_ns);
    };
    EXPECT_EQ(rate(sample_device_unit - 1), 0U);
    EXPECT_EQ(rate(sample_device_unit), 1U);
    EXPECT_EQ(rate(sample_device_events), sample_device_rate);
    EXPECT_EQ(rate(sample_device_events, 10 * ms), 1U) << "the same events in a longer time";
    EXPECT_EQ(rate(REGULATOR_MAX_EVENTS), 546U);

    std::mt19937_64 random(11);
    for (int i = 0; i < 100'000; i++) {
        device().unit_events[0] = static_cast<uint32_t>(random() >> (32 + random() % 32)) | 1;
        device().most[0] = 1 + static_cast<uint32_t>(random() % 4095);
        const uint64_t events = random() % (REGULATOR_MAX_EVENTS + 1);
        const uint64_t interval_ns = 10'000 + random() % 999'990'001;
        const uint32_t found = rate(events, interval_ns);
        const double moved =
            static_cast<double>(device().unit_events[0]) * static_cast<double>(interval_ns) / 1e9;
        ASSERT_LE(found * moved, static_cast<double>(events) * (1 + 1e-12));
        ASSERT_TRUE(found == device().most[0] ||
                    (found + 1) * moved > static_cast<double>(events) * (1 - 1e-12));
        const double most = device().most[0] * moved;
        const auto rounded = static_cast<double>(regulated_device_most(&device(), 0, interval_ns));
        ASSERT_GE(rounded, most * (1 - 1e-12));
        ASSERT_LE(rounded, most * (1 + 1e-12) + 1);
    }
}

TEST_F(RegulatedDevice, B11_ASampleHasItsBudgetUnlessTheDeviceIsNotHeld)
{
    uint64_t budgets[REGULATOR_MAX_CORES] = {7, 7, 7, 7, sample_device_events};
    regulator_sample seen{};
    seen.accesses[1] = 99;
    regulated_devices_post(&sample->header, budgets, ms, &seen);
    EXPECT_EQ(seen.accesses[sample_device_place], sample_device_events);
    EXPECT_EQ(seen.accesses[1], 99U) << "cores count for themselves";
    EXPECT_EQ(seen.throttled, 1U << sample_device_place) << "nothing says that it wanted less";

    budgets[sample_device_place] = 1 << 29;
    seen = {};
    regulated_devices_post(&sample->header, budgets, ms, &seen);
    EXPECT_EQ(seen.accesses[sample_device_place], regulated_device_most(&device(), 0, ms));
    EXPECT_EQ(seen.throttled, 0U) << "it may move all that it can";
}

TEST_F(RegulatedDevice, B11_TwoDevicesPostForThemselves)
{
    device().unit_events[other_number] = 1;
    device().most[other_number] = 4095;
    const uint64_t budgets[REGULATOR_MAX_CORES] = {0, 0, 0, 0, 600, 0, 0, 3};
    regulator_sample seen{};
    regulated_devices_post(&sample->header, budgets, ms, &seen);
    EXPECT_EQ(seen.accesses[sample_device_place], 600U);
    EXPECT_EQ(seen.accesses[other_place], 3U);
    EXPECT_EQ(regulated_devices(&sample->header), 1U << sample_device_place | 1U << other_place);
}

// The feedback of the policies, with the device as one of its masters.
class Shared : public RegulatedDevice {
protected:
    Shared()
    {
        regulator_parameters parameters;
        manifest_regulator(&sample->header.regulation, &sample->header.delays, ms, &parameters);
        EXPECT_EQ(regulator_check(&parameters), REGULATOR_ERROR_NONE);
        regulator_init(&regulator, &parameters);
    }

    // An interval in which core 0 has `realtime` events, and each regulated core what it wants of its budget.
    void step(uint64_t realtime, uint64_t wanted)
    {
        regulator_sample seen{};
        seen.number = number++;
        seen.elapsed_ticks = ms;
        seen.accesses[0] = static_cast<uint32_t>(realtime);
        for (uint32_t core : {1U, 3U}) {
            seen.accesses[core] = static_cast<uint32_t>(std::min(wanted, regulator.budgets[core]));
            seen.throttled |= wanted > regulator.budgets[core] ? 1U << core : 0;
        }
        regulated_devices_post(&sample->header, regulator.budgets, ms, &seen);
        for (uint32_t accesses : seen.accesses) {
            seen.traffic_events += accesses;
        }
        ASSERT_TRUE(regulator_step(&regulator, &seen));
    }

    uint64_t rest() const { return regulator.budgets[sample_device_place]; }

    struct regulator regulator {};
    uint64_t number = 0;
};

TEST_F(Shared, B11_TheDeviceGetsWhatTheRealTimeCoreLeaves)
{
    for (int i = 0; i < 200; i++) {
        step(1000, 0);
    }
    EXPECT_NEAR(static_cast<double>(rest()), 14000 - 2 * sample_device_unit, 1000) << "the core computes";
    for (int i = 0; i < 100; i++) {
        step(12000, 0);
    }
    EXPECT_NEAR(static_cast<double>(rest()), 3000, 500) << "the core reads; the others use nothing";
    for (int i = 0; i < 100; i++) {
        step(20000, 0);
    }
    EXPECT_EQ(rest(), sample_device_unit) << "its floor, which its registers can hold";
    EXPECT_EQ(regulated_device_rate(&device(), 0, rest(), ms), 1U);
}

TEST_F(Shared, B11_SharesAreThoseOfTheAccessesAndACoreKeepsTheFloorBesideTheDevice)
{
    step(1000, 1000);
    EXPECT_NEAR(static_cast<double>(rest()) / static_cast<double>(regulator.budgets[1]),
                sample_device_events / 1000.0, 0.01);
    step(1000, 0);
    EXPECT_EQ(regulator.budgets[1], sample_device_unit);
    EXPECT_EQ(regulator.budgets[3], sample_device_unit);
    EXPECT_EQ(regulator.budgets[0], REGULATOR_UNLIMITED);
    const auto of_device = static_cast<double>(rest());
    step(1000, 100'000); // the cores are throttled at the floor: each counts half of the mean
    EXPECT_NEAR(static_cast<double>(rest()) / static_cast<double>(regulator.budgets[1]),
                of_device / ((of_device + 2.0 * sample_device_unit) / 6), 0.01);
}

// Admission: the budget at the start counts, as that of a regulated core.
class Admitted : public RegulatedDevice {
protected:
    // Bytes per s that all budgets may have together.
    manifest_verdict limited(uint64_t bytes_per_s)
    {
        sample->domains[0].budget_events = 1000;
        sample->header.regulation.budget_events[0] = 1000;
        sample->header.bandwidth.event_bytes = 64;
        sample->header.bandwidth.limit_bytes_per_s = bytes_per_s;
        sample->seal();
        return sample->check();
    }
};

TEST_F(Admitted, B11_AsItsBudgetAtTheStart)
{
    const uint64_t all = (3 * 2 * 1000 + sample_device_events) * 64 * 1000; // cores: refills and write-backs
    EXPECT_EQ(limited(all).error, BH_MANIFEST_ERROR_NONE) << "at " << limited(all).offset;
    EXPECT_EQ(limited(all - 1).error, BH_MANIFEST_ERROR_BANDWIDTH);
}

TEST_F(Admitted, B11_ForTheShortestInterval)
{
    const uint64_t all = (3 * 2 * 1000 + sample_device_events) * 64 * 1000;
    ASSERT_EQ(limited(all).error, BH_MANIFEST_ERROR_NONE);
    admission_state state{};
    admission_begin(&sample->header, &state);
    EXPECT_EQ(admission_of_regulation(&sample->header, &state).word, uint32_t{BH_REGULATION_WORDS});
    state.regulation.budget_events[0] = state.regulation.budget_events[1] = 1;
    state.regulation.budget_events[3] = 1;
    state.shortest_interval_ns = ms / 4; // the device alone: 20,000 events in 1 ms
    const regulation_verdict verdict = admission_of_regulation(&sample->header, &state);
    EXPECT_EQ(verdict.word, offsetof(manifest_regulation, budget_events) / 8 + sample_device_place);
    EXPECT_LT(verdict.most, sample_device_events);
}

TEST_F(RegulatedDevice, B11_AChangeThatTheRegistersCannotHoldIsFound)
{
    constexpr uint32_t floor_word = offsetof(manifest_regulation, floor_events) / 8;
    constexpr uint32_t device_word = offsetof(manifest_regulation, budget_events) / 8 + sample_device_place;
    manifest_regulation to = sample->header.regulation;

    EXPECT_EQ(manifest_regulation_bad_word(&sample->header, &to), uint32_t{BH_REGULATION_WORDS});
    to.interval_ns = 2 * ms; // a unit is twice as many events
    EXPECT_EQ(manifest_regulation_bad_word(&sample->header, &to), floor_word);
    to.policy = BH_REGULATION_POLICY_FIXED; // which has no floor
    EXPECT_EQ(manifest_regulation_bad_word(&sample->header, &to), uint32_t{BH_REGULATION_WORDS});
    to.interval_ns = 20 * ms;
    EXPECT_EQ(manifest_regulation_bad_word(&sample->header, &to), device_word);
}

} // namespace
} // namespace regulated_device_test
