// SPDX-License-Identifier: Apache-2.0
// Management calls: which domains may make them, their answers, and that a domain's life cycle stays
// consistent whenever they come and however many managers there are.
#include "hosted_machine.h"
#include "run/domain_life.h"
#include "run/vcpu_run.h"
#include <array>
#include <gtest/gtest.h>
#include <random>

namespace hypercall_test {
namespace {

using namespace bulkhead_test;

constexpr uint64_t cpu_off = 0x84000002;
constexpr uint64_t cpu_on = 0xC4000003;
constexpr uint64_t system_off = 0x84000008;
constexpr uint64_t system_reset = 0x84000009;
constexpr uint64_t entry = 0x40004000;
constexpr uint64_t nobodys_address = 0x70000000;

constexpr uint32_t control = 0; // the manager, on core 0
constexpr uint32_t victim = 1;  // on cores 1 and 3

constexpr uint64_t failed(bh_hypercall_error error)
{
    return static_cast<uint64_t>(-static_cast<int64_t>(error));
}

constexpr uint64_t not_supported = failed(BH_HYPERCALL_ERROR_NOT_SUPPORTED);

class Hypercall : public testing::Test {
protected:
    explicit Hypercall(const std::function<void(SampleManifest &)> &change = [](SampleManifest &) {})
        : machine([&](SampleManifest &m) {
              m.domains[control].flags |= BH_DOMAIN_FLAG_MANAGER;
              change(m);
          })
    {
        machine.on_core(1);
        machine.on_core(0);
    }

    // A call of the manager; x1 of the answer is kept.
    uint64_t call(uint64_t function, uint64_t domain = victim)
    {
        guest_regs &regs = machine.on_core(0);
        uint64_t result = machine.hvc(function, domain);
        answer = regs.x[1];
        second = regs.x[2];
        third = regs.x[3];
        return result;
    }

    bh_domain_state state(uint32_t domain = victim)
    {
        EXPECT_EQ(call(BH_HYPERCALL_DOMAIN_STATE, domain), 0u);
        return static_cast<bh_domain_state>(answer);
    }

    // Handles the interrupts of all of linux's cores, in this order.
    void let_linux_notice(std::initializer_list<uint32_t> cores = {1, 3, 1})
    {
        for (uint32_t core : cores) {
            fake_switch_core(core);
            if (vcpu_may_run(this_cpu()->vcpu) || fake_gic_has_interrupt()) {
                machine.interrupt();
            }
        }
    }

