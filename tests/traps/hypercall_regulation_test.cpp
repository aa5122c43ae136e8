// SPDX-License-Identifier: Apache-2.0
// Calls of managers for the regulator's parameters (B8): read and changed as a whole, in force from the next
// interval on for all cores; an invalid call changes nothing.
#include "hosted_machine.h"
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <gtest/gtest.h>

extern "C" {
#include "core/regulator_policy.h"
#include "time/regulation.h"
#include "time/statistics.h"
}

namespace hypercall_regulation_test {
namespace {

using namespace bulkhead_test;

constexpr uint32_t control = 0; // the manager, on core 0: counted
constexpr uint32_t linux_ = 1;  // on core 1: regulated; its other core, 3, is off
constexpr uint64_t interval_ticks = 62500;
constexpr uint32_t traffic = 0x17;
constexpr uint32_t hypervisor_timer = 26;

constexpr uint64_t failed(bh_hypercall_error error)
{
    return static_cast<uint64_t>(-static_cast<int64_t>(error));
}

using Words = std::array<uint64_t, BH_REGULATION_WORDS>;

Words words_of(const manifest_regulation &from)
{
    return std::bit_cast<Words>(from);
}

void regulate(SampleManifest &m)
{
    m.header.platform.traffic_event = traffic;
    for (manifest_domain &domain : m.domains) {
        domain.flags |= BH_DOMAIN_FLAG_BUDGET;
        domain.budget_period_ns = 1'000'000;
    }
    m.domains[control].flags |= BH_DOMAIN_FLAG_MANAGER;
    m.domains[control].budget_events = BH_UNLIMITED_EVENTS;
    m.domains[linux_].budget_events = 500;
    manifest_regulation &regulation = m.header.regulation;
    regulation.policy = BH_REGULATION_POLICY_DYNAMIC_BANDWIDTH;
    regulation.bandwidth_threshold_events = 10000;
    regulation.interval_ns = 1'000'000;
    regulation.floor_events = 10;
    regulation.ceiling_events = 1 << 20;
    regulation.store_samples = 1;
    regulation.members = 0b1011;
    regulation.regulated = 0b1010;
    regulation.budget_events[0] = BH_UNLIMITED_EVENTS;
    regulation.budget_events[1] = regulation.budget_events[3] = 500;
}

class HypercallRegulation : public testing::Test {
protected:
    explicit HypercallRegulation(
        void (*prepare)(SampleManifest &) = regulate, const std::function<void()> &hardware = [] {})
        : machine(prepare, hardware)
    {
        machine.on_core(1);
        machine.on_core(0);
        before = read();
    }

    manifest_regulation read()
    {
        guest_regs &regs = machine.on_core(0);
        Words words{};

        EXPECT_EQ(machine.hvc(BH_HYPERCALL_REGULATION_READ), 0u);
        std::copy_n(regs.x + 1, words.size(), words.begin());
        return std::bit_cast<manifest_regulation>(words);
    }

    uint64_t change(const manifest_regulation &to, uint32_t core = 0)
    {
        const Words words = words_of(to);
        guest_regs &regs = machine.on_core(core);

        std::copy(words.begin() + 3, words.end(), regs.x + 4);
        return machine.hvc(BH_HYPERCALL_REGULATION_CHANGE, words[0], words[1], words[2]);
    }

    // The core's interval ends when `ticks` have passed since the start.
    void interval_ends(uint32_t core, uint64_t ticks)
    {
        fake_clock_set(ticks);
        fake_switch_core(core);
        fake_gic_raise(hypervisor_timer);
        machine.interrupt();
    }

    // Handles requests of other cores.
    void notice(uint32_t core)
    {
        fake_switch_core(core);
        machine.interrupt();
    }

    static uint64_t limit(uint32_t core)
    {
        return cpu_at(core)->bandwidth.budget.reservation.parameters.limit_events[0];
    }

