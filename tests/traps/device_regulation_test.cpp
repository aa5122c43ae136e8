// SPDX-License-Identifier: Apache-2.0
// A device that the regulator of cores changes, at EL2 (B11): its registers follow its budget from interval
// to interval, are written only when the rate changes, and keep what a manager cannot hold.
#include "hosted_machine.h"
#include <algorithm>
#include <array>
#include <bit>
#include <gtest/gtest.h>
#include <map>
#include <vector>

extern "C" {
#include "arch/hosted/fake_registers.h"
#include "time/device_regulators.h"
#include "time/regulation.h"
}

namespace device_regulation_test {
namespace {

using namespace bulkhead_test;

constexpr uint64_t interval_ticks = 62500; // 1 ms
constexpr uint32_t traffic = 0x17;
constexpr uint32_t hypervisor_timer = 26;
constexpr uint64_t write_rate = 0x120;
constexpr uint64_t read_rate = 0x12C;

// The registers in front of the device, and the writes since the start.
struct {
    std::map<uint64_t, uint32_t> words;
    std::vector<uint64_t> writes;
} model;

bool read_register(uint64_t offset, unsigned, uint64_t *value)
{
    *value = model.words[offset];
    return true;
}

bool write_register(uint64_t offset, unsigned, uint64_t value)
{
    model.words[offset] = static_cast<uint32_t>(value);
    model.writes.push_back(offset);
    return true;
}

// The manager's domain is on core 0 and is only counted; cores 1 and 3, and the device, are regulated.
void regulate(SampleManifest &m)
{
    m.header.platform.traffic_event = traffic;
    for (manifest_domain &domain : m.domains) {
        domain.flags |= BH_DOMAIN_FLAG_BUDGET;
        domain.budget_period_ns = 1'000'000;
    }
    m.domains[0].flags |= BH_DOMAIN_FLAG_MANAGER;
    m.domains[0].budget_events = BH_UNLIMITED_EVENTS;
    m.domains[1].budget_events = 1000;
    manifest_regulation &regulation = m.header.regulation;
    regulation.policy = BH_REGULATION_POLICY_DYNAMIC_BANDWIDTH;
    regulation.bandwidth_threshold_events = 15000;
    regulation.interval_ns = 1'000'000;
    regulation.ceiling_events = 1 << 20;
    regulation.store_samples = 1;
    regulation.members = 0b1011;
    regulation.regulated = 0b1010;
    regulation.budget_events[0] = BH_UNLIMITED_EVENTS;
    regulation.budget_events[1] = regulation.budget_events[3] = 1000;
    give_regulated_device(m);
}

class DeviceRegulation : public testing::Test {
protected:
    DeviceRegulation() : machine(regulate)
    {
        model = {};
        fake_map(sample_regulators_pa, 0x1000, read_register, write_register);
        EXPECT_EQ(device_regulators_init(), 0U);
        machine.on_core(1);
        machine.on_core(0);
        model.writes.clear();
    }

    // Both cores end an interval in which core 0 had this many events, and core 1.
    void interval(uint32_t events, uint32_t regulated_events = 0)
    {
        fake_switch_core(1);
        fake_pmu_cause(traffic, FAKE_EL1, regulated_events);
        fake_switch_core(0);
        fake_pmu_cause(traffic, FAKE_EL1, events);
        ticks_ += interval_ticks;
        fake_clock_set(ticks_);
        for (uint32_t core : {0U, 1U}) {
            fake_switch_core(core);
            fake_gic_raise(hypervisor_timer);
            machine.interrupt();
        }
        fake_switch_core(0);
        machine.interrupt();
    }

    static uint32_t rate() { return model.words[write_rate] >> 20; }

    static const status_device_limit &status() { return cpu_at(0)->status->devices[0]; }

    uint64_t change(const manifest_regulation &to)
    {
        const auto words = std::bit_cast<std::array<uint64_t, BH_REGULATION_WORDS>>(to);
        guest_regs &regs = machine.on_core(0);

        std::copy(words.begin() + 3, words.end(), regs.x + 4);
        return machine.hvc(BH_HYPERCALL_REGULATION_CHANGE, words[0], words[1], words[2]);
    }

