// SPDX-License-Identifier: Apache-2.0
//
// Delivery by the virtual GICv3: contents of list registers, the registers for software-generated interrupts,
// and private interrupts in redistributors.
#include "deliver_fixture.h"
#include "vgic/vgic.h"

#include <gmock/gmock.h>

namespace vgic_deliver_gicv3_test {
namespace {

using namespace bulkhead_test;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint64_t kLrPending = UINT64_C(1) << 62;
constexpr uint64_t kLrHw = UINT64_C(1) << 61;
constexpr uint64_t kLrGroup1 = UINT64_C(1) << 60;

std::vector<uint64_t> writes_of(enum sysreg_id first, enum sysreg_id last)
{
    std::vector<uint64_t> values;

    for (size_t i = 0; i < fake_write_count(); i++) {
        const struct fake_write *write = fake_write_at(i);

        if (!write->is_mmio && write->id >= first && write->id <= last) {
            values.push_back(write->value);
        }
    }
    return values;
}

std::vector<uint64_t> list_register_writes()
{
    return writes_of(SYSREG_ID_ICH_LR0_EL2, SYSREG_ID_ICH_LR15_EL2);
}

TEST_F(Deliver, PassedThroughSpiGoesIntoAListRegisterWithItsPhysicalNumber)
{
    TestSystem system{one_vcpu({kSpi})};
    Guest guest(system, 0);

    guest.open();
    guest.enable_spi(kSpi);
    EXPECT_TRUE(fake_gic_is_enabled(kSpi));
    fake_gic_raise(kSpi);
    fake_forget_writes();
    ASSERT_TRUE(system.take_interrupts());

    EXPECT_THAT(list_register_writes(), ElementsAre(kLrPending | kLrHw | kLrGroup1 | UINT64_C(0xA0) << 48 |
                                                    uint64_t{kSpi} << 32 | kSpi));
    EXPECT_TRUE(fake_gic_is_active(kSpi)) << "EL2 must leave the deactivation to the guest";
    EXPECT_EQ(guest.acknowledge(), kSpi);
    guest.end(kSpi);
    EXPECT_FALSE(fake_gic_is_active(kSpi));
    fake_gic_raise(kSpi);
    EXPECT_THAT(guest.take_all(), ElementsAre(kSpi));
}

TEST_F(Deliver, TimerInterruptCostsFewRegisterAccesses)
{
    TestSystem system{one_vcpu()};
    Guest guest(system, 0);

    guest.open();
    guest.enable_private(kVirtualTimer);
    fake_gic_raise(kVirtualTimer);
    EXPECT_THAT(guest.take_all(), ElementsAre(kVirtualTimer));
    fake_gic_raise(kVirtualTimer);
    fake_forget_writes();
    ASSERT_TRUE(system.take_interrupts());
    // IAR, the list register, EOIR.
    EXPECT_EQ(fake_sysreg_access_count(), 3u);
    EXPECT_THAT(guest.take_all(), ElementsAre(kVirtualTimer));
}

TEST_F(Deliver, WhatTheGuestChangesBetweenTwoTimerInterruptsHolds)
{
    TestSystem system{one_vcpu()};
    Guest guest(system, 0);
    constexpr uint64_t urgent = 0x40;

    guest.open();
    guest.enable_private(kVirtualTimer);
    fake_gic_raise(kVirtualTimer);
    EXPECT_THAT(guest.take_all(), ElementsAre(kVirtualTimer));

    guest.set_priority(kVirtualTimer, urgent);
    fake_gic_raise(kVirtualTimer);
    ASSERT_TRUE(system.take_interrupts());
    EXPECT_EQ(fake_gic_sysreg(SYSREG_ID_ICH_LR0_EL2) >> 48 & 0xFF, urgent);
    EXPECT_THAT(guest.take_all(), ElementsAre(kVirtualTimer));

    guest.disable_private(kVirtualTimer);
    fake_gic_raise(kVirtualTimer);
    EXPECT_EQ(guest.acknowledge(), FAKE_GIC_SPURIOUS);
    guest.enable_private(kVirtualTimer);
    EXPECT_THAT(guest.take_all(), ElementsAre(kVirtualTimer));

    guest.write_dist(0, 0); // GICD_CTLR: both groups off
    fake_gic_raise(kVirtualTimer);
    ASSERT_TRUE(system.take_interrupts());
    EXPECT_EQ(guest.acknowledge(), FAKE_GIC_SPURIOUS);
    guest.open();
    EXPECT_THAT(guest.take_all(), ElementsAre(kVirtualTimer));
}

TEST_F(Deliver, ExitsThatDoNotConcernInterruptsTouchNoListRegister)
{
    TestSystem system{one_vcpu({kSpi})};
    Guest guest(system, 0);

    guest.open();
    guest.enable_spi(kSpi);
    fake_gic_raise(kSpi);
    ASSERT_TRUE(system.take_interrupts());
    fake_forget_writes();
    guest.read_dist(0);
    guest.read_dist(4);
    guest.write_dist(0, 0x13);
    guest.read_uart(0x18);
    EXPECT_EQ(fake_sysreg_access_count(), 0u);
}

TEST_F(Deliver, SgiToAnotherVcpuInterruptsItsCoreAndIsPendingThere)
{
    TestSystem system{one_vcpu(), two_vcpus()};
    Guest first(system, 1, 0);
    Guest second(system, 1, 1);

    first.open();
    second.open();
    second.enable_private(5);
    ASSERT_TRUE(system.settle());
    fake_forget_writes();
    first.send_sgi(5, 0b10);
    // Core 2 is affinity 2: target list bit 2, EL2's own SGI 0.
    EXPECT_THAT(writes_of(SYSREG_ID_ICC_SGI1R_EL1, SYSREG_ID_ICC_SGI1R_EL1), ElementsAre(1u << 2));
    EXPECT_THAT(list_register_writes(), IsEmpty()) << "the sender's core has nothing to deliver";
    ASSERT_TRUE(system.settle());
    EXPECT_EQ(second.acknowledge(), 5u);
    second.end(5);
    EXPECT_EQ(first.acknowledge(), FAKE_GIC_SPURIOUS);
}

TEST_F(Deliver, SgiToOneselfNeedsNoPhysicalOne)
{
    TestSystem system{one_vcpu()};
    Guest guest(system, 0);

    guest.open();
    guest.enable_private(3);
    fake_forget_writes();
    guest.send_sgi(3, 1);
    EXPECT_THAT(writes_of(SYSREG_ID_ICC_SGI1R_EL1, SYSREG_ID_ICC_SGI1R_EL1), IsEmpty());
    EXPECT_THAT(guest.take_all(), ElementsAre(3));
}

TEST_F(Deliver, SgiToAffinitiesThatDoNotExistGoesNowhere)
{
    TestSystem system{two_vcpus()};
    Guest first(system, 0, 0);
    Guest second(system, 0, 1);

    first.open();
    second.open();
    first.enable_private(1);
    second.enable_private(1);
    for (uint64_t value :
         {UINT64_C(0xFFFC), UINT64_C(1) << 16 | 0xFFFF, UINT64_C(1) << 32 | 0xFFFF,
          UINT64_C(1) << 48 | 0xFFFF, UINT64_C(1) << 44 | 0xFFFF, UINT64_C(15) << 44 | 0xFFFF}) {
        vgic_sgi1r_write(&system.run(0, 0), value | UINT64_C(1) << 24);
    }
    ASSERT_TRUE(system.settle());
    EXPECT_THAT(first.take_all(), IsEmpty());
    EXPECT_THAT(second.take_all(), IsEmpty());
}

TEST_F(Deliver, TimerEnableIsMirroredOnTheCoreOfItsOwner)
{
    TestSystem system{two_vcpus()};
    Guest first(system, 0, 0);

    first.open();
    // The first VCPU writes the second one's redistributor.
    first.write_redist(BH_REDISTRIBUTOR_BYTES + 0x10100, 1u << kVirtualTimer);
    ASSERT_TRUE(system.settle());
    system.run_core(1);
    EXPECT_FALSE(fake_gic_is_enabled(kVirtualTimer));
    system.run_core(2);
    EXPECT_TRUE(fake_gic_is_enabled(kVirtualTimer));
}

TEST_F(Deliver, ResetOfAVcpuForgetsItsPrivateInterruptsAndFreesTheHardware)
{
    TestSystem system{one_vcpu({kSpi})};
    Guest guest(system, 0);

    guest.open();
    guest.enable_private(kVirtualTimer);
    guest.enable_private(4);
    guest.enable_spi(kSpi);
    fake_gic_set_line(kVirtualTimer, true);
    ASSERT_TRUE(system.take_interrupts());
    ASSERT_EQ(guest.acknowledge(), kVirtualTimer); // and never ends it
    guest.send_sgi(4, 1);
    fake_gic_set_sysreg(SYSREG_ID_ICH_VMCR_EL2, 0xFF000002);

    vgic_vcpu_off(&system.run(0));
    EXPECT_FALSE(fake_gic_is_enabled(kVirtualTimer));
    EXPECT_FALSE(fake_gic_is_active(kVirtualTimer));
    EXPECT_EQ(fake_gic_sysreg(SYSREG_ID_ICH_HCR_EL2), 0u);
    fake_gic_raise(kSpi);
    ASSERT_TRUE(system.take_interrupts());
    EXPECT_FALSE(fake_gic_guest_has_interrupt());

    vgic_vcpu_reset(&system.run(0));
    EXPECT_EQ(fake_gic_sysreg(SYSREG_ID_ICH_VMCR_EL2), 0u);
    EXPECT_EQ(guest.read_redist(0x10100), 0u);
    EXPECT_EQ(guest.read_redist(0x10200), 1u << kVirtualTimer) << "its line is still high";
    fake_gic_guest_open();
    EXPECT_EQ(guest.acknowledge(), kSpi) << "an SPI that came meanwhile waits for the new life";
    guest.end(kSpi);
    guest.enable_private(kVirtualTimer);
    ASSERT_TRUE(system.take_interrupts());
    EXPECT_TRUE(fake_gic_guest_has_interrupt()) << "the timer works again";
}

} // namespace
} // namespace vgic_deliver_gicv3_test