    HostedMachine machine;
    manifest_regulation before{};
};

TEST_F(HypercallRegulation, B8_IsReadAsTheManifestHasIt)
{
    EXPECT_EQ(words_of(before), words_of(system_manifest()->regulation));
}

TEST_F(HypercallRegulation, B8_AChangeHoldsForAllCoresFromTheSameInterval)
{
    manifest_regulation to = before;
    to.policy = BH_REGULATION_POLICY_FIXED;
    to.budget_events[0] = 2000;
    to.budget_events[1] = 800;
    ASSERT_EQ(change(to), 0u);
    EXPECT_EQ(words_of(read()), words_of(to)) << "what was asked for last";
    EXPECT_EQ(limit(0), BH_UNLIMITED_EVENTS);
    EXPECT_EQ(limit(1), 500u);
    interval_ends(0, interval_ticks);
    EXPECT_EQ(limit(0), BH_UNLIMITED_EVENTS) << "core 1 is not there yet";
    interval_ends(1, interval_ticks);
    EXPECT_EQ(limit(1), 800u);
    notice(0);
    EXPECT_EQ(limit(0), 2000u);
    EXPECT_EQ(system_status()->regulation.changes, 1u);
}

TEST_F(HypercallRegulation, B8_ALaterChangeReplacesOneThatWaits)
{
    manifest_regulation to = before;
    to.policy = BH_REGULATION_POLICY_FIXED;
    to.budget_events[1] = 800;
    ASSERT_EQ(change(to), 0u);
    to.budget_events[1] = 900;
    ASSERT_EQ(change(to), 0u);
    interval_ends(0, interval_ticks);
    interval_ends(1, interval_ticks);
    EXPECT_EQ(limit(1), 900u);
    EXPECT_EQ(system_status()->regulation.changes, 1u);
}

TEST_F(HypercallRegulation, B8_AnotherIntervalBeginsForAllWithTheNextButOne)
{
    manifest_regulation to = before;
    to.interval_ns *= 2;
    ASSERT_EQ(change(to), 0u);
    uint64_t ticks = interval_ticks;
    for (const uint64_t length : {interval_ticks, 2 * interval_ticks, 2 * interval_ticks}) {
        interval_ends(0, ticks);
        interval_ends(1, ticks);
        notice(0);
        ticks += length;
        for (uint32_t core : {0u, 1u}) {
            EXPECT_EQ(budget_deadline(&cpu_at(core)->bandwidth.budget), ticks) << core;
        }
    }
}

TEST_F(HypercallRegulation, B8_TheTrafficOfAnIntervalIsComparedWithWhatItsLengthAllows)
{
    manifest_regulation to = before;
    to.interval_ns *= 2;
    to.bandwidth_threshold_events *= 2;
    ASSERT_EQ(change(to), 0u);
    uint64_t ticks = 0;
    for (const uint64_t length : {interval_ticks, interval_ticks, 2 * interval_ticks}) {
        ticks += length;
        fake_switch_core(0);
        fake_pmu_cause(traffic, FAKE_EL1, static_cast<uint32_t>(5000 * length / interval_ticks));
        interval_ends(0, ticks);
        interval_ends(1, ticks);
        notice(0);
        EXPECT_NEAR(regulation_latest().load, 32768, 1) << ticks << ": half of it, all the time";
    }
}

TEST_F(HypercallRegulation, B8_WhatIsBadIsRefusedAndChangesNothing)
{
    struct Bad {
        const char *what;
        void (*damage)(manifest_regulation &);
        size_t offset; // of the field
    };
#define AT(field) offsetof(manifest_regulation, field)
    const Bad bad[] = {
        {"an unknown policy", [](auto &r) { r.policy = 9; }, AT(policy)},
        {"utilization that nobody counts",
         [](auto &r) {
             r.policy = BH_REGULATION_POLICY_DYNAMIC;
             r.threshold = 52429;
         },
         AT(policy)},
        {"an unknown hold", [](auto &r) { r.hold = 2; }, AT(hold)},
        {"a threshold of nothing", [](auto &r) { r.bandwidth_threshold_events = 0; },
         AT(bandwidth_threshold_events)},
        {"a horizon of nothing",
         [](auto &r) {
             r.policy = BH_REGULATION_POLICY_DYNAMIC_DELAY;
             r.threshold = 1 << 12;
         },
         AT(horizon_intervals)},
        {"delay all of the time",
         [](auto &r) {
             r.policy = BH_REGULATION_POLICY_DYNAMIC_DELAY;
             r.threshold = 1 << 16;
             r.horizon_intervals = 100;
         },
         AT(threshold)},
        {"delays that the manifest does not have",
         [](auto &r) {
             r.policy = BH_REGULATION_POLICY_DYNAMIC_DELAY;
             r.threshold = 1 << 12;
             r.horizon_intervals = 100;
         },
         AT(policy)},
        {"a step of all", [](auto &r) { r.step = 1 << 16; }, AT(step)},
        {"other members", [](auto &r) { r.members = 0b0011; }, AT(members)},
        {"a regulated core that is no member", [](auto &r) { r.regulated |= 0b0100; }, AT(regulated)},
        {"a regulated real-time core",
         [](auto &r) {
             r.regulated |= 0b0001;
             r.budget_events[0] = 500;
         },
         AT(regulated)},
        {"no regulated core", [](auto &r) { r.regulated = 0; }, AT(regulated)},
        {"samples of a third kind", [](auto &r) { r.store_samples = 2; }, AT(store_samples)},
        {"an interval of a moment", [](auto &r) { r.interval_ns = 9999; }, AT(interval_ns)},
        {"an interval without an end", [](auto &r) { r.interval_ns = ~uint64_t{0}; }, AT(interval_ns)},
        {"no floor", [](auto &r) { r.floor_events = 0; }, AT(floor_events)},
        {"a floor above a budget", [](auto &r) { r.floor_events = 501; }, AT(floor_events)},
        {"a ceiling below the budgets", [](auto &r) { r.ceiling_events = 999; }, AT(ceiling_events)},
        {"a budget without a limit", [](auto &r) { r.budget_events[1] = BH_UNLIMITED_EVENTS; },
         AT(budget_events[1])},
        {"a budget out of range", [](auto &r) { r.budget_events[3] = uint64_t{1} << 62; },
         AT(budget_events[3])},
        {"limits at saturation",
         [](auto &r) {
             r.budget_events[0] = 5000;
             r.saturation_events = 5000;
         },
         AT(saturation_events)},
        {"a budget of a core that nobody counts", [](auto &r) { r.budget_events[2] = 1; },
         AT(budget_events[2])},
        {"a budget of a core that is not there", [](auto &r) { r.budget_events[7] = 1; },
         AT(budget_events[7])},
    };
#undef AT
    for (const Bad &one : bad) {
        manifest_regulation to = before;
        one.damage(to);
        EXPECT_EQ(change(to), failed(BH_HYPERCALL_ERROR_INVALID_PARAMETERS)) << one.what;
        EXPECT_EQ(machine.regs(0).x[1], one.offset / sizeof(uint64_t)) << one.what;
        EXPECT_EQ(words_of(read()), words_of(before)) << one.what;
    }
    interval_ends(0, interval_ticks);
    interval_ends(1, interval_ticks);
    EXPECT_EQ(system_status()->regulation.changes, 0u);
    EXPECT_GT(limit(1), 0u);
}

TEST_F(HypercallRegulation, B8_IsForManagersAlone)
{
    machine.on_core(1);
    EXPECT_EQ(machine.hvc(BH_HYPERCALL_REGULATION_READ), failed(BH_HYPERCALL_ERROR_NOT_SUPPORTED));
    manifest_regulation to = before;
    to.hold = BH_REGULATION_HOLD_DECREASE;
    EXPECT_EQ(change(to, 1), failed(BH_HYPERCALL_ERROR_NOT_SUPPORTED));
    EXPECT_EQ(words_of(read()), words_of(before));
}

TEST_F(HypercallRegulation, B8_SamplesSayWhatTheRegulatorSawAndDid)
{
    fake_switch_core(0);
    fake_pmu_cause(traffic, FAKE_EL1, 2500);
    guest_regs &regs = machine.on_core(0);
    interval_ends(0, interval_ticks);
    machine.on_core(0);
    EXPECT_EQ(machine.hvc(BH_HYPERCALL_SAMPLE_READ, 0, 0), failed(BH_HYPERCALL_ERROR_NO_SAMPLE))
        << "the next budget is not known yet";
    interval_ends(1, interval_ticks);
    notice(0);
    const uint64_t global = system_status()->regulation.global_events;
    EXPECT_GT(global, 500u) << "the first interval lets it grow";
    for (uint64_t core : {0u, 1u}) {
        machine.on_core(0);
        ASSERT_EQ(machine.hvc(BH_HYPERCALL_SAMPLE_READ, core, 0), 0u) << core;
        status_sample sample;
        std::memcpy(&sample, regs.x + 3, sizeof sample);
        EXPECT_EQ(sample.time, interval_ticks);
        EXPECT_EQ(sample.events, core == 0 ? 2500u : 0u);
        EXPECT_EQ(sample.budget, limit(static_cast<uint32_t>(core)));
        EXPECT_EQ(sample.global_events, global);
        EXPECT_EQ(sample.utilization, 65536u / 4);
    }
}

// Core 0 is only counted, and its budget stays: after the first message the others leave it alone, and it
// writes the sample of an interval when the next one ends.
TEST_F(HypercallRegulation, B11_ACoreThatIsOnlyCountedIsNotInterruptedAndItsSampleComesAnIntervalLater)
{
    guest_regs &regs = machine.on_core(0);
    status_sample sample{};
    uint64_t global = 0;
    for (uint64_t number = 1; number <= 4; number++) {
        fake_switch_core(0);
        fake_pmu_cause(traffic, FAKE_EL1, 1000 * static_cast<uint32_t>(number));
        interval_ends(0, number * interval_ticks);
        if (number > 2) {
            machine.on_core(0);
            ASSERT_EQ(machine.hvc(BH_HYPERCALL_SAMPLE_READ, 0, number - 2), 0u) << number;
            std::memcpy(&sample, regs.x + 3, sizeof sample);
            EXPECT_EQ(sample.time, (number - 1) * interval_ticks);
            EXPECT_EQ(sample.events, 1000 * (number - 1));
            EXPECT_EQ(sample.budget, BH_UNLIMITED_EVENTS);
            EXPECT_EQ(sample.global_events, global) << "of the step at the end of this interval";
            EXPECT_NEAR(double(sample.utilization), 6553.6 * double(number - 1), 1);
        }
        interval_ends(1, number * interval_ticks);
        global = system_status()->regulation.global_events;
        EXPECT_EQ((cpu_at(0)->requests & CPU_REQUEST_BUDGETS) != 0, number == 1) << number;
        notice(0);
    }
}

TEST_F(HypercallRegulation, B8_AnIntervalThatNobodyCompletesHasASampleNevertheless)
{
    guest_regs &regs = machine.on_core(0);
    interval_ends(0, interval_ticks); // core 1 is late
    interval_ends(0, 2 * interval_ticks);
    machine.on_core(0);
    ASSERT_EQ(machine.hvc(BH_HYPERCALL_SAMPLE_READ, 0, 0), 0u);
    EXPECT_EQ(regs.x[3], interval_ticks);
}

TEST_F(HypercallRegulation, B8_SamplesAreAParameterToo)
{
    manifest_regulation to = before;
    to.store_samples = 0;
    ASSERT_EQ(change(to), 0u);
    EXPECT_EQ(read().store_samples, 0u);
    guest_regs &regs = machine.on_core(0);
    ASSERT_EQ(machine.hvc(BH_HYPERCALL_SAMPLES_STORE, 1), 0u);
    EXPECT_EQ(regs.x[1], 0u);
    EXPECT_EQ(read().store_samples, 1u);
}

constexpr uint64_t controller_pa = 0x0B00'0000; // counters of the memory controller

// All that a policy may need is there: delays, and counters of busy cycles.
void regulate_by_any_policy(SampleManifest &m)
{
    regulate(m);
    m.header.platform.utilization_pa = controller_pa;
    m.header.platform.utilization_cycles = 0x418;
    m.header.platform.utilization_busy = 0x41C;
    m.header.platform.utilization_control = 0x410;
    m.header.platform.utilization_bits = 32;
    m.header.regulation.horizon_intervals = 100;
    m.header.delays.event_ps[1] = m.header.delays.event_ps[3] = 100'000;
}

class HypercallPolicies : public HypercallRegulation {
protected:
    HypercallPolicies()
        : HypercallRegulation(regulate_by_any_policy,
                              [] { fake_map(controller_pa, BH_PAGE_BYTES, nullptr, nullptr); })
    {
    }
};

// Each policy of the table, so also one that is added later, is chosen while the system runs, with parameters
// of its own, and sets budgets from the next interval on.
TEST_F(HypercallPolicies, B8_B11_EachIsChosenAtRunTimeWithParametersOfItsOwn)
{
    uint64_t ticks = 0;
    uint64_t changes = 0;
    uint64_t position = 0;
    for (uint32_t policy = REGULATOR_STATIC; regulator_policy_at(policy) != nullptr; policy++) {
        const char *name = regulator_policy_at(policy)->name;
        manifest_regulation to = before;
        to.policy = policy;
        to.threshold = policy == REGULATOR_DELAY ? 1 << 12 : 1 << 15;
        to.budget_events[1] = to.budget_events[3] = 400 + policy;
        ASSERT_EQ(change(to), 0u) << name << ": " << machine.regs(0).x[1];
        EXPECT_EQ(words_of(read()), words_of(to)) << name;
        for (int i = 0; i < 3; i++) {
            fake_set_mmio32(controller_pa + 0x418, fake_mmio32(controller_pa + 0x418) + 1000);
            fake_set_mmio32(controller_pa + 0x41C, fake_mmio32(controller_pa + 0x41C) + 100);
            if (i == 1) { // for `dynamic-phases` another phase than the lowest
                fake_switch_core(0);
                fake_pmu_cause(traffic, FAKE_EL1, 9000);
            }
            ticks += interval_ticks;
            interval_ends(0, ticks);
            interval_ends(1, ticks);
            notice(0);
            if (i == 0) {
                EXPECT_EQ(system_status()->regulation.changes, ++changes) << name;
                EXPECT_EQ(limit(1), 400u + policy) << name;
            }
        }
        EXPECT_GE(limit(1), before.floor_events) << name;
        EXPECT_EQ(limit(1) == 400u + policy, policy == REGULATOR_STATIC) << name << ": " << limit(1);
        status_sample sample{};
        uint64_t dropped = 0;
        bool carries = false;
        while (statistics_read(cpu_at(1), &position, &sample, &dropped)) {
            carries = carries || sample.carried != 0;
        }
        EXPECT_EQ(carries, policy == REGULATOR_DELAY || policy == REGULATOR_PHASES) << name;
    }
    EXPECT_GE(changes, 6u);
}

TEST(HypercallNoRegulation, B8_IsNotThere)
{
    HostedMachine machine([](SampleManifest &m) { m.domains[control].flags |= BH_DOMAIN_FLAG_MANAGER; });
    machine.on_core(0);
    for (uint64_t function : {BH_HYPERCALL_REGULATION_READ, BH_HYPERCALL_REGULATION_CHANGE}) {
        EXPECT_EQ(machine.hvc(function), failed(BH_HYPERCALL_ERROR_NO_REGULATION));
    }
}

} // namespace
} // namespace hypercall_regulation_test
