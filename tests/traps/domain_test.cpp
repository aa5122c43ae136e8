// SPDX-License-Identifier: Apache-2.0
// Start and end of domains: restarts, the end of the last one, and domains that are too large for the pool.
#include "hosted_machine.h"
#include <cstring>
#include <gtest/gtest.h>
#include <set>

using namespace bulkhead_test;

namespace {

constexpr uint64_t system_off = 0x84000008;
constexpr uint64_t system_reset = 0x84000009;
constexpr uint64_t nobodys_address = 0x70000000;

} // namespace

extern "C" {
#include "console/console.h"
#include "trap/psci.h"
}

namespace domain_test {
namespace {

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
    // The source of control's image, two pages after the start of the package.
    for (uint64_t page = 0; page < 2; page++) {
        machine.page(0x60001000 + page * BH_PAGE_BYTES).assign(BH_PAGE_BYTES, static_cast<char>('a' + page));
    }
    machine.on_core(0);
    machine.hvc(system_reset);
    EXPECT_EQ(machine.status(0).restarts, 1u);
    // Its segment starts at 0x48000000, color 0, in granules of 8 KiB.
    EXPECT_EQ(machine.page(0x48000000)[0], 'a');
    EXPECT_EQ(machine.page(0x48001000)[BH_PAGE_BYTES - 1], 'b');
}

TEST(Domain, ARestartKeepsWhatIsOutsideOfTheImages)
{
    HostedMachine machine;
    machine.page(0x48010000).assign(BH_PAGE_BYTES, 'k'); // control's, after its image of two pages
    machine.on_core(0);
    machine.hvc(system_reset);
    EXPECT_EQ(machine.status(0).restarts, 1u);
    EXPECT_EQ(machine.page(0x48010000)[BH_PAGE_BYTES - 1], 'k');
}

TEST(Domain, ARestartCleansAllMemoryThatTheLastLifeCanHaveTouched)
{
    HostedMachine machine;
    std::set<uint64_t> cleaned;
    machine.on_window([&](uint64_t page) { cleaned.insert(page); });
    machine.on_core(0);
    machine.hvc(system_reset); // control: mapped from the start
    for (uint64_t n = 0; n < 0x400000 / BH_PAGE_BYTES; n++) {
        // Granules of 8 KiB, three colors of eight, from 0x48000000 on.
        uint64_t granule = n / 2;
        uint64_t pa = 0x48000000 + granule / 3 * 0x10000 + granule % 3 * 0x2000 + n % 2 * BH_PAGE_BYTES;
        ASSERT_TRUE(cleaned.count(pa)) << std::hex << pa;
    }
    cleaned.clear();
    machine.on_core(1);
    machine.trap(esr_store(4, 0), 0x40100000); // linux: mapped when touched
    machine.hvc(system_reset);
    EXPECT_EQ(machine.status(1).restarts, 1u);
    // The image's pages and their source, and the 64 KiB around the accessed page.
    EXPECT_EQ(cleaned.size(), 2 * 0x20000 / BH_PAGE_BYTES + STAGE2_LAZY_BYTES / BH_PAGE_BYTES);
}

TEST(Domain, T1_ACrashKeepsItsRegistersAndTheConsoleCorePrintsThemLineByLine)
{
    HostedMachine machine;
    guest_regs &regs = machine.on_core(0);
    for (unsigned i = 0; i < 31; i++) {
        regs.x[i] = 0x1000 + i;
    }
    machine.trap(esr_load(4, 0), nobodys_address);
    EXPECT_EQ(machine.status(0).state, uint32_t{BH_DOMAIN_STATE_CRASHED});
    regs.x[5] = 0; // later output of the core is not printed
    fake_switch_core(1);
    size_t most = 0;
    for (unsigned window = 0; window < 200; window++) { // an alarm, or the UART, requests it
        const size_t before = machine.uart_output().size();
        fake_clock_set(1000000 + window * 62500);
        console_handle();
        most = std::max(most, machine.uart_output().size() - before);
    }
    EXPECT_LE(most, 100u);
    const std::string &said = machine.uart_output();
    EXPECT_NE(said.find("crashed: access to"), std::string::npos);
    EXPECT_NE(said.find("x4 0000000000001004  x5 0000000000001005"), std::string::npos) << said;
    EXPECT_NE(said.find("esr_el1"), std::string::npos);
}

TEST(Domain, ACrashLoopDoesNotFloodTheLog)
{
    HostedMachine machine([](SampleManifest &m) { m.domains[0].flags |= BH_DOMAIN_FLAG_RESTART_ON_FAILURE; });
    fake_clock_set(1000);
    auto crash = [&](unsigned times) {
        for (unsigned i = 0; i < times; i++) {
            machine.on_core(0);
            machine.trap(esr_load(4, 0), nobodys_address);
        }
        fake_switch_core(1);
        for (int i = 0; i < 100; i++) {
            console_flush(); // the console core's
        }
        return machine.uart_output();
    };
    auto times = [](const std::string &text, const std::string &what) {
        size_t count = 0;
        for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
            count++;
        }
        return count;
    };
    std::string said = crash(500);
    EXPECT_EQ(times(said, "crashed: access to an address that it does not own; it restarts"), 8u);
    EXPECT_EQ(times(said, " x30 "), 1u) << "registers of the first";
    EXPECT_EQ(machine.status(0).restarts, 500u) << "all are counted";
    EXPECT_EQ(machine.status(0).end, uint32_t{BH_DOMAIN_END_STAGE2_DATA_ABORT});
    fake_clock_set(1000 + 62500000);
    said = crash(1);
    EXPECT_EQ(times(said, "crashed: "), 9u) << "a second later there is room again";
    EXPECT_EQ(times(said, " x30 "), 2u);
    EXPECT_EQ(times(said, "(492 such lines were left out)"), 1u);
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
    machine.hvc(0x84000002); // CPU_OFF, before its core handles the interrupt that tells it to stop
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

} // namespace
} // namespace domain_test
