// SPDX-License-Identifier: Apache-2.0
// Management calls: who may make them, what they answer, and that a domain's life stays in order whenever
// they come and however many managers there are.
#include "hosted_machine.h"
#include <array>
#include <gtest/gtest.h>
#include <random>

using namespace bulkhead_test;

namespace {

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

    // Interrupts of all of linux's cores are taken, in this order.
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

} // namespace

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
        EXPECT_EQ(machine.hvc(BH_HYPERCALL_MACHINE_END + 1), not_supported);
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
    EXPECT_EQ(machine.exits(1, BH_EXIT_REASON_IRQ_IPI), before + 2)
        << "its own request, and the one meanwhile";
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
// resets, in any order: each restart that was promised happens, and no other.
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
            machine.on_core(core); // its wait goes on
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