    HostedMachine machine;
    uint64_t answer = 0;
    uint64_t second = 0;
    uint64_t third = 0;
};

class HypercallInPlace : public Hypercall {
protected:
    HypercallInPlace() : Hypercall([](SampleManifest &m) { m.images[1].flags = BH_IMAGE_FLAG_IN_PLACE; }) {}
};

class HypercallTwoManagers : public Hypercall {
protected:
    HypercallTwoManagers()
        : Hypercall([](SampleManifest &m) { m.domains[victim].flags |= BH_DOMAIN_FLAG_MANAGER; })
    {
    }
};

TEST_F(Hypercall, DiscoveryIsForEveryone)
{
    for (uint32_t core : {0u, 1u}) {
        guest_regs &regs = machine.on_core(core);
        EXPECT_EQ(machine.hvc(BH_HYPERCALL_UID), BH_HYPERCALL_UID_0);
        EXPECT_EQ(regs.x[1], BH_HYPERCALL_UID_1);
        EXPECT_EQ(regs.x[2], BH_HYPERCALL_UID_2);
        EXPECT_EQ(regs.x[3], BH_HYPERCALL_UID_3);
        EXPECT_EQ(machine.hvc(BH_HYPERCALL_REVISION), BH_HYPERCALL_MAJOR);
        EXPECT_EQ(machine.hvc(BH_HYPERCALL_COUNT), BH_HYPERCALL_OWN_COUNT);
        EXPECT_EQ(machine.hvc(0x8600FF02), not_supported);
        EXPECT_EQ(machine.hvc(BH_HYPERCALL_PATH_COST_READ + 1), not_supported);
        EXPECT_EQ(machine.hvc(0x86000000), not_supported) << "the 32-bit variant does not exist";
    }
}

TEST_F(Hypercall, EveryoneMayAskHowOftenItsOwnCoreLeftItsGuest)
{
    guest_regs &regs = machine.on_core(1);
    uint64_t before = machine.exits(1, BH_EXIT_REASON_HVC);
    EXPECT_EQ(machine.hvc(BH_HYPERCALL_OWN_EXITS, BH_EXIT_REASON_HVC), 0u);
    EXPECT_EQ(regs.x[1], before + 1) << "this one included";
    for (uint64_t reason : {uint64_t{BH_EXIT_REASON_COUNT}, uint64_t{1} << 32, ~uint64_t{0}}) {
        EXPECT_EQ(machine.hvc(BH_HYPERCALL_OWN_EXITS, reason), failed(BH_HYPERCALL_ERROR_INVALID_PARAMETERS));
    }
}

TEST_F(Hypercall, OnlyAManagerMayManage)
{
    machine.on_core(1);
    for (uint64_t function : {BH_HYPERCALL_DOMAIN_STATE, BH_HYPERCALL_DOMAIN_STOP,
                              BH_HYPERCALL_DOMAIN_RESTART, BH_HYPERCALL_MACHINE_END}) {
        EXPECT_EQ(machine.hvc(function, control), not_supported) << std::hex << function;
    }
    EXPECT_EQ(system_status()->end_reason, 0u);
    EXPECT_EQ(state(control), BH_DOMAIN_STATE_RUNNING);
}

TEST_F(Hypercall, ADomainThatDoesNotExistIsRefused)
{
    for (uint64_t function :
         {BH_HYPERCALL_DOMAIN_STATE, BH_HYPERCALL_DOMAIN_STOP, BH_HYPERCALL_DOMAIN_RESTART}) {
        for (uint64_t domain : {uint64_t{2}, uint64_t{BH_MAX_DOMAINS}, uint64_t{1} << 32, ~uint64_t{0}}) {
            EXPECT_EQ(call(function, domain), failed(BH_HYPERCALL_ERROR_INVALID_PARAMETERS));
        }
    }
    EXPECT_EQ(state(), BH_DOMAIN_STATE_RUNNING);
}

TEST_F(Hypercall, TheUpperHalfOfTheFunctionDoesNotCount)
{
    EXPECT_EQ(call(0xFFFFFFFF00000000 | BH_HYPERCALL_DOMAIN_STATE), 0u); // DEN0028: it is in w0
}

TEST_F(Hypercall, StopEndsADomainForGood)
{
    EXPECT_EQ(call(BH_HYPERCALL_DOMAIN_STOP), 0u);
    EXPECT_EQ(answer, uint64_t{BH_DOMAIN_STATE_RUNNING});
    let_linux_notice();
    EXPECT_TRUE(machine.waited());
    EXPECT_EQ(state(), BH_DOMAIN_STATE_STOPPED);
    EXPECT_EQ(second, uint64_t{BH_DOMAIN_END_MANAGER_REQUEST});
    EXPECT_EQ(third, 0u);
    EXPECT_EQ(call(BH_HYPERCALL_DOMAIN_STOP), 0u);
    EXPECT_EQ(answer, uint64_t{BH_DOMAIN_STATE_STOPPED});
    EXPECT_EQ(system_status()->end_reason, 0u) << "the manager still runs";
}

TEST_F(Hypercall, AManagerThatStopsItselfAsTheLastEndsTheMachine)
{
    call(BH_HYPERCALL_DOMAIN_STOP);
    let_linux_notice();
    machine.on_core(0);
    machine.hvc(BH_HYPERCALL_DOMAIN_STOP, control);
    EXPECT_TRUE(machine.waited());
    machine.on_core(1);
    EXPECT_EQ(system_status()->end_reason, uint32_t{BH_END_REASON_ALL_DOMAINS_ENDED});
}

TEST_F(Hypercall, RestartWorksFromEveryState)
{
    EXPECT_EQ(call(BH_HYPERCALL_DOMAIN_RESTART), 0u);
    EXPECT_EQ(answer, uint64_t{BH_DOMAIN_STATE_RUNNING});
    let_linux_notice();
    EXPECT_EQ(state(), BH_DOMAIN_STATE_RUNNING);
    EXPECT_EQ(third, 1u);

    call(BH_HYPERCALL_DOMAIN_STOP);
    let_linux_notice();
    EXPECT_EQ(call(BH_HYPERCALL_DOMAIN_RESTART), 0u);
    EXPECT_EQ(answer, uint64_t{BH_DOMAIN_STATE_STOPPED});
    let_linux_notice();
    EXPECT_EQ(state(), BH_DOMAIN_STATE_RUNNING);
    EXPECT_EQ(third, 2u);

    machine.on_core(1);
    machine.trap(esr_load(4, 0), nobodys_address);
    EXPECT_EQ(state(), BH_DOMAIN_STATE_CRASHED);
    EXPECT_EQ(call(BH_HYPERCALL_DOMAIN_RESTART), 0u);
    EXPECT_EQ(answer, uint64_t{BH_DOMAIN_STATE_CRASHED});
    let_linux_notice();
    EXPECT_EQ(state(), BH_DOMAIN_STATE_RUNNING);
    EXPECT_EQ(second, uint64_t{BH_DOMAIN_END_STAGE2_DATA_ABORT}) << "why its last life ended";
    EXPECT_EQ(third, 3u);
}

TEST_F(Hypercall, RestartsThatComeTogetherAreOne)
{
    call(BH_HYPERCALL_DOMAIN_RESTART);
    EXPECT_EQ(call(BH_HYPERCALL_DOMAIN_RESTART), 0u);
    EXPECT_EQ(answer, uint64_t{BH_DOMAIN_STATE_RESTARTING});
    let_linux_notice();
    EXPECT_EQ(state(), BH_DOMAIN_STATE_RUNNING);
    EXPECT_EQ(third, 1u);
}

TEST_F(Hypercall, StopTakesARestartBack)
{
    call(BH_HYPERCALL_DOMAIN_RESTART);
    EXPECT_EQ(call(BH_HYPERCALL_DOMAIN_STOP), 0u);
    EXPECT_EQ(answer, uint64_t{BH_DOMAIN_STATE_RESTARTING});
    let_linux_notice();
    EXPECT_EQ(state(), BH_DOMAIN_STATE_STOPPED);
    EXPECT_EQ(third, 0u);
}

TEST_F(Hypercall, StopTakesARestartBackAlsoWhileTheImagesAreLoaded)
{
    bool stopped = false;
    machine.on_window([&](uint64_t) {
        if (!stopped) { // by another core
            stopped = true;
            EXPECT_EQ(domain_stop(domain_at(victim)), BH_DOMAIN_STATE_RESTARTING);
        }
    });
    call(BH_HYPERCALL_DOMAIN_RESTART);
    let_linux_notice();
    EXPECT_TRUE(stopped);
    EXPECT_TRUE(machine.waited());
    EXPECT_EQ(state(), BH_DOMAIN_STATE_STOPPED);
    machine.on_window(nullptr);
    call(BH_HYPERCALL_DOMAIN_RESTART);
    let_linux_notice();
    EXPECT_EQ(state(), BH_DOMAIN_STATE_RUNNING);
    EXPECT_EQ(third, 1u);
}

TEST_F(Hypercall, InterruptsOfTheCoreAreTakenWhileItLoads)
{
    bool asked = false;
    uint64_t before = machine.exits(1, BH_EXIT_REASON_IRQ_IPI);
    machine.on_window([&](uint64_t) {
        if (!asked) {
            asked = true;
            cpu_send_request(cpu_at(1), CPU_REQUEST_VGIC);
        }
    });
    machine.on_core(1);
    machine.hvc(system_reset);
    EXPECT_FALSE(machine.waited());
    EXPECT_EQ(machine.exits(1, BH_EXIT_REASON_IRQ_IPI), before + 1);
}

TEST_F(HypercallInPlace, ADomainLoadedInPlaceCannotBeStartedAgain)
{
    EXPECT_EQ(call(BH_HYPERCALL_DOMAIN_RESTART), failed(BH_HYPERCALL_ERROR_NOT_LOADABLE));
    EXPECT_EQ(state(), BH_DOMAIN_STATE_RUNNING) << "and is left alone";
    EXPECT_EQ(call(BH_HYPERCALL_DOMAIN_STOP), 0u);
}

TEST_F(Hypercall, AVcpuThatIsAboutToStartDoesNotStartIntoTheNextLife)
{
    machine.on_core(1);
    machine.hvc(cpu_on, 1, entry, 0);
    call(BH_HYPERCALL_DOMAIN_RESTART);
    let_linux_notice({3, 1, 3, 1});
    EXPECT_EQ(state(), BH_DOMAIN_STATE_RUNNING);
    EXPECT_EQ(third, 1u);
    machine.on_core(3);
    EXPECT_TRUE(machine.waited()) << "off until the new life turns it on";
}

TEST_F(Hypercall, ADomainThatTurnsItselfOffWhileItIsRestartedIsRestarted)
{
    call(BH_HYPERCALL_DOMAIN_RESTART);
    fake_switch_core(1);
    machine.hvc(system_off); // before its core has seen the interrupt
    EXPECT_FALSE(machine.waited());
    EXPECT_EQ(state(), BH_DOMAIN_STATE_RUNNING);
    EXPECT_EQ(third, 1u);
}

TEST_F(Hypercall, ADomainThatResetsItselfWhileItIsStoppedStaysStopped)
{
    call(BH_HYPERCALL_DOMAIN_STOP);
    fake_switch_core(1);
    machine.hvc(system_reset);
    EXPECT_TRUE(machine.waited());
    EXPECT_EQ(state(), BH_DOMAIN_STATE_STOPPED);
    EXPECT_EQ(second, uint64_t{BH_DOMAIN_END_MANAGER_REQUEST});
}

TEST_F(Hypercall, AManagerCanRestartItself)
{
    machine.on_core(0);
    machine.hvc(BH_HYPERCALL_DOMAIN_RESTART, control);
    EXPECT_FALSE(machine.waited());
    EXPECT_EQ(machine.status(control).restarts, 1u);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_ELR_EL2), 0x40000000u);
}

