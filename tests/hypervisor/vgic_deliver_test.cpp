// SPDX-License-Identifier: Apache-2.0
//
// Delivery of virtual interrupts: from a physical interrupt, a register write or another core to the guest's
// acknowledgement, with fewer list registers than interrupts.
#include "deliver_fixture.h"
#include "vgic/vgic.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <set>

extern "C" {
#include <arch/gic.h>
}

namespace vgic_deliver_test {
namespace {

using namespace bulkhead_test;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<uint32_t> range(uint32_t first, uint32_t count)
{
    std::vector<uint32_t> numbers(count);

    std::iota(numbers.begin(), numbers.end(), first);
    return numbers;
}

// True if VCPU v, whose core has no interrupt left, is told of a line that is high as soon as it can take it:
// the interrupt is in a list register or active, or EL2 has asked for a maintenance interrupt because other
// interrupts are in all list registers.
bool is_attended(const struct domain &domain, uint32_t v, uint32_t intid)
{
    const struct vgic_bank &bank = domain.vgic.spis[intid / 32 - 1];
    uint32_t bit = 1u << intid % 32;

    return domain.vgic.target[intid - GIC_PRIVATE_COUNT] != v || (bank.line & bank.enabled & bit) == 0 ||
           ((bank.resident | bank.active) & bit) != 0 || domain.vcpus[v].vgic.events != 0;
}

TEST_F(Deliver, TimerInterruptsComeAgainAndAgain)
{
    TestSystem system{one_vcpu()};
    Guest guest(system, 0);

    guest.open();
    guest.enable_private(kVirtualTimer);
    for (int i = 0; i < 5; i++) {
        fake_gic_set_line(kVirtualTimer, true);
        ASSERT_TRUE(system.take_interrupts());
        ASSERT_EQ(guest.acknowledge(), kVirtualTimer);
        fake_gic_set_line(kVirtualTimer, false);
        guest.end(kVirtualTimer);
        EXPECT_FALSE(fake_gic_has_interrupt());
    }
}

TEST_F(Deliver, MorePendingThanListRegistersLosesNothing)
{
    TestSystem system{one_vcpu()};
    Guest guest(system, 0);

    guest.open();
    for (uint32_t intid = 40; intid < 60; intid++) {
        guest.enable_spi(intid);
        guest.write_dist(0x200 + intid / 32 * 4, 1u << intid % 32);
    }
    EXPECT_EQ(this_cpu()->status->list_register_full, 1u);
    EXPECT_THAT(guest.take_all(), range(40, 20));
    EXPECT_FALSE(fake_gic_has_interrupt()) << "a maintenance interrupt stays on";
}

TEST_F(Deliver, ACoreWithASingleListRegisterIsNotEnough)
{
    for (uint32_t list_registers : {1u, 2u, 4u, 16u}) {
        TestSystem system{{one_vcpu()}, list_registers};

        EXPECT_EQ(vgic_core_suffices(), list_registers != 1) << list_registers;
    }
}

TEST_F(Deliver, TheMostUrgentComesFirstAlsoIfItComesLast)
{
    TestSystem system{one_vcpu()};
    Guest guest(system, 0);

    guest.open();
    for (uint32_t intid = 40; intid < 48; intid++) {
        guest.enable_spi(intid);
        guest.set_priority(intid, static_cast<uint8_t>(0xA0 - (intid - 40) * 8));
        guest.write_dist(0x204, 1u << intid % 32);
    }
    EXPECT_THAT(guest.take_all(), ElementsAre(47, 46, 45, 44, 43, 42, 41, 40));
}

TEST_F(Deliver, MoreActiveThanListRegistersAreAllEnded)
{
    TestSystem system{one_vcpu({kSpi})};
    Guest guest(system, 0);
    std::vector<uint32_t> nested;

    guest.open();
    guest.set_priority(kSpi, 0xF0);
    guest.enable_spi(kSpi);
    fake_gic_raise(kSpi);
    ASSERT_TRUE(system.take_interrupts());
    nested.push_back(guest.acknowledge());
    // Each interrupts the handler of the previous one.
    for (uint32_t i = 0; i < 7; i++) {
        guest.set_priority(60 + i, static_cast<uint8_t>(0xE0 - i * 0x10));
        guest.enable_spi(60 + i);
        guest.write_dist(0x200 + (60 + i) / 32 * 4, 1u << (60 + i) % 32);
        ASSERT_TRUE(system.take_interrupts());
        nested.push_back(guest.acknowledge());
    }
    EXPECT_THAT(nested, ElementsAre(kSpi, 60, 61, 62, 63, 64, 65, 66));
    EXPECT_TRUE(fake_gic_is_active(kSpi));
    // Ended without any steps of EL2 in between.
    for (auto intid = nested.rbegin(); intid != nested.rend(); ++intid) {
        guest.end(*intid);
    }
    ASSERT_TRUE(system.take_interrupts());
    EXPECT_FALSE(fake_gic_is_active(kSpi)) << "the physical interrupt of an ended one is blocked for ever";
    EXPECT_EQ(guest.read_dist(0x304) | guest.read_dist(0x308), 0u);
    fake_gic_raise(kSpi);
    EXPECT_THAT(guest.take_all(), ElementsAre(kSpi));
}

TEST_F(Deliver, AnInterruptReachesAGuestThatHasMoreActiveThanListRegisters)
{
    constexpr uint32_t restored = 0x1F; // SPIs 160 to 164

    TestSystem system{one_vcpu({kSpi})};
    Guest guest(system, 0);

    guest.open();
    for (uint32_t intid = 160; intid < 165; intid++) {
        guest.set_priority(intid, 0x20); // more urgent than the device's
    }
    guest.write_dist(0x314, restored); // like a guest that restores saved state: no priority is active
    guest.enable_spi(kSpi);
    for (int i = 0; i < 3; i++) {
        fake_gic_raise(kSpi);
        ASSERT_TRUE(system.take_interrupts());
        ASSERT_EQ(guest.acknowledge(), kSpi) << "kept out by interrupts that mask nothing";
        ASSERT_TRUE(system.take_interrupts());
        guest.end(kSpi);
        ASSERT_TRUE(system.take_interrupts());
        EXPECT_FALSE(fake_gic_is_active(kSpi)) << "its end was taken for that of another";
        EXPECT_EQ(guest.read_dist(0x314), restored);
    }
}

// With the split end of interrupts a guest may have dropped the priority of all its interrupts and wait for
// one more before it deactivates the first.
TEST_F(Deliver, AnInterruptReachesAGuestThatHasDeactivatedNoneYet)
{
    TestSystem system{{one_vcpu()}, 2};
    Guest guest(system, 0);
    std::vector<uint32_t> taken;

    guest.open();
    for (uint32_t intid = 40; intid < 46; intid++) {
        guest.enable_spi(intid);
        guest.write_dist(0x204, 1u << intid % 32);
        ASSERT_TRUE(system.take_interrupts());
        taken.push_back(guest.acknowledge());
        guest.drop_priority();
        ASSERT_TRUE(system.take_interrupts());
    }
    EXPECT_THAT(taken, range(40, 6));
    EXPECT_EQ(guest.read_dist(0x304), 0x3F00u);
    for (uint32_t intid : taken) {
        guest.deactivate(intid);
        ASSERT_TRUE(system.take_interrupts());
    }
    EXPECT_EQ(guest.read_dist(0x304), 0u);
    EXPECT_FALSE(fake_gic_has_interrupt());
}

TEST_F(Deliver, DisabledInterruptStaysPendingUntilItIsEnabled)
{
    TestSystem system{one_vcpu()};
    Guest guest(system, 0);

    guest.open();
    guest.write_dist(0x204, 1u << (kSpi - 32));
    EXPECT_THAT(guest.take_all(), IsEmpty());
    EXPECT_EQ(guest.read_dist(0x204), 1u << (kSpi - 32));
    guest.enable_spi(kSpi);
    EXPECT_THAT(guest.take_all(), ElementsAre(kSpi));
    EXPECT_EQ(guest.read_dist(0x204), 0u);
}

TEST_F(Deliver, DisablingTakesAPendingInterruptBackFromTheGuest)
{
    TestSystem system{one_vcpu()};
    Guest guest(system, 0);

    guest.open();
    guest.enable_spi(kSpi);
    guest.write_dist(0x204, 1u << (kSpi - 32));
    EXPECT_EQ(guest.read_dist(0x204), 1u << (kSpi - 32)) << "pending in its list register";
    guest.disable_spi(kSpi);
    EXPECT_FALSE(fake_gic_guest_has_interrupt());
    EXPECT_EQ(guest.read_dist(0x204), 1u << (kSpi - 32));
    guest.enable_spi(kSpi);
    EXPECT_THAT(guest.take_all(), ElementsAre(kSpi));
}

TEST_F(Deliver, DisabledHardwareLevelGoesBackToThePhysicalGicAndComesAgain)
{
    TestSystem system{one_vcpu({kSpi})};
    Guest guest(system, 0);

    guest.open();
    guest.enable_spi(kSpi);
    fake_gic_set_line(kSpi, true);
    ASSERT_TRUE(system.take_interrupts());
    guest.disable_spi(kSpi);
    EXPECT_FALSE(fake_gic_is_enabled(kSpi));
    EXPECT_FALSE(fake_gic_is_active(kSpi));
    EXPECT_EQ(guest.read_dist(0x204), 1u << (kSpi - 32)) << "the line is high";
    fake_gic_set_line(kSpi, false);
    EXPECT_EQ(guest.read_dist(0x204), 0u) << "a level leaves no trace";
    guest.enable_spi(kSpi);
    EXPECT_THAT(guest.take_all(), IsEmpty());
    fake_gic_set_line(kSpi, true);
    ASSERT_TRUE(system.take_interrupts());
    EXPECT_EQ(guest.acknowledge(), kSpi);
}

TEST_F(Deliver, EdgeOfADisabledHardwareInterruptIsKept)
{
    TestSystem system{one_vcpu({kSpi})};
    Guest guest(system, 0);

    guest.open();
    guest.write_dist(0xC00 + kSpi / 16 * 4, 2u << kSpi % 16 * 2);
    guest.enable_spi(kSpi);
    fake_gic_raise(kSpi);
    ASSERT_TRUE(system.take_interrupts());
    guest.disable_spi(kSpi);
    EXPECT_FALSE(fake_gic_guest_has_interrupt());
    guest.enable_spi(kSpi);
    EXPECT_THAT(guest.take_all(), ElementsAre(kSpi));
    EXPECT_FALSE(fake_gic_is_active(kSpi));
}

TEST_F(Deliver, EmulatedLevelIsDeliveredAgainUntilTheLineFalls)
{
    TestSystem system{one_vcpu()};
    Guest guest(system, 0);

    guest.open();
    guest.enable_spi(kPhysicalUartIntid);
    vgic_set_spi_level(&system.domain(0), kPhysicalUartIntid, true);
    for (int i = 0; i < 3; i++) {
        ASSERT_EQ(guest.acknowledge(), kPhysicalUartIntid);
        EXPECT_FALSE(fake_gic_guest_has_interrupt());
        guest.end(kPhysicalUartIntid);
        ASSERT_TRUE(system.take_interrupts());
    }
    ASSERT_EQ(guest.acknowledge(), kPhysicalUartIntid);
    vgic_set_spi_level(&system.domain(0), kPhysicalUartIntid, false);
    guest.end(kPhysicalUartIntid);
    EXPECT_THAT(guest.take_all(), IsEmpty());
}

TEST_F(Deliver, ALevelThatIsStillHighComesAgainIfAnotherInterruptArrivesAtItsEnd)
{
    TestSystem system{two_vcpus()};
    Guest first(system, 0, 0);
    Guest second(system, 0, 1);

    first.open();
    first.enable_private(7);
    first.enable_spi(kPhysicalUartIntid);
    second.open();
    system.run(0, 0);
    vgic_set_spi_level(&system.domain(0), kPhysicalUartIntid, true);
    ASSERT_EQ(first.acknowledge(), kPhysicalUartIntid);
    second.send_sgi(7, 1u << 0);
    system.run(0, 0);
    first.end(kPhysicalUartIntid); // EL2's request for the SGI precedes the maintenance interrupt
    ASSERT_TRUE(system.take_interrupts());
    ASSERT_EQ(first.acknowledge(), 7u);
    first.end(7);
    EXPECT_EQ(first.acknowledge(), kPhysicalUartIntid) << "its line is still high";
}

TEST_F(Deliver, LevelThatFallsBeforeItIsAcknowledgedIsWithdrawn)
{
    TestSystem system{one_vcpu()};
    Guest guest(system, 0);

    guest.open();
    guest.enable_spi(kPhysicalUartIntid);
    vgic_set_spi_level(&system.domain(0), kPhysicalUartIntid, true);
    EXPECT_TRUE(fake_gic_guest_has_interrupt());
    vgic_set_spi_level(&system.domain(0), kPhysicalUartIntid, false);
    EXPECT_FALSE(fake_gic_guest_has_interrupt());
}

TEST_F(Deliver, SgiBroadcastReachesTheOtherVcpusOfTheDomainOnly)
{
    TestSystem system{one_vcpu(), two_vcpus()};
    Guest stranger(system, 0);
    Guest first(system, 1, 0);
    Guest second(system, 1, 1);

    for (const Guest &guest : {stranger, first, second}) {
        guest.open();
        guest.enable_private(7);
    }
    first.send_sgi_to_others(7);
    ASSERT_TRUE(system.settle());
    EXPECT_THAT(stranger.take_all(), IsEmpty());
    EXPECT_THAT(first.take_all(), IsEmpty());
    EXPECT_THAT(second.take_all(), ElementsAre(7));
}

TEST_F(Deliver, SgiThatIsSentAgainWhileItIsHandledComesAgain)
{
    TestSystem system{two_vcpus()};
    Guest first(system, 0, 0);
    Guest second(system, 0, 1);

    first.open();
    second.open();
    second.enable_private(2);
    first.send_sgi(2, 0b10);
    ASSERT_TRUE(system.settle());
    ASSERT_EQ(second.acknowledge(), 2u);
    first.send_sgi(2, 0b10);
    ASSERT_TRUE(system.settle());
    EXPECT_EQ(second.acknowledge(), FAKE_GIC_SPURIOUS);
    second.end(2);
    EXPECT_EQ(second.acknowledge(), 2u);
}

TEST_F(Deliver, RoutingMovesAPendingInterruptToTheOtherVcpu)
{
    TestSystem system{two_vcpus({kSpi})};
    Guest first(system, 0, 0);
    Guest second(system, 0, 1);

    first.open();
    second.open();
    first.enable_spi(kSpi);
    system.run(0, 0);
    fake_gic_raise(kSpi);
    ASSERT_TRUE(system.take_interrupts());
    first.route_spi(kSpi, 1);
    EXPECT_EQ(routed_core(kSpi), 2u) << "core 2 takes the next one";
    ASSERT_TRUE(system.settle());
    EXPECT_THAT(first.take_all(), IsEmpty());
    EXPECT_THAT(second.take_all(), ElementsAre(kSpi));
    EXPECT_FALSE(fake_gic_is_active(kSpi));
    fake_gic_raise(kSpi);
    EXPECT_THAT(first.take_all(), IsEmpty());
    EXPECT_THAT(second.take_all(), ElementsAre(kSpi));
}

TEST_F(Deliver, AnActiveInterruptStaysWhereItIsWhenItIsRoutedAway)
{
    TestSystem system{two_vcpus()};
    Guest first(system, 0, 0);
    Guest second(system, 0, 1);

    first.open();
    second.open();
    first.enable_spi(kSpi);
    first.write_dist(0x204, 1u << (kSpi - 32));
    ASSERT_EQ(first.acknowledge(), kSpi);
    second.route_spi(kSpi, 1);
    second.write_dist(0x204, 1u << (kSpi - 32));
    ASSERT_TRUE(system.settle());
    EXPECT_THAT(second.take_all(), IsEmpty()) << "still active on the first";
    first.end(kSpi);
    ASSERT_TRUE(system.settle());
    EXPECT_THAT(second.take_all(), ElementsAre(kSpi));
}

TEST_F(Deliver, AnInterruptThatArrivesWhileItIsStillActiveElsewhereIsGivenBackWhenItIsWithdrawn)
{
    TestSystem system{two_vcpus({kSpi})};
    Guest first(system, 0, 0);
    Guest second(system, 0, 1);
    const uint32_t bit = 1u << (kSpi - 32);

    first.open();
    second.open();
    first.enable_spi(kSpi);
    first.write_dist(0x204, bit); // pending without the device
    ASSERT_EQ(first.acknowledge(), kSpi);
    first.route_spi(kSpi, 1);
    system.run(0, 1);
    fake_gic_raise(kSpi);
    ASSERT_TRUE(system.take_interrupts()) << "the other core takes the device's";
    first.write_dist(0x284, bit); // not pending any more
    ASSERT_TRUE(system.settle());
    first.end(kSpi);
    ASSERT_TRUE(system.settle());
    EXPECT_THAT(second.take_all(), IsEmpty());
    EXPECT_FALSE(fake_gic_is_active(kSpi)) << "else the device is never heard of again";
    fake_gic_raise(kSpi);
    ASSERT_TRUE(system.settle());
    EXPECT_THAT(second.take_all(), ElementsAre(kSpi));
}

TEST_F(Deliver, AnInterruptThatComesAgainAfterItWasRoutedNowhereWaitsForANewRoute)
{
    TestSystem system{two_vcpus({kSpi})};
    Guest first(system, 0, 0);
    const uint32_t no_such_vcpu = 5;

    first.open();
    first.enable_spi(kSpi);
    system.run(0, 0);
    fake_gic_raise(kSpi);
    ASSERT_TRUE(system.take_interrupts());
    ASSERT_EQ(first.acknowledge(), kSpi);
    first.route_spi(kSpi, no_such_vcpu);
    fake_gic_raise(kSpi);
    first.end(kSpi);
    ASSERT_TRUE(system.settle());
    EXPECT_THAT(first.take_all(), IsEmpty());
    first.route_spi(kSpi, 0);
    ASSERT_TRUE(system.settle());
    EXPECT_THAT(first.take_all(), ElementsAre(kSpi));
    EXPECT_FALSE(fake_gic_is_active(kSpi)) << "else the device is never heard of again";
}

TEST_F(Deliver, DisablingOnOneVcpuReachesTheListRegisterOfTheOther)
{
    TestSystem system{two_vcpus()};
    Guest first(system, 0, 0);
    Guest second(system, 0, 1);

    first.open();
    second.open();
    first.route_spi(kSpi, 1);
    first.enable_spi(kSpi);
    first.write_dist(0x204, 1u << (kSpi - 32));
    ASSERT_TRUE(system.settle());
    first.disable_spi(kSpi);
    ASSERT_TRUE(system.settle());
    EXPECT_EQ(second.acknowledge(), FAKE_GIC_SPURIOUS);
    first.enable_spi(kSpi);
    ASSERT_TRUE(system.settle());
    EXPECT_EQ(second.acknowledge(), kSpi);
}

TEST_F(Deliver, ClearingPendingOnOneVcpuReachesTheListRegisterOfTheOther)
{
    TestSystem system{two_vcpus()};
    Guest first(system, 0, 0);
    Guest second(system, 0, 1);

    first.open();
    second.open();
    first.route_spi(kSpi, 1);
    first.enable_spi(kSpi);
    first.write_dist(0x204, 1u << (kSpi - 32));
    ASSERT_TRUE(system.settle());
    first.write_dist(0x284, 1u << (kSpi - 32));
    ASSERT_TRUE(system.settle());
    EXPECT_THAT(second.take_all(), IsEmpty());
}

TEST_F(Deliver, EndedDomainHasNoPhysicalInterrupts)
{
    TestSystem system{one_vcpu({kSpi})};
    Guest guest(system, 0);

    guest.open();
    guest.enable_spi(kSpi);
    fake_gic_raise(kSpi);
    ASSERT_TRUE(system.take_interrupts());
    vgic_domain_stop(&system.domain(0));
    vgic_vcpu_off(&system.run(0));
    EXPECT_FALSE(fake_gic_is_enabled(kSpi));
    EXPECT_FALSE(fake_gic_is_active(kSpi));
}

TEST_F(Deliver, AnSpiThatWasAcknowledgedJustBeforeTheEndIsRefused)
{
    TestSystem system{one_vcpu({kSpi})};
    Guest guest(system, 0);

    guest.open();
    guest.enable_spi(kSpi);
    system.domain(0).state = BH_DOMAIN_STATE_RESTARTING;
    vgic_domain_stop(&system.domain(0));
    EXPECT_FALSE(vgic_inject_spi_hw(&system.domain(0), kSpi)) << "the caller deactivates it";
    EXPECT_EQ(system.domain(0).vgic.spis[kSpi / 32 - 1].held, 0u);
}

TEST_F(Deliver, SpiOfAnotherDomainIsRefused)
{
    TestSystem system{one_vcpu({kSpi}), two_vcpus({kSpi + 1})};

    EXPECT_FALSE(vgic_inject_spi_hw(&system.domain(0), kSpi + 1));
    EXPECT_FALSE(vgic_inject_spi_hw(&system.domain(0), VGIC_INTID_LIMIT));
    EXPECT_FALSE(vgic_add_spi_hw(&system.domain(0), 31, 0));
    EXPECT_FALSE(vgic_add_spi_hw(&system.domain(0), VGIC_INTID_LIMIT, 0));
    EXPECT_FALSE(vgic_add_spi_hw(&system.domain(0), kSpi + 2, 1));
}

// Two VCPUs, two list registers each, all events in any order: every raised interrupt is delivered, as often
// as the guest could distinguish, and nothing hangs.
TEST_F(Deliver, NothingIsLostInARandomLife)
{
    for (uint32_t seed = 0; seed < 1000; seed++) {
        TestSystem system{{two_vcpus({kSpi, kSpi + 1, kSpi + 2})}, std::array{2u, 4u, 16u}[seed % 3]};
        std::mt19937 random(seed);
        std::array<std::vector<uint32_t>, 2> active;
        std::set<uint32_t> high; // lines of emulated devices
        auto pick = [&random](uint32_t n) { return static_cast<uint32_t>(random() % n); };
        // The handler of an emulated device lowers its line.
        auto handle_all = [&system, &high](uint32_t v) {
            Guest guest(system, 0, v);

            system.run(0, v);
            ASSERT_TRUE(system.take_interrupts());
            for (uint32_t intid; (intid = guest.acknowledge()) != FAKE_GIC_SPURIOUS;) {
                if (high.erase(intid) != 0) {
                    vgic_set_spi_level(&system.domain(0), intid, false);
                }
                guest.end(intid);
                ASSERT_TRUE(system.take_interrupts());
            }
        };

        for (uint32_t v = 0; v < 2; v++) {
            Guest guest(system, 0, v);

            guest.open();
            guest.enable_private(kVirtualTimer);
            for (uint32_t sgi = 0; sgi < 4; sgi++) {
                guest.enable_private(sgi);
                guest.set_priority(sgi, static_cast<uint8_t>(pick(16) << 4));
            }
        }
        Guest(system, 0, 0).write_dist(0xC00 + kSpi / 16 * 4, 0xAAA); // six edges
        for (uint32_t spi = kSpi; spi < kSpi + 8; spi++) {
            Guest(system, 0, 0).enable_spi(spi);
            Guest(system, 0, 0).set_priority(spi, static_cast<uint8_t>(pick(16) << 4));
        }
        for (int step = 0; step < 300; step++) {
            uint32_t v = pick(2);
            Guest guest(system, 0, v);
            uint32_t spi = kSpi + pick(8);

            system.run(0, v);
            switch (pick(13)) {
            case 0:
                guest.send_sgi(pick(4), 1 + pick(3));
                break;
            case 1:
                fake_gic_raise(kSpi + pick(3));
                break;
            case 2:
                if (spi < kSpi + 6) { // a latched level would hide one that is lost
                    guest.write_dist(0x204, 1u << (spi - 32));
                }
                break;
            case 3:
                guest.route_spi(spi, pick(2));
                break;
            case 4:
                guest.disable_spi(spi);
                break;
            case 5:
                guest.enable_spi(spi);
                break;
            case 6:
                if (uint32_t intid = guest.acknowledge(); intid != FAKE_GIC_SPURIOUS) {
                    active[v].push_back(intid);
                }
                break;
            case 7:
                if (!active[v].empty()) {
                    guest.end(active[v].back());
                    active[v].pop_back();
                }
                break;
            case 8:
                fake_gic_raise(kVirtualTimer);
                break;
            case 9:
                // Never while it is handled: its end would drop a priority that is not the active one.
                if (std::count(active[v].begin(), active[v].end(), kVirtualTimer) == 0) {
                    guest.set_priority(kVirtualTimer, static_cast<uint8_t>(pick(16) << 4));
                }
                break;
            case 10:
                pick(2) != 0 ? guest.enable_private(kVirtualTimer) : guest.disable_private(kVirtualTimer);
                break;
            case 11: {
                uint32_t line = kSpi + 6 + pick(2);
                bool level = high.insert(line).second;

                if (!level) {
                    high.erase(line);
                }
                vgic_set_spi_level(&system.domain(0), line, level);
                break;
            }
            default:
                ASSERT_TRUE(system.settle()) << "seed " << seed;
                break;
            }
            // EL2 may be entered for several reasons at once.
            if (pick(4) != 0) {
                ASSERT_TRUE(system.take_interrupts()) << "seed " << seed << " step " << step;
                for (uint32_t line : high) {
                    ASSERT_TRUE(is_attended(system.domain(0), v, line))
                        << "seed " << seed << " step " << step;
                }
            }
        }
        // The guests end their interrupts, then everything that was still waiting is delivered.
        for (uint32_t v = 0; v < 2; v++) {
            for (; !active[v].empty(); active[v].pop_back()) {
                Guest(system, 0, v).end(active[v].back());
            }
        }
        for (uint32_t spi = kSpi; spi < kSpi + 8; spi++) {
            // A write for an enabled one would make EL2 look at its line.
            if ((Guest(system, 0, 0).read_dist(0x104) & 1u << (spi - 32)) == 0) {
                Guest(system, 0, 0).enable_spi(spi);
            }
        }
        for (uint32_t v = 0; v < 2; v++) {
            Guest(system, 0, v).enable_private(kVirtualTimer);
        }
        ASSERT_TRUE(system.settle());
        for (int round = 0; round < 20; round++) {
            handle_all(0);
            handle_all(1);
            ASSERT_TRUE(system.settle());
        }
        EXPECT_THAT(high, IsEmpty()) << "seed " << seed << ": the guest is not told of a line that is high";
        for (uint32_t spi = kSpi; spi < kSpi + 3; spi++) {
            EXPECT_FALSE(fake_gic_is_active(spi)) << "seed " << seed;
            EXPECT_FALSE(fake_gic_is_pending(spi)) << "seed " << seed;
        }
        EXPECT_EQ(Guest(system, 0, 0).read_dist(0x204), 0u) << "seed " << seed;
        EXPECT_EQ(Guest(system, 0, 0).private_pending(), 0u) << "seed " << seed;
        // Each interrupt can still be delivered.
        for (uint32_t v = 0; v < 2; v++) {
            system.run(0, v);
            fake_gic_raise(kVirtualTimer);
            EXPECT_THAT(Guest(system, 0, v).take_all(), ElementsAre(kVirtualTimer)) << "seed " << seed;
        }
        for (uint32_t spi = kSpi; spi < kSpi + 6; spi++) {
            Guest(system, 0, 0).route_spi(spi, 0);
        }
        ASSERT_TRUE(system.settle());
        system.run(0, 0);
        for (uint32_t spi = kSpi; spi < kSpi + 3; spi++) {
            fake_gic_raise(spi);
        }
        Guest(system, 0, 0).write_dist(0x204, 0x38u << (kSpi - 32));
        std::vector<uint32_t> last = Guest(system, 0, 0).take_all();
        std::sort(last.begin(), last.end());
        EXPECT_EQ(last, range(kSpi, 6)) << "seed " << seed;
        ASSERT_EQ(fake_gic_violations(), 0u) << "seed " << seed;
    }
}

} // namespace
} // namespace vgic_deliver_test
