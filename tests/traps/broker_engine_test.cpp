// SPDX-License-Identifier: Apache-2.0
// An engine that the broker programs itself, behind a model of an SMMU: what it reaches, and that a broker
// that ends gives no memory back before the SMMU aborts the engine (D3, F2, F8).
#include "smmu_fixture.h"
#include "smmu_model.h"
#include <gtest/gtest.h>

extern "C" {
#include "arch/hosted/fake_clock.h"
#include "core/broker_door.h"
#include "flow/flows.h"
#include "memory/placement.h"
#include "run/domain_life.h"
#include "vm/clock.h"
#include "vm/cpu.h"
#include "vm/domain.h"
#include "vm/rare_alarm.h"
}

namespace broker_engine_test {
namespace {

using namespace bulkhead_test;

constexpr uint32_t control = 0, linux_ = 1, broker = 2; // domains, and their first cores
constexpr uint64_t ram = 0x40000000;
constexpr uint64_t door_at = ram + 0x8000;
constexpr uint32_t hypervisor_timer = 26;
constexpr uint64_t psci_cpu_off = 0x84000002;

class BrokerEngine : public SmmuFixture {
protected:
    void boot()
    {
        boot_with(give_own_engine, [this] { smmu.plug_in(sample_smmu_pa); });
        ASSERT_TRUE(machine->booted()) << said();
    }

    uint64_t call(uint64_t function, uint64_t first = 0, uint64_t second = 0)
    {
        machine->on_core(broker);
        return machine->hvc(function, first, second);
    }

    static uint64_t physical(uint32_t domain, uint64_t at)
    {
        return placement_of(system_manifest(), domain_at(domain)->config, at, 1).pa.value;
    }

    // The engine's access to memory of a domain, where the broker sees it.
    std::optional<uint64_t> access(uint64_t pa)
    {
        return smmu.access(sample_engine_stream, BH_BROKER_WINDOW + pa);
    }

    static bool are_touched() { return flows_touch(domain_at(control)) && flows_touch(domain_at(linux_)); }
    static bool is_one_touched() { return flows_touch(domain_at(control)) || flows_touch(domain_at(linux_)); }

    // The alarm by which the broker's core asks the SMMU again.
    void ask_again()
    {
        fake_switch_core(broker);
        const uint64_t alarm = this_cpu()->rare_alarms[RARE_ALARM_QUIET];
        ASSERT_GT(alarm, clock_now());
        fake_gic_raise(hypervisor_timer);
        fake_clock_set(alarm);
        machine->take_while_idle();
    }