TEST_F(Hypercall, MachineEndEndsTheRun)
{
    EXPECT_EQ(call(BH_HYPERCALL_MACHINE_END), 0u);
    machine.on_core(1);
    machine.interrupt(); // the console core turns the machine off
    EXPECT_EQ(system_status()->phase, uint32_t{BH_PHASE_ENDED});
    EXPECT_EQ(system_status()->end_reason, uint32_t{BH_END_REASON_MANAGER_REQUEST});
}

// Two managers, one of which is the victim itself, and a victim that turns VCPUs on and off, crashes and
// resets, in any order: each promised restart happens, and no other.
TEST_F(HypercallTwoManagers, EveryPromisedRestartHappensInAnyOrderOfThings)
{
    std::mt19937 random(4711);
    uint64_t promised = 0;
    std::array<bool, 4> idle = {false, false, false, true};
    auto restart = [&] {
        EXPECT_EQ(call(BH_HYPERCALL_DOMAIN_RESTART), 0u);
        promised += answer != BH_DOMAIN_STATE_RESTARTING;
    };
    for (int i = 0; i < 4000; i++) {
        uint32_t core = std::array<uint32_t, 3>{0, 1, 3}[random() % 3];
        fake_switch_core(core);
        vcpu *vcpu = this_cpu()->vcpu;
        if (core != 0 &&
            (idle[core] || atomic_load_explicit(&vcpu->power, memory_order_acquire) == VCPU_OFF)) {
            machine.on_core(core); // its wait continues
            idle[core] = machine.waited() && !vcpu_may_run(vcpu);
            continue;
        }
        auto what = random() % 8;
        switch (what) {
        case 0:
            if (core == 0) {
                restart();
            } else {
                // Its answer is lost with its life.
                promised += atomic_load_explicit(&domain_at(victim)->state, memory_order_acquire) !=
                            BH_DOMAIN_STATE_RESTARTING;
                machine.hvc(BH_HYPERCALL_DOMAIN_RESTART, victim);
            }
            break;
        case 1:
            if (core == 0) {
                call(BH_HYPERCALL_DOMAIN_STOP);
                promised -= answer == BH_DOMAIN_STATE_RESTARTING;
            }
            break;
        case 2:
            if (core != 0) {
                machine.hvc(cpu_on, random() % 2, entry, 0);
            }
            break;
        case 3:
            if (core == 3) {
                machine.hvc(cpu_off);
            }
            break;
        case 4:
            if (core != 0) {
                promised += atomic_load_explicit(&domain_at(victim)->state, memory_order_acquire) ==
                            BH_DOMAIN_STATE_RUNNING;
                machine.hvc(system_reset);
            }
            break;
        case 5:
            if (core != 0) {
                machine.trap(esr_load(4, 0), nobodys_address);
            }
            break;
        default:
            machine.interrupt();
            break;
        }
        idle[core] = machine.waited() && !vcpu_may_run(vcpu);
        bool pending = domain_life_of(domain_at(victim)).state == BH_DOMAIN_STATE_RESTARTING;
        ASSERT_EQ(machine.status(victim).restarts + pending, promised)
            << "step " << i << ": " << what << " on " << core;
    }
    if (state() != BH_DOMAIN_STATE_RESTARTING) {
        restart();
    }
    for (int i = 0; i < 4; i++) {
        machine.on_core(3);
        machine.on_core(1);
    }
    EXPECT_EQ(state(), BH_DOMAIN_STATE_RUNNING);
    EXPECT_EQ(third, promised);
    EXPECT_GT(promised, 200u);
    EXPECT_EQ(system_status()->pool_used, system_pool()->used);
}

