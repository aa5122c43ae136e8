// SPDX-License-Identifier: Apache-2.0
// Timers that expire: only on the simulated machine's devices, since the plain fakes have none. From a
// guest's or the hypervisor's deadline to its effect.
#include "hosted_machine.h"
#include <gtest/gtest.h>
#include <utility>

extern "C" {
#include "trap/psci.h"
#include "vm/clock.h"
#include "vm/rare_alarm.h"
#include <arch/gic.h>
}

namespace timer_test {
namespace {

using namespace bulkhead_test;

constexpr uint32_t control_core = 0;
constexpr uint32_t virtual_timer = 27;
constexpr uint64_t nobodys_address = 0x70000000;
constexpr uint64_t timer_on = 1;
constexpr uint64_t timer_masked = 3;
constexpr uint64_t deadline = 1000;

class Timers : public testing::Test {
protected:
    // The guest opens its interrupt controller and enables its virtual timer's interrupt there.
    void open_guest()
    {
        guest_regs &regs = machine.on_core(control_core);
        const std::pair<uint64_t, uint64_t> writes[] = {
            {0x08000000, 2},                            // GICD_CTLR: group 1 on
            {0x080A0014, 0},                            // GICR_WAKER
            {0x080B0080, ~0ull},                        // GICR_IGROUPR0
            {0x080B0100, uint64_t{1} << virtual_timer}, // GICR_ISENABLER0
        };
        for (auto [address, value] : writes) {
            regs.x[1] = value;
            machine.trap(esr_store(4, 1), address);
        }
        fake_gic_guest_open();
    }

    // Written by the guest itself: its timer does not trap.
    static void arm_guest(uint64_t when)
    {
        sysreg_write(CNTV_CVAL_EL0, when);
        sysreg_write(CNTV_CTL_EL0, timer_on);
    }

    HostedMachine machine;
};

TEST_F(Timers, AGuestsTimerInterruptsItAtItsTimeAndNotBefore)
{
    open_guest();
    arm_guest(deadline);
    fake_clock_set(deadline - 1);
    EXPECT_FALSE(fake_gic_has_interrupt());
    fake_clock_set(deadline);
    ASSERT_TRUE(fake_gic_has_interrupt());
    machine.interrupt();
    EXPECT_EQ(machine.exits(control_core, BH_EXIT_REASON_IRQ_TIMER), 1u);
    EXPECT_FALSE(fake_gic_has_interrupt()) << "the line is high, but the guest has not ended it";
    EXPECT_EQ(fake_gic_guest_acknowledge(), virtual_timer);
    sysreg_write(CNTV_CTL_EL0, timer_masked);
    fake_gic_guest_end(virtual_timer);
    EXPECT_FALSE(fake_gic_has_interrupt());
    EXPECT_FALSE(fake_gic_is_active(virtual_timer));
    EXPECT_EQ(fake_gic_violations(), 0u);
}

TEST_F(Timers, AGuestThatLeavesItsTimerOnIsInterruptedAgain)
{
    open_guest();
    arm_guest(deadline);
    fake_clock_set(deadline);
    for (uint64_t times = 1; times <= 3; times++) {
        ASSERT_TRUE(fake_gic_has_interrupt());
        machine.interrupt();
        EXPECT_EQ(machine.exits(control_core, BH_EXIT_REASON_IRQ_TIMER), times);
        EXPECT_EQ(fake_gic_guest_acknowledge(), virtual_timer);
        fake_gic_guest_end(virtual_timer);
    }
    arm_guest(2 * deadline);
    EXPECT_FALSE(fake_gic_has_interrupt());
}

TEST_F(Timers, ARestartForgetsTheTimerOfTheLastLife)
{
    open_guest();
    arm_guest(deadline);
    machine.hvc(0x84000009); // SYSTEM_RESET
    machine.on_core(control_core);
    EXPECT_EQ(machine.status(0).restarts, 1u);
    EXPECT_EQ(sysreg_read(CNTV_CTL_EL0), 0u);
    fake_clock_set(deadline);
    EXPECT_FALSE(fake_gic_has_interrupt());
    open_guest();
    arm_guest(2 * deadline);
    fake_clock_set(2 * deadline);
    EXPECT_TRUE(fake_gic_has_interrupt()) << "the new one's works";
}

TEST_F(Timers, AnEndedGuestsTimerInterruptsNobody)
{
    open_guest();
    arm_guest(deadline);
    machine.trap(esr_load(4, 0), nobodys_address);
    EXPECT_TRUE(machine.waited());
    fake_clock_set(deadline);
    EXPECT_FALSE(fake_gic_has_interrupt());
}

// With or without a budget, shared or not, the console's or not: a device's interrupt may wait for an alarm.
TEST_F(Timers, EveryCoreTakesItsAlarms)
{
    for (uint32_t core = 0; core < 4; core++) {
        fake_switch_core(core);
        rare_alarm_set(RARE_ALARM_EARLY, deadline * (core + 1));
        EXPECT_FALSE(fake_gic_has_interrupt()) << core;
        fake_clock_set(deadline * (core + 1));
        EXPECT_TRUE(fake_gic_has_interrupt()) << core;
        EXPECT_EQ(rare_alarm_take(), 1u << RARE_ALARM_EARLY);
        EXPECT_FALSE(fake_gic_has_interrupt()) << core;
    }
}

TEST_F(Timers, TheRunLimitEndsTheMachineAtItsTime)
{
    machine.on_core(control_core);
    rare_alarm_set(RARE_ALARM_RUN_LIMIT, deadline);
    fake_clock_set(deadline - 1);
    EXPECT_FALSE(fake_gic_has_interrupt());
    EXPECT_FALSE(system_is_ending());
    fake_clock_set(deadline);
    ASSERT_TRUE(fake_gic_has_interrupt());
    machine.interrupt();
    EXPECT_EQ(machine.exits(control_core, BH_EXIT_REASON_IRQ_HYPERVISOR_TIMER), 1u);
    EXPECT_TRUE(system_is_ending());
    EXPECT_FALSE(fake_gic_has_interrupt()) << "the alarm is off, and its line with it";
    fake_switch_core(1);
    EXPECT_TRUE(fake_gic_has_interrupt()) << "the console core is to finish";
}

TEST_F(Timers, AtTheEndTheOtherCoresGoOffBeforeTheMachineDoes)
{
    constexpr uint64_t cpu_off = 0x84000002;
    constexpr uint64_t system_off = 0x84000008;
    uint64_t last = 0;
    set_firmware([&last](uint64_t function, uint64_t) {
        last = function;
        return int64_t{0};
    });

    machine.on_core(control_core);
    system_end(BH_END_REASON_RUN_LIMIT);
    EXPECT_FALSE(fake_gic_has_interrupt()) << "the console core has not begun to write";
    machine.on_core(1);
    machine.interrupt();
    EXPECT_EQ(last, system_off);
    machine.on_core(control_core);
    ASSERT_TRUE(fake_gic_has_interrupt());
    machine.interrupt();
    EXPECT_EQ(last, cpu_off) << "guests would be counted although the run has ended";
    EXPECT_TRUE(machine.waited());
}

} // namespace
} // namespace timer_test
