// SPDX-License-Identifier: Apache-2.0
// Life and end of domains: restarts, the end of the last one, what is too large for the pool.
#include "hosted_machine.h"
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <vector>

using namespace bulkhead_test;

namespace {

constexpr uint64_t system_off = 0x84000008;
constexpr uint64_t system_reset = 0x84000009;
constexpr uint64_t nobodys_address = 0x70000000;

// Physical pages that EL2 reached through windows: made when first looked at.
std::map<uint64_t, std::vector<char>> memory;

} // namespace

extern "C" {
#include "psci.h"
#include "window.h"

void *window_open(enum window, paddr_t page)
{
    auto &bytes = memory[page.value];
    bytes.resize(BH_PAGE_BYTES);
    return bytes.data();
}

void window_close(enum window) {}
}

TEST(Domain, AFailureRestartsADomainThatAsksForIt)
{
    HostedMachine machine([](SampleManifest &m) { m.domains[0].flags |= BH_DOMAIN_FLAG_RESTART_ON_FAILURE; });
    for (unsigned life = 1; life <= 50; life++) {
        guest_regs &regs = machine.on_core(0);
        regs.x[9] = life;
        machine.trap(esr_load(4, 0), nobodys_address);
        EXPECT_FALSE(machine.waited()) << "it runs again at once: its only VCPU is parked";
        EXPECT_EQ(machine.status(0).restarts, life);
        EXPECT_EQ(machine.status(0).state, uint32_t{BH_DOMAIN_STATE_RUNNING});
        EXPECT_EQ(regs.x[9], 0u);
        EXPECT_EQ(fake_sysreg(SYSREG_ID_ELR_EL2), 0x40000000u);
    }
    EXPECT_EQ(machine.status(1).restarts, 0u);
}

TEST(Domain, ARestartLoadsTheImageAgainWhereTheDomainsColorsAre)
{
    HostedMachine machine;
    boot_handover.load_address = 0x60000000;
    memory.clear();
    // The source of control's image, two pages behind the start of the package.
    for (uint64_t page = 0; page < 2; page++) {
        memory[0x60001000 + page * BH_PAGE_BYTES].assign(BH_PAGE_BYTES, static_cast<char>('a' + page));
    }
    machine.on_core(0);
    machine.hvc(system_reset);
    EXPECT_EQ(machine.status(0).restarts, 1u);
    // Its segment starts at 0x48000000, color 0, in granules of 8 KiB.
    EXPECT_EQ(memory.at(0x48000000)[0], 'a');
    EXPECT_EQ(memory.at(0x48001000)[BH_PAGE_BYTES - 1], 'b');
}

TEST(Domain, ARestartWaitsForAllVcpus)
{
    HostedMachine machine;
    machine.on_core(1);
    machine.hvc(0xC4000003, 1, 0x40004000, 0);
    machine.on_core(3);
    machine.on_core(1);
    machine.hvc(system_reset);
    EXPECT_TRUE(machine.waited()) << "VCPU 1 still runs";
    EXPECT_EQ(machine.status(1).state, uint32_t{BH_DOMAIN_STATE_RESTARTING});
    fake_switch_core(3);
    machine.interrupt();
    EXPECT_TRUE(machine.waited());
    machine.on_core(1);
    EXPECT_FALSE(machine.waited());
    EXPECT_EQ(machine.status(1).restarts, 1u);
    machine.on_core(3);
    EXPECT_TRUE(machine.waited()) << "VCPU 1 is off until it is turned on";
}

TEST(Domain, ARestartHearsOfAVcpuThatTurnsItselfOff)
{
    HostedMachine machine;
    machine.on_core(1);
    machine.hvc(0xC4000003, 1, 0x40004000, 0);
    machine.on_core(3);
    machine.on_core(1);
    machine.hvc(system_reset);
    EXPECT_TRUE(machine.waited()) << "VCPU 1 still runs";
    fake_switch_core(3);
    machine.hvc(0x84000002); // CPU_OFF, before its core looks at the interrupt that tells it to stop
    EXPECT_TRUE(machine.waited());
    fake_switch_core(1);
    EXPECT_TRUE(fake_gic_has_interrupt()) << "else core 1 would wait forever";
    machine.on_core(1);
    EXPECT_EQ(machine.status(1).restarts, 1u);
}

TEST(Domain, AVcpuThatGoesOffIsOffWhenItsInterruptsArePutAway)
{
    HostedMachine machine;
    machine.on_core(1);
    machine.hvc(0xC4000003, 1, 0x40004000, 0);
    machine.on_core(3);
    uint64_t x[31] = {0x84000002};
    psci_call(cpu_at(3)->vcpu, x);
    machine.on_core(1);
    EXPECT_EQ(machine.hvc(0xC4000004, 1), 0u) << "AFFINITY_INFO: still on";
    EXPECT_EQ(machine.hvc(0xC4000003, 1, 0x40004000, 0), static_cast<uint64_t>(-4)) << "already on";
    machine.hvc(system_reset);
    EXPECT_TRUE(machine.waited()) << "the restart waits for it";
    EXPECT_EQ(machine.status(1).restarts, 0u);
    machine.on_core(3);
    machine.on_core(1);
    EXPECT_EQ(machine.status(1).restarts, 1u);
}

TEST(Domain, WhatWasLoadedInPlaceCannotBeLoadedAgain)
{
    HostedMachine machine([](SampleManifest &m) { m.images[0].flags = BH_IMAGE_FLAG_IN_PLACE; });
    machine.on_core(0);
    machine.hvc(system_reset);
    EXPECT_EQ(machine.status(0).state, uint32_t{BH_DOMAIN_STATE_STOPPED});
    EXPECT_EQ(machine.status(0).end, uint32_t{BH_DOMAIN_END_SYSTEM_RESET});
}

TEST(Domain, TheMachineEndsWithItsLastDomain)
{
    HostedMachine machine;
    machine.on_core(0);
    machine.hvc(system_off);
    fake_switch_core(1);
    EXPECT_FALSE(system_status()->end_reason);
    machine.on_core(1);
    machine.hvc(system_off);
    EXPECT_EQ(system_status()->phase, uint32_t{BH_PHASE_ENDED}) << "core 1 is the console core: it turns off";
    EXPECT_EQ(system_status()->end_reason, uint32_t{BH_END_REASON_ALL_DOMAINS_ENDED});
}

TEST(Domain, TablesThatDoNotFitIntoThePoolAreRefusedAtBoot)
{
    HostedMachine machine([](SampleManifest &m) {
        m.header.hypervisor.pool_bytes = 0x80000; // 128 frames
        m.segments[2].bytes = 0x10000000;         // needs 128 tables of its own
        m.segments[1].bytes = 0x400000;
        m.segments[2].pa = 0x50006000;
        m.images[1].ipa = 0x40200000;
    });
    EXPECT_FALSE(machine.booted());
}