constexpr uint64_t first_events = 1000;
constexpr uint64_t first_period_ns = 1'000'000;
constexpr uint64_t ticks_of_period = 62500;

class HypercallBudget : public Hypercall {
protected:
    HypercallBudget()
        : Hypercall([](SampleManifest &m) {
              m.header.platform.traffic_event = 0x17;
              m.domains[victim].flags |= BH_DOMAIN_FLAG_BUDGET;
              m.domains[victim].budget_events = first_events;
              m.domains[victim].budget_period_ns = first_period_ns;
          })
    {
    }

    uint64_t change(uint64_t events, uint64_t period_ns, uint64_t domain = victim)
    {
        guest_regs &regs = machine.on_core(0);
        const uint64_t result = machine.hvc(BH_HYPERCALL_BUDGET_CHANGE, domain, events, period_ns);
        answer = regs.x[1];
        return result;
    }

    void expect(uint64_t events, uint64_t period_ns, bool waits)
    {
        EXPECT_EQ(call(BH_HYPERCALL_BUDGET_READ), 0u);
        EXPECT_EQ(answer, events);
        EXPECT_EQ(second, period_ns);
        EXPECT_EQ(third, uint64_t{waits});
    }

    // Period `number` begins on linux's first core.
    void period_begins(uint64_t number)
    {
        fake_clock_set(number * ticks_of_period);
        fake_switch_core(1);
        fake_gic_raise(26); // CNTHP
        machine.interrupt();
    }
};