    SmmuModel smmu;
};

TEST_F(BrokerEngine, D3_ItReachesWhatTheBrokerReachesAndNothingElse)
{
    boot();
    for (const uint32_t domain : {control, linux_}) {
        EXPECT_EQ(access(physical(domain, ram)), physical(domain, ram));
    }
    EXPECT_EQ(smmu.access(sample_engine_stream, ram), physical(broker, ram)) << "the broker's own memory";
    for (const uint64_t pa : {physical(broker, ram), uint64_t{0x70000000}, uint64_t{0}}) {
        EXPECT_EQ(access(pa), std::nullopt) << std::hex << pa;
    }
    EXPECT_EQ(smmu.access(sample_engine_stream, physical(control, ram)), std::nullopt)
        << "not behind the window";
    look();
    EXPECT_EQ(status().refused[broker], 4u);
    EXPECT_EQ(status().refused[control] + status().refused[linux_] + status().nobody, 0u);
}

TEST_F(BrokerEngine, F2_EL2CopiesNothingForIt)
{
    boot();
    ASSERT_EQ(call(BH_HYPERCALL_BROKER_OPEN, door_at, 1), 0u);
    EXPECT_EQ(call(BH_HYPERCALL_BROKER_COPY, control, ram),
              static_cast<uint64_t>(-static_cast<int64_t>(BH_HYPERCALL_ERROR_INVALID_PARAMETERS)));
}

TEST_F(BrokerEngine, F9_ATransferThatHasNotEndedWhenTheMachineDoesIsSaid)
{
    boot();
    ASSERT_EQ(call(BH_HYPERCALL_BROKER_OPEN, door_at, 1), 0u);
    auto *reply =
        reinterpret_cast<broker_reply *>(machine->page(physical(broker, door_at + BH_PAGE_BYTES)).data());
    for (const uint64_t ticks : {uint64_t{0}, uint64_t{1000}}) {
        reply->transfer_since = ticks == 0 ? 0 : clock_now();
        fake_clock_set(clock_now() + ticks);
        system_ended();
        flows_ended();
        EXPECT_EQ(system_status()->transfer_ticks[0], ticks);
    }
}

TEST_F(BrokerEngine, F8_ABrokerThatEndsLeavesMemoryAloneOnlyWhenTheSmmuAbortsItsEngine)
{
    boot();
    ASSERT_EQ(call(BH_HYPERCALL_BROKER_OPEN, door_at, 1), 0u);
    ASSERT_TRUE(access(physical(control, ram)).has_value());
    smmu.delays_commands = true;
    machine->on_core(broker);
    EXPECT_EQ(domain_stop(domain_at(broker)), BH_DOMAIN_STATE_RUNNING);
    EXPECT_TRUE(are_touched());
    machine->on_core(broker); // its core leaves it, and asks
    EXPECT_TRUE(access(physical(control, ram)).has_value()) << "the old translation is still cached";
    EXPECT_TRUE(are_touched()) << "its core has left it, its engine has not";
    ask_again();
    EXPECT_TRUE(are_touched()) << "not yet";
    smmu.run_commands();
    EXPECT_EQ(access(physical(control, ram)), std::nullopt);
    ask_again();
    EXPECT_FALSE(is_one_touched());
}

TEST_F(BrokerEngine, F8_AManagersStopWaitsForTheBrokersCoreToo)
{
    boot();
    ASSERT_EQ(call(BH_HYPERCALL_BROKER_OPEN, door_at, 1), 0u);
    fake_switch_core(control);
    EXPECT_EQ(domain_stop(domain_at(broker)), BH_DOMAIN_STATE_RUNNING);
    EXPECT_EQ(access(physical(control, ram)), std::nullopt);
    EXPECT_TRUE(are_touched()) << "its core may copy";
    domain_ask_engine();
    fake_switch_core(broker);
    domain_ask_engine(); // an alarm for another domain
    EXPECT_TRUE(are_touched());
    machine->on_core(broker);
    while (fake_gic_has_interrupt()) {
        machine->interrupt();
    }
    EXPECT_FALSE(is_one_touched());
}

TEST_F(BrokerEngine, F8_ABrokerThatTurnedItselfOffLeavesWhenItIsStopped)
{
    boot();
    ASSERT_EQ(call(BH_HYPERCALL_BROKER_OPEN, door_at, 1), 0u);
    call(psci_cpu_off);
    fake_switch_core(control);
    EXPECT_EQ(domain_stop(domain_at(broker)), BH_DOMAIN_STATE_RUNNING);
    EXPECT_TRUE(are_touched()) << "EL2 does not know yet that nobody is there";
    machine->on_core(broker);
    EXPECT_FALSE(is_one_touched());
}

TEST_F(BrokerEngine, F8_ABrokerThatRestartsHasItsEngineBack)
{
    boot();
    ASSERT_EQ(call(BH_HYPERCALL_BROKER_OPEN, door_at, 1), 0u);
    smmu.delays_commands = true;
    machine->on_core(broker);
    EXPECT_TRUE(domain_restart(domain_at(broker), BH_DOMAIN_END_STAGE2_DATA_ABORT));
    machine->on_core(broker);
    EXPECT_EQ(machine->status(broker).restarts, 0u);
    EXPECT_TRUE(are_touched());
    smmu.delays_commands = false;
    smmu.run_commands();
    machine->on_core(broker);
    EXPECT_EQ(machine->status(broker).restarts, 1u);
    EXPECT_FALSE(is_one_touched());
    EXPECT_TRUE(access(physical(control, ram)).has_value());
}

} // namespace
} // namespace broker_engine_test
