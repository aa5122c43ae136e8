// SPDX-License-Identifier: Apache-2.0
// PSCI for guests (DEN0022): power of their own VCPUs and of their own domain, never of the machine or of
// other domains.
#include "hosted_machine.h"
#include <gtest/gtest.h>

extern "C" {
#include <arch/gic.h>
}

namespace psci_test {
namespace {

using namespace bulkhead_test;

constexpr uint64_t cpu_suspend = 0xC4000001;
constexpr uint64_t cpu_off = 0x84000002;
constexpr uint64_t cpu_on = 0xC4000003;
constexpr uint64_t cpu_on_32 = 0x84000003;
constexpr uint64_t affinity_info = 0xC4000004;
constexpr uint64_t system_off = 0x84000008;
constexpr uint64_t features = 0x8400000A;
constexpr uint64_t entry = 0x40004000;

constexpr uint64_t not_supported = static_cast<uint64_t>(-1);
constexpr uint64_t invalid_parameters = static_cast<uint64_t>(-2);
constexpr uint64_t already_on = static_cast<uint64_t>(-4);
constexpr uint64_t on_pending = static_cast<uint64_t>(-5);
constexpr uint64_t invalid_address = static_cast<uint64_t>(-9);

constexpr uint32_t linux_core0 = 1;
constexpr uint32_t linux_core1 = 3;

class Psci : public testing::Test {
protected:
    Psci() { machine.on_core(linux_core0); }

    HostedMachine machine;
};

TEST_F(Psci, SaysWhatItImplements)
{
    EXPECT_EQ(machine.hvc(0x84000000), 0x10001u);
    EXPECT_EQ(machine.hvc(0x80000000), 0x10001u); // SMCCC_VERSION
    for (uint64_t function : {cpu_suspend, cpu_off, cpu_on, affinity_info, system_off, features}) {
        EXPECT_EQ(machine.hvc(features, function), 0u) << std::hex << function;
    }
    EXPECT_EQ(machine.hvc(0x80000001, 0x80000000), 0u);          // SMCCC_ARCH_FEATURES: VERSION
    EXPECT_EQ(machine.hvc(features, 0x84000012), not_supported); // SYSTEM_RESET2
    EXPECT_EQ(machine.hvc(0x84000012), not_supported);
    EXPECT_EQ(machine.hvc(0x12345678), not_supported);
}

// The caller chooses the number of these calls: they could keep the VCPU from starting.
TEST_F(Psci, T1_AStormOfInterruptsOnAnIdleCoreDoesNotHoldUpTheStartOfItsVcpu)
{
    constexpr uint32_t first_spi = 64; // no VCPU's
    constexpr uint32_t storm = 20;
    fake_switch_core(linux_core1);
    for (uint32_t i = 0; i < storm; i++) {
        gic_enable(first_spi + i, linux_core1);
        fake_gic_raise(first_spi + i);
    }
    fake_switch_core(linux_core0);
    EXPECT_EQ(machine.hvc(cpu_on, 1, entry, 0x1234), 0u);
    machine.on_core(linux_core1);
    EXPECT_FALSE(machine.waited());
    EXPECT_EQ(fake_sysreg(SYSREG_ID_ELR_EL2), entry);
    EXPECT_LE(machine.exits(linux_core1, BH_EXIT_REASON_IRQ_UNEXPECTED), 1u);
    EXPECT_TRUE(fake_gic_has_interrupt()) << "the others are taken while the guest runs";
    while (fake_gic_has_interrupt()) {
        machine.interrupt();
    }
    EXPECT_EQ(machine.exits(linux_core1, BH_EXIT_REASON_IRQ_UNEXPECTED), storm);
}

TEST_F(Psci, CpuOnStartsTheOtherVcpuFromScratch)
{
    EXPECT_EQ(machine.hvc(affinity_info, 1), 1u); // off
    EXPECT_EQ(machine.hvc(cpu_on, 1, entry, 0x1234), 0u);
    EXPECT_EQ(machine.hvc(affinity_info, 1), 2u); // pending
    EXPECT_EQ(machine.hvc(cpu_on, 1, entry, 0), on_pending);
    guest_regs &regs = machine.on_core(linux_core1);
    EXPECT_FALSE(machine.waited());
    EXPECT_EQ(regs.x[0], 0x1234u);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_ELR_EL2), entry);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_VMPIDR_EL2) & 0xFFFFFF, 1u);
    machine.on_core(linux_core0);
    EXPECT_EQ(machine.hvc(affinity_info, 1), 0u); // on
    EXPECT_EQ(machine.hvc(cpu_on, 1, entry, 0), already_on);
}

