// SPDX-License-Identifier: Apache-2.0
//
// Features that only a GICv2 has (IHI 0048): senders of software-generated interrupts, target bytes, banked
// registers in the distributor, list registers in memory; and the physical driver.
#include "deliver_fixture.h"
#include "vgic/vgic.h"

#include <gmock/gmock.h>

extern "C" {
#include "arch/hosted/fake_gic_v2.h"
#include <arch/gic.h>
}

namespace vgic_gicv2_test {
namespace {

using namespace bulkhead_test;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint64_t kIpriorityr = 0x400;
constexpr uint64_t kItargetsr = 0x800;
constexpr uint64_t kSgir = 0xF00;
constexpr uint64_t kCpendsgir = 0xF10;
constexpr uint64_t kSpendsgir = 0xF20;
constexpr uint64_t kListRegister0 = 0x0803'0100;

DomainSpec three_vcpus()
{
    return {.name = "three", .cores = {1, 2, 3}};
}

class Gicv2 : public Deliver {
protected:
    // SGI 5 is enabled at VCPU 0 of three, and VCPUs 1 and 2 have sent it.
    void send_from_two(TestSystem &system)
    {
        for (uint32_t v = 0; v < 3; v++) {
            Guest(system, 0, v).open();
            Guest(system, 0, v).enable_private(5);
        }
        Guest(system, 0, 2).send_sgi(5, 0b001);
        Guest(system, 0, 1).send_sgi(5, 0b001);
        ASSERT_TRUE(system.settle());
    }
};

uint32_t last_write(uint64_t pa)
{
    for (size_t i = fake_write_count(); i-- > 0;) {
        if (fake_write_at(i)->is_mmio && fake_write_at(i)->pa == pa) {
            return static_cast<uint32_t>(fake_write_at(i)->value);
        }
    }
    return ~0u;
}

TEST_F(Gicv2, AnSgiFromTwoVcpusIsTakenTwiceEachWithItsSender)
{
    TestSystem system{three_vcpus()};
    Guest receiver(system, 0, 0);

    send_from_two(system);
    EXPECT_EQ(receiver.read_dist(kSpendsgir + 4) >> 8 & 0xFF, 0b110u) << "both senders are pending";
    ASSERT_EQ(receiver.acknowledge(), 5u);
    EXPECT_EQ(fake_gic_guest_sender(), 1u);
    receiver.end(5);
    ASSERT_TRUE(system.take_interrupts()) << "the maintenance interrupt brings the next";
    ASSERT_EQ(receiver.acknowledge(), 5u);
    EXPECT_EQ(fake_gic_guest_sender(), 2u);
    receiver.end(5);
    EXPECT_THAT(receiver.take_all(), IsEmpty());
    EXPECT_EQ(receiver.read_dist(0x200) & 0xFFFF, 0u);
}

TEST_F(Gicv2, AnSgiThatComesWhileAnothersIsActiveWaitsForItsEnd)
{
    TestSystem system{three_vcpus()};
    Guest receiver(system, 0, 0);

    send_from_two(system);
    ASSERT_EQ(receiver.acknowledge(), 5u);
    Guest(system, 0, 1).send_sgi(5, 0b001);
    ASSERT_TRUE(system.settle());
    EXPECT_EQ(receiver.acknowledge(), FAKE_GIC_SPURIOUS);
    receiver.end(5);
    EXPECT_THAT(receiver.take_all(), ElementsAre(5, 5));
}

TEST_F(Gicv2, OneSendersPendingStateIsClearedAlsoInAListRegister)
{
    TestSystem system{three_vcpus()};
    Guest receiver(system, 0, 0);

    send_from_two(system);
    receiver.write_dist(kCpendsgir + 4, 0b010u << 8);
    EXPECT_EQ(receiver.read_dist(kCpendsgir + 4) >> 8 & 0xFF, 0b100u);
    ASSERT_EQ(receiver.acknowledge(), 5u);
    EXPECT_EQ(fake_gic_guest_sender(), 2u);
    receiver.end(5);
    EXPECT_THAT(receiver.take_all(), IsEmpty());
}

TEST_F(Gicv2, AnSgiCanBeMadePendingFromAnySenderThatExists)
{
    TestSystem system{three_vcpus()};
    Guest receiver(system, 0, 0);

    receiver.open();
    receiver.enable_private(6);
    receiver.write_dist(kSpendsgir + 6, 0xFC, 1);
    EXPECT_EQ(receiver.read_dist(kSpendsgir + 6, 1), 0b100u) << "there are three VCPUs";
    ASSERT_EQ(receiver.acknowledge(), 6u);
    EXPECT_EQ(fake_gic_guest_sender(), 2u);
    receiver.end(6);
}

TEST_F(Gicv2, SgiPendingBitsAreReadOnlyInTheCommonRegisters)
{
    TestSystem system{three_vcpus()};
    Guest guest(system, 0, 0);

    guest.open();
    guest.enable_private(1);
    guest.write_dist(0x200, 0xFFFF);
    EXPECT_EQ(guest.read_dist(0x200), 0u);
    guest.send_sgi(1, 0b001);
    guest.write_dist(0x280, 0xFFFF);
    EXPECT_EQ(guest.read_dist(0x200), 1u << 1);
    EXPECT_THAT(guest.take_all(), ElementsAre(1));
}

TEST_F(Gicv2, TheThreeTargetFiltersOfSgir)
{
    struct {
        uint32_t filter;
        std::array<bool, 3> reached;
    } const cases[] = {
        {0b0100u << 16, {false, false, true}}, // the list
        {1u << 24, {true, false, true}},       // all others
        {2u << 24, {false, true, false}},      // oneself
        {3u << 24 | 0xFFu << 16, {false, false, false}},
        {0xF8u << 16, {false, false, false}}, // interfaces that do not exist
    };

    for (const auto &[filter, reached] : cases) {
        TestSystem system{three_vcpus(), one_vcpu()};

        for (uint32_t v = 0; v < 3; v++) {
            Guest(system, 0, v).open();
            Guest(system, 0, v).enable_private(9);
        }
        Guest(system, 1).open();
        Guest(system, 1).enable_private(9);
        Guest(system, 0, 1).write_dist(kSgir, filter | 9);
        ASSERT_TRUE(system.settle());
        for (uint32_t v = 0; v < 3; v++) {
            EXPECT_EQ(Guest(system, 0, v).take_all().size(), reached.at(v) ? 1u : 0u)
                << std::hex << filter << " VCPU " << v;
        }
        EXPECT_THAT(Guest(system, 1).take_all(), IsEmpty()) << "of another domain";
    }
}

TEST_F(Gicv2, RegistersOfPrivateInterruptsAreTheAccessingVcpus)
{
    TestSystem system{two_vcpus()};
    Guest first(system, 0, 0);
    Guest second(system, 0, 1);

    first.enable_private(27);
    first.set_priority(27, 0x20);
    EXPECT_EQ(first.read_dist(0x100), 1u << 27);
    EXPECT_EQ(second.read_dist(0x100), 0u);
    EXPECT_EQ(first.read_dist(kIpriorityr + 27, 1), 0x20u);
    EXPECT_EQ(second.read_dist(kIpriorityr + 27, 1), 0xA0u);
    EXPECT_EQ(first.read_dist(kItargetsr), 0x01010101u) << "one's own number";
    EXPECT_EQ(second.read_dist(kItargetsr + 28), 0x02020202u);
    second.write_dist(kItargetsr, 0);
    EXPECT_EQ(second.read_dist(kItargetsr), 0x02020202u);
}

TEST_F(Gicv2, AnSpiGoesToTheFirstOfItsTargets)
{
    TestSystem system{two_vcpus({48})};
    Guest guest(system, 0, 0);

    guest.open();
    guest.enable_spi(48);
    guest.write_dist(kItargetsr + 48, 0xFE, 1);
    EXPECT_EQ(guest.read_dist(kItargetsr + 48, 1), 0x02u) << "of those that exist";
    EXPECT_EQ(routed_core(48), 2u);
    guest.write_dist(kItargetsr + 48, 0x03, 1);
    EXPECT_EQ(guest.read_dist(kItargetsr + 48), 0x01010103u);
    EXPECT_EQ(routed_core(48), 1u);
    guest.write_dist(kItargetsr + 48, 0, 1);
    guest.write_dist(0x204, 1u << 16);
    ASSERT_TRUE(system.settle());
    EXPECT_THAT(guest.take_all(), IsEmpty()) << "no target";
    guest.write_dist(kItargetsr + 48, 1, 1);
    EXPECT_THAT(guest.take_all(), ElementsAre(48));
}

TEST_F(Gicv2, AGuestIdentifiesAGicOfVersionTwo)
{
    TestSystem system{two_vcpus()};
    Guest guest(system, 0);

    EXPECT_EQ(guest.read_dist(0x4), (VGIC_BANKS - 1) | 1u << 5)
        << "lines, two CPU interfaces, one security state";
    EXPECT_EQ(guest.read_dist(0xFE8) >> 4 & 0xF, 2u) << "ICPIDR2";
    guest.write_dist(0, 0xFFFFFFFF);
    EXPECT_EQ(guest.read_dist(0), 3u);
    EXPECT_EQ(guest.read_dist(0x80), 0u) << "all in Group 0 at first: IRQs of the only security state";
}

TEST_F(Gicv2, NothingButTheRegistersWidthsIsAllowed)
{
    TestSystem system{two_vcpus()};
    Guest guest(system, 0);

    EXPECT_EQ(guest.read_dist(0, 8), ~uint64_t{0});
    EXPECT_EQ(guest.read_dist(0x100, 1), ~uint64_t{0});
    EXPECT_EQ(guest.read_dist(kItargetsr, 2), ~uint64_t{0});
    EXPECT_EQ(guest.read_dist(kSpendsgir, 8), ~uint64_t{0});
    EXPECT_EQ(guest.read_dist(BH_GICV2_DISTRIBUTOR_BYTES), ~uint64_t{0});
    EXPECT_EQ(guest.read_dist(kItargetsr + VGIC_INTID_LIMIT), 0u) << "beyond the last interrupt";
}

TEST_F(Gicv2, ListRegistersCarryHardwareNumberOrSender)
{
    TestSystem system{three_vcpus(), one_vcpu({48})};
    Guest guest(system, 1);

    guest.open();
    guest.enable_spi(48);
    fake_gic_raise(48);
    fake_forget_writes();
    ASSERT_TRUE(system.take_interrupts());
    EXPECT_EQ(last_write(kListRegister0), 1u << 31 | 1u << 28 | 0xA0u >> 3 << 23 | 48u << 10 | 48u);
    EXPECT_EQ(guest.acknowledge(), 48u);
    guest.end(48);

    Guest receiver(system, 0, 0);
    receiver.open();
    receiver.enable_private(3);
    Guest(system, 0, 2).send_sgi(3, 0b001);
    fake_forget_writes();
    ASSERT_TRUE(system.settle());
    EXPECT_EQ(last_write(kListRegister0), 1u << 28 | 0xA0u >> 3 << 23 | 2u << 10 | 3u);
    EXPECT_THAT(receiver.take_all(), ElementsAre(3));
}

TEST_F(Gicv2, ResetOfAVcpuForgetsSendersAndFreesTheHardware)
{
    TestSystem system{three_vcpus()};
    Guest receiver(system, 0, 0);

    send_from_two(system);
    receiver.enable_private(kVirtualTimer);
    fake_gic_set_line(kVirtualTimer, true);
    ASSERT_TRUE(system.take_interrupts());
    vgic_vcpu_off(&system.run(0, 0));
    EXPECT_FALSE(fake_gic_is_enabled(kVirtualTimer));
    EXPECT_FALSE(fake_gic_is_active(kVirtualTimer));
    vgic_vcpu_reset(&system.run(0, 0));
    EXPECT_EQ(receiver.read_dist(kSpendsgir + 4), 0u);
    receiver.enable_private(5);
    EXPECT_THAT(receiver.take_all(), IsEmpty());
}

TEST_F(Gicv2, TheDriverEndsAnSgiWithItsSender)
{
    TestSystem system{one_vcpu()};

    system.run_core(2);
    gic_send_sgi(0, 0);
    system.run_core(3);
    gic_send_sgi(0, 0);
    system.run_core(0);
    for (int i = 0; i < 2; i++) {
        EXPECT_EQ(gic_acknowledge(), 0u);
        gic_end(0);
        gic_deactivate(0);
    }
    EXPECT_TRUE(gic_is_special(gic_acknowledge()));
}

TEST_F(Gicv2, TheDriverTargetsOneCoreAndKeepsItsNeighbours)
{
    TestSystem system{one_vcpu()};

    gic_enable(100, 2);
    gic_enable(101, 3);
    EXPECT_EQ(fake_gic_distributor(kItargetsr + 100), 0x0804u);
    gic_enable(100, 1);
    EXPECT_EQ(fake_gic_distributor(kItargetsr + 100), 0x0802u);
    EXPECT_TRUE(fake_gic_is_enabled(100));
    gic_disable(100);
    EXPECT_FALSE(fake_gic_is_enabled(100));
    EXPECT_EQ(fake_gic_distributor(0), 1u) << "the group that this security state sees";
}

} // namespace
} // namespace vgic_gicv2_test