TEST_F(HypercallBudget, IsReadAndChangedFromTheNextPeriodOn)
{
    expect(first_events, first_period_ns, false);
    fake_clock_set(100);
    ASSERT_EQ(change(2 * first_events, 2 * first_period_ns), 0u);
    EXPECT_EQ(answer, ticks_of_period) << "the beginning of the next period";
    expect(2 * first_events, 2 * first_period_ns, true);
    const status_budget &seen = cpu_at(1)->status->budget;
    fake_switch_core(1);
    EXPECT_EQ(reservation_left(&cpu_at(1)->bandwidth.budget.reservation, 0), first_events);
    period_begins(1);
    EXPECT_EQ(reservation_left(&cpu_at(1)->bandwidth.budget.reservation, 0), 2 * first_events);
    EXPECT_EQ(seen.limit_events, 2 * first_events);
    EXPECT_EQ(seen.period_ticks, 2 * ticks_of_period);
    EXPECT_EQ(seen.changes, 1u);
    expect(2 * first_events, 2 * first_period_ns, false);
    EXPECT_EQ(budget_deadline(&cpu_at(1)->bandwidth.budget), 3 * ticks_of_period);
}

TEST_F(HypercallBudget, WhatIsOutOfRangeIsRefusedAndChangesNothing)
{
    const std::pair<uint64_t, uint64_t> bad[] = {{uint64_t{1} << 40, first_period_ns},
                                                 {~uint64_t{0}, first_period_ns},
                                                 {first_events, 0},
                                                 {first_events, 999},
                                                 {first_events, 3'600'000'000'001},
                                                 {first_events, ~uint64_t{0}}};
    for (auto [events, period_ns] : bad) {
        EXPECT_EQ(change(events, period_ns), failed(BH_HYPERCALL_ERROR_INVALID_PARAMETERS));
        expect(first_events, first_period_ns, false);
    }
    EXPECT_EQ(change(1, 1000, 2), failed(BH_HYPERCALL_ERROR_INVALID_PARAMETERS)) << "no such domain";
    EXPECT_EQ(change(0, first_period_ns), 0u) << "stands still";
}