    HostedMachine machine;

private:
    uint64_t ticks_ = 0;
};

TEST_F(DeviceRegulation, B11_TheRegistersFollowWhatTheRealTimeCoreLeaves)
{
    EXPECT_EQ(rate(), sample_device_rate);
    for (int i = 0; i < 60; i++) {
        interval(1000);
    }
    EXPECT_NEAR(rate(), 27, 2) << "14,000 events without the floors of two cores, in units of 488";
    for (int i = 0; i < 60; i++) {
        interval(14900);
    }
    EXPECT_EQ(rate(), 1U) << "the least that they hold, however much the core reads";
    EXPECT_EQ(model.words[read_rate], model.words[write_rate]) << "half in each direction";
}

TEST_F(DeviceRegulation, B11_OnlyAnotherRateIsWrittenAndTheLimitStaysEnabled)
{
    for (int i = 0; i < 60; i++) {
        interval(1000);
    }
    const auto expected = static_cast<size_t>(status().changes) * 2;
    EXPECT_EQ(model.writes.size(), expected);
    EXPECT_GT(expected, 20U);
    for (uint64_t offset : model.writes) {
        EXPECT_TRUE(offset == write_rate || offset == read_rate) << std::hex << offset;
    }
    for (int i = 0; i < 70; i++) {
        if (i == 60) {
            model.writes.clear();
        }
        interval(14900);
    }
    EXPECT_EQ(rate(), 1U);
    EXPECT_TRUE(model.writes.empty()) << "it has had its floor for ten intervals";
}

TEST_F(DeviceRegulation, B11_StatusAndOutcomeHaveItsBudget)
{
    interval(1000);
    interval(1000);
    EXPECT_EQ(status().rate, rate());
    EXPECT_GT(status().limit_events, sample_device_events);
    EXPECT_EQ(status().limit_max_events, status().limit_events);
    EXPECT_EQ(status().limit_sum_events, status().limit_min_events + status().limit_events);
    EXPECT_EQ(regulation_latest().device_events, status().limit_events);
    EXPECT_EQ(status().limit_events / 488, rate()) << "488.3 events are a unit";
    EXPECT_EQ(cpu_at(0)->status->devices[1].limit_sum_events, 0U);
}

TEST_F(DeviceRegulation, B8_AManagerSetsItBackToTheRateAtTheStart)
{
    for (int i = 0; i < 30; i++) {
        interval(1000);
    }
    ASSERT_GT(rate(), sample_device_rate);
    manifest_regulation to = system_manifest()->regulation;
    to.policy = BH_REGULATION_POLICY_FIXED;
    ASSERT_EQ(change(to), 0U);
    interval(1000);
    EXPECT_EQ(rate(), sample_device_rate);
}

TEST_F(DeviceRegulation, B8_AShorterIntervalChangesTheRateWhenItBegins)
{
    manifest_regulation to = system_manifest()->regulation;
    to.policy = BH_REGULATION_POLICY_FIXED;
    to.interval_ns /= 2;
    ASSERT_EQ(change(to), 0U);
    interval(1000);
    EXPECT_EQ(rate(), sample_device_rate) << "the interval that begins still has the old length";
    interval(1000);
    EXPECT_EQ(rate(), 2 * sample_device_rate) << "the same events in half the time";
}

// The floor of a shorter interval is less than the registers can hold in the longer one that begins.
TEST_F(DeviceRegulation, B8_TheLimitIsNeverTurnedOff)
{
    for (int i = 0; i < 60; i++) {
        interval(14900);
    }
    ASSERT_EQ(rate(), 1U);
    manifest_regulation to = system_manifest()->regulation;
    to.interval_ns /= 10;
    to.bandwidth_threshold_events /= 10;
    to.floor_events = sample_device_unit / 10 + 1;
    ASSERT_EQ(change(to), 0U);
    interval(16000, 5000);
    EXPECT_LT(status().limit_events, sample_device_unit) << "so little that the registers cannot hold it";
    EXPECT_EQ(rate(), 1U);
}

TEST_F(DeviceRegulation, B8_AManagerCannotAskForWhatTheRegistersDoNotHold)
{
    manifest_regulation to = system_manifest()->regulation;
    to.floor_events = sample_device_unit - 1;
    EXPECT_NE(change(to), 0U);
    EXPECT_EQ(machine.on_core(0).x[1], offsetof(manifest_regulation, floor_events) / 8);
    to = system_manifest()->regulation;
    to.budget_events[sample_device_place]++;
    EXPECT_NE(change(to), 0U) << "the rate at the start is the system file's";
}

} // namespace
} // namespace device_regulation_test