TEST_F(Psci, CpuOnInterruptsTheTargetsCore)
{
    machine.hvc(cpu_on, 1, entry, 0);
    fake_switch_core(linux_core1);
    EXPECT_TRUE(fake_gic_has_interrupt());
}

TEST_F(Psci, CpuOffAndOnAgain)
{
    machine.hvc(cpu_on, 1, entry, 0);
    guest_regs &regs = machine.on_core(linux_core1);
    regs.x[20] = 77;
    machine.hvc(cpu_off);
    EXPECT_TRUE(machine.waited());
    machine.on_core(linux_core0);
    EXPECT_EQ(machine.hvc(affinity_info, 1), 1u);
    EXPECT_EQ(machine.hvc(cpu_on, 1, entry + 4, 9), 0u);
    EXPECT_EQ(machine.on_core(linux_core1).x[0], 9u);
    EXPECT_EQ(regs.x[20], 0u) << "nothing of the first life remains";
}

TEST_F(Psci, RefusesWhatIsNotItsOwn)
{
    EXPECT_EQ(machine.hvc(cpu_on, 2, entry, 0), invalid_parameters);
    EXPECT_EQ(machine.hvc(cpu_on, 0x100, entry, 0), invalid_parameters);
    EXPECT_EQ(machine.hvc(cpu_on, ~0ull, entry, 0), invalid_parameters);
    EXPECT_EQ(machine.hvc(cpu_on, 1, 0x70000000, 0), invalid_address);
    EXPECT_EQ(machine.hvc(cpu_on, 1, entry + 1, 0), invalid_address);
    EXPECT_EQ(machine.hvc(affinity_info, 5), invalid_parameters);
    EXPECT_EQ(machine.hvc(affinity_info, 0, 1), invalid_parameters);
}

TEST_F(Psci, The32BitCallLooksAt32Bits)
{
    EXPECT_EQ(machine.hvc(cpu_on_32, 0xFFFFFFFF00000001, 0xABCD000000000000 | entry, 0xFFFFFFFF00000005), 0u);
    EXPECT_EQ(machine.on_core(linux_core1).x[0], 5u);
}

TEST_F(Psci, SuspendWaitsOnlyIfNothingIsPending)
{
    fake_hook_wfi(nullptr);
    EXPECT_EQ(machine.hvc(cpu_suspend, 0), 0u);
    EXPECT_EQ(fake_barriers(FAKE_WFI), 1u);
}

TEST_F(Psci, SystemOffStopsTheDomainAndNoOther)
{
    machine.hvc(cpu_on, 1, entry, 0);
    machine.on_core(linux_core1);
    machine.on_core(linux_core0);
    machine.hvc(system_off);
    EXPECT_TRUE(machine.waited());
    EXPECT_EQ(machine.status(1).state, uint32_t{BH_DOMAIN_STATE_STOPPED});
    EXPECT_EQ(machine.status(1).end, uint32_t{BH_DOMAIN_END_SYSTEM_OFF});
    fake_switch_core(linux_core1);
    machine.interrupt(); // told to stop
    EXPECT_TRUE(machine.waited());
    machine.on_core(0);
    EXPECT_EQ(machine.status(0).state, uint32_t{BH_DOMAIN_STATE_RUNNING});
}

} // namespace
} // namespace psci_test
