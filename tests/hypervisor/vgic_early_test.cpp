// SPDX-License-Identifier: Apache-2.0
//
// Level interrupts of passed-through devices are delivered once for each assertion, whether the guest's
// handler clears the device's condition before or after it ends the interrupt (D4).
#include "deliver_fixture.h"

#include <gmock/gmock.h>

namespace vgic_early_test {
namespace {

using namespace bulkhead_test;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint64_t kMasked = 0x3C5;
constexpr uint64_t kUnmasked = 0x305;

class Early : public Deliver {
protected:
    void SetUp() override
    {
        guest.open();
        guest.enable_spi(kSpi);
        mask(false);
        fake_gic_set_line(kSpi, true);
        ASSERT_TRUE(system.take_interrupts());
        ASSERT_EQ(guest.acknowledge(), kSpi);
        mask(true);
    }

    static void mask(bool masked) { fake_set_sysreg(SYSREG_ID_SPSR_EL2, masked ? kMasked : kUnmasked); }

    // The handler ends the interrupt while the line is high, and the physical interrupt arrives again.
    void end_first()
    {
        guest.end(kSpi);
        ASSERT_TRUE(system.take_interrupts());
    }

    TestSystem system{one_vcpu({kSpi, kSpi + 1})};
    Guest guest{system, 0};
};

TEST_F(Early, D4_ComesOnceIfTheHandlerTellsTheDeviceLast)
{
    end_first();
    EXPECT_FALSE(fake_gic_guest_has_interrupt());
    fake_gic_set_line(kSpi, false);
    mask(false);
    system.look_again();
    EXPECT_TRUE(fake_gic_is_enabled(kSpi));
    EXPECT_FALSE(system.looks_again());
    EXPECT_THAT(guest.take_all(), IsEmpty());

    fake_gic_set_line(kSpi, true); // and once more for the next assertion
    ASSERT_TRUE(system.take_interrupts());
    EXPECT_EQ(guest.acknowledge(), kSpi);
}

TEST_F(Early, D4_ComesAgainIfTheLineIsStillHighWhenTheHandlerHasReturned)
{
    end_first();
    mask(false);
    system.look_again();
    ASSERT_TRUE(system.take_interrupts());
    EXPECT_EQ(guest.acknowledge(), kSpi);
    fake_gic_set_line(kSpi, false);
    guest.end(kSpi);
    EXPECT_THAT(guest.take_all(), IsEmpty());
}

TEST_F(Early, D4_WaitsWhileTheGuestMasksAndLooksEverMoreSeldom)
{
    end_first();
    uint64_t before = system.counter();
    uint64_t waited = 0;
    unsigned looks = 0;
    for (; system.looks_again(); looks++) {
        EXPECT_FALSE(fake_gic_is_enabled(kSpi));
        system.look_again();
        const uint64_t last = system.counter() - before;
        EXPECT_LE(last, waited + 5000) << "what comes of unmasking just after the last look";
        waited += last;
        before = system.counter();
    }
    EXPECT_EQ(looks, 9u);
    EXPECT_LE(waited, 2'600'000u) << "however long the guest masks";
    ASSERT_TRUE(system.take_interrupts());
    EXPECT_EQ(guest.acknowledge(), kSpi);
}

TEST_F(Early, D4_ComesAtOnceToAGuestThatWaitsWithInterruptsMasked)
{
    constexpr uint64_t hcr_twi = 3u << 13;
    end_first();
    EXPECT_NE(fake_sysreg(SYSREG_ID_HCR_EL2) & hcr_twi, 0u) << "its WFI traps";
    vgic_guest_waits(this_cpu());
    EXPECT_EQ(fake_sysreg(SYSREG_ID_HCR_EL2) & hcr_twi, 0u);
    ASSERT_TRUE(system.take_interrupts());
    EXPECT_EQ(guest.acknowledge(), kSpi);
    system.look_again(); // the alarm was set before
    EXPECT_EQ(fake_sysreg(SYSREG_ID_HCR_EL2) & hcr_twi, 0u);
}

TEST_F(Early, D4_ComesAtOnceWhereTheGuestHasUnmaskedBefore)
{
    mask(false);
    end_first();
    EXPECT_FALSE(system.looks_again());
    EXPECT_EQ(guest.acknowledge(), kSpi);
}

TEST_F(Early, D4_ASecondInterruptOfTheCoreIsNotHeldBack)
{
    end_first();
    guest.enable_spi(kSpi + 1);
    fake_gic_set_line(kSpi + 1, true);
    ASSERT_TRUE(system.take_interrupts());
    ASSERT_EQ(guest.acknowledge(), kSpi + 1);
    guest.end(kSpi + 1);
    ASSERT_TRUE(system.take_interrupts());
    EXPECT_EQ(guest.acknowledge(), kSpi + 1);
    fake_gic_set_line(kSpi + 1, false);
    guest.end(kSpi + 1);
    mask(false);
    system.look_again();
    ASSERT_TRUE(system.take_interrupts());
    EXPECT_THAT(guest.take_all(), testing::Contains(kSpi));
}

TEST_F(Early, D4_IsNotEnabledForAGuestThatHasDisabledItMeanwhile)
{
    end_first();
    guest.disable_spi(kSpi);
    mask(false);
    system.look_again();
    EXPECT_FALSE(fake_gic_is_enabled(kSpi));
    guest.enable_spi(kSpi);
    ASSERT_TRUE(system.take_interrupts());
    EXPECT_EQ(guest.acknowledge(), kSpi);
}

TEST_F(Early, D4_AGuestThatEnablesItMeanwhileHasIt)
{
    end_first();
    guest.disable_spi(kSpi);
    guest.enable_spi(kSpi);
    mask(false);
    ASSERT_TRUE(system.take_interrupts());
    EXPECT_EQ(guest.acknowledge(), kSpi);
    fake_gic_set_line(kSpi, false);
    guest.end(kSpi);
    system.look_again();
    EXPECT_THAT(guest.take_all(), IsEmpty());
}

TEST_F(Early, D4_AnEndedDomainHasNoPhysicalInterruptAfterTheLook)
{
    end_first();
    system.domain(0).state = BH_DOMAIN_STATE_STOPPED;
    vgic_domain_stop(&system.domain(0));
    vgic_vcpu_off(&system.run(0));
    system.look_again();
    EXPECT_FALSE(fake_gic_is_enabled(kSpi));
    EXPECT_FALSE(fake_gic_is_active(kSpi));
}

TEST_F(Early, D4_AnEdgeComesAtOnce)
{
    fake_gic_set_line(kSpi, false);
    guest.end(kSpi);
    guest.disable_spi(kSpi);
    guest.write_dist(0xC00 + kSpi / 16 * 4, 2u << kSpi % 16 * 2);
    guest.enable_spi(kSpi);
    mask(false);
    fake_gic_raise(kSpi);
    ASSERT_TRUE(system.take_interrupts());
    ASSERT_EQ(guest.acknowledge(), kSpi);
    mask(true);
    guest.end(kSpi);
    fake_gic_raise(kSpi);
    ASSERT_TRUE(system.take_interrupts());
    EXPECT_FALSE(system.looks_again());
    EXPECT_EQ(guest.acknowledge(), kSpi);
}

} // namespace
} // namespace vgic_early_test