TEST_F(HypercallBudget, IsForManagersAndForDomainsThatHaveOne)
{
    EXPECT_EQ(call(BH_HYPERCALL_BUDGET_READ, control), failed(BH_HYPERCALL_ERROR_NO_BUDGET));
    EXPECT_EQ(change(1000, first_period_ns, control), failed(BH_HYPERCALL_ERROR_NO_BUDGET));
    machine.on_core(1);
    EXPECT_EQ(machine.hvc(BH_HYPERCALL_BUDGET_READ, victim), not_supported);
    EXPECT_EQ(machine.hvc(BH_HYPERCALL_BUDGET_CHANGE, victim, 1 << 20, first_period_ns), not_supported);
    expect(first_events, first_period_ns, false);
}

TEST_F(HypercallBudget, SamplesOfEachPeriodAreReadInOrderAndDropsAreCounted)
{
    guest_regs &regs = machine.on_core(0);
    EXPECT_EQ(machine.hvc(BH_HYPERCALL_SAMPLE_READ, 1, 0), failed(BH_HYPERCALL_ERROR_NO_SAMPLE));
    EXPECT_EQ(machine.hvc(BH_HYPERCALL_SAMPLE_READ, 0, 0), failed(BH_HYPERCALL_ERROR_NO_SAMPLE))
        << "core 0 has no budget";
    EXPECT_EQ(machine.hvc(BH_HYPERCALL_SAMPLE_READ, 4, 0), failed(BH_HYPERCALL_ERROR_INVALID_PARAMETERS));
    fake_switch_core(1);
    fake_pmu_cause(0x17, FAKE_EL1, 300);
    period_begins(1);
    fake_pmu_cause(0x17, FAKE_EL1, 400);
    period_begins(2);
    machine.on_core(0);
    ASSERT_EQ(machine.hvc(BH_HYPERCALL_SAMPLE_READ, 1, 0), 0u);
    EXPECT_EQ(regs.x[1], 1u);
    EXPECT_EQ(regs.x[2], 0u);
    EXPECT_EQ(regs.x[3], ticks_of_period);
    EXPECT_EQ(regs.x[4], victim) << "domain and VCPU";
    EXPECT_EQ(regs.x[5], 300u);
    EXPECT_EQ(regs.x[6], first_events);
    ASSERT_EQ(machine.hvc(BH_HYPERCALL_SAMPLE_READ, 1, 1), 0u);
    EXPECT_EQ(regs.x[5], 400u);
    for (uint64_t position : {uint64_t{2}, uint64_t{3}, ~uint64_t{0}}) {
        EXPECT_EQ(machine.hvc(BH_HYPERCALL_SAMPLE_READ, 1, position), failed(BH_HYPERCALL_ERROR_NO_SAMPLE));
    }
    for (uint64_t i = 3; i <= 800; i++) {
        period_begins(i);
    }
    machine.on_core(0);
    ASSERT_EQ(machine.hvc(BH_HYPERCALL_SAMPLE_READ, 1, 2), 0u);
    EXPECT_GT(regs.x[2], 100u) << "dropped";
    EXPECT_EQ(regs.x[3], regs.x[1] * ticks_of_period);
    EXPECT_EQ(regs.x[1], 2 + regs.x[2] + 1);
    EXPECT_EQ(machine.hvc(BH_HYPERCALL_SAMPLES_STORE, 2), failed(BH_HYPERCALL_ERROR_INVALID_PARAMETERS));
    ASSERT_EQ(machine.hvc(BH_HYPERCALL_SAMPLES_STORE, 0), 0u);
    EXPECT_EQ(regs.x[1], 1u) << "they were written";
    period_begins(801);
    machine.on_core(0);
    EXPECT_EQ(machine.hvc(BH_HYPERCALL_SAMPLE_READ, 1, 800), failed(BH_HYPERCALL_ERROR_NO_SAMPLE));
}

} // namespace
} // namespace hypercall_test
