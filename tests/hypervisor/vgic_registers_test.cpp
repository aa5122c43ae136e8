// SPDX-License-Identifier: Apache-2.0
//
// The registers of the virtual distributor and redistributors as a guest reads and writes them.
#include "test_system.h"

#include <gtest/gtest.h>
#include <random>

namespace vgic_registers_test {
namespace {

using namespace bulkhead_test;

DomainSpec two_vcpus()
{
    return {.name = "two", .cores = {1, 2}, .spis = {48}};
}

bool is_allowed(bool dist, uint64_t offset, uint32_t bytes)
{
    struct mmio_access access {};
    TestSystem system{two_vcpus()};

    access.offset = offset;
    access.bytes = bytes;
    return dist ? vgic_dist_access(&system.run(0), &access) : vgic_redist_access(&system.run(0), &access);
}

// The sequence of drivers/irqchip/irq-gic-v3.c at boot.
TEST(VgicRegisters, LinuxProbeFindsAGicV3)
{
    TestSystem system{two_vcpus()};
    Guest guest(system, 0);

    EXPECT_EQ(guest.read_dist(0xFFE8) & 0xF0, 0x30u);
    EXPECT_EQ(guest.read_dist(0x4), (UINT32_C(1) << 25 | 9u << 19 | 8u))
        << "288 INTIDs, ten bits, no 1-of-N, no LPI";
    guest.write_dist(0, 0);
    EXPECT_EQ(guest.read_dist(0), 0x50u)
        << "affinity routing and one security state always; no write pending";
    guest.write_dist(0, 0x13);
    EXPECT_EQ(guest.read_dist(0), 0x53u);
    EXPECT_EQ(guest.read_redist(0xFFE8) & 0xF0, 0x30u);
    EXPECT_EQ(guest.read_redist(0x8, 8), 0u) << "affinity 0, not the last";
    EXPECT_EQ(guest.read_redist(BH_REDISTRIBUTOR_BYTES + 0x8, 8), UINT64_C(1) << 32 | 1u << 8 | 1u << 4);
    EXPECT_EQ(guest.read_redist(0x14), 6u) << "asleep";
    guest.write_redist(0x14, 0);
    EXPECT_EQ(guest.read_redist(0x14), 0u);
}

TEST(VgicRegisters, ResetValues)
{
    TestSystem system{two_vcpus()};
    Guest guest(system, 0);

    EXPECT_EQ(guest.read_dist(0x84), 0xFFFFFFFFu) << "Group 1";
    EXPECT_EQ(guest.read_dist(0x104), 0u);
    EXPECT_EQ(guest.read_dist(0x204), 0u);
    EXPECT_EQ(guest.read_dist(0x420), 0xA0A0A0A0u);
    EXPECT_EQ(guest.read_dist(0xC08), 0u) << "level";
    EXPECT_EQ(guest.read_redist(0x10C00), 0xAAAAAAAAu) << "SGIs are edges";
    EXPECT_EQ(guest.read_redist(0x10C04), 0u);
}

TEST(VgicRegisters, SetAndClearRegistersActOnTheSameBits)
{
    TestSystem system{two_vcpus()};
    Guest guest(system, 0);

    for (uint64_t base : {0x100, 0x200, 0x300}) {
        guest.write_dist(base + 8, 0xF0);
        guest.write_dist(base + 8, 0x0F);
        EXPECT_EQ(guest.read_dist(base + 8), 0xFFu);
        guest.write_dist(base + 0x88, 0x3C);
        EXPECT_EQ(guest.read_dist(base + 8), 0xC3u);
        EXPECT_EQ(guest.read_dist(base + 0x88), 0xC3u);
        guest.write_redist(0x10000 + base, 0xF0);
        guest.write_redist(0x10080 + base, 0x30);
        EXPECT_EQ(guest.read_redist(0x10000 + base), 0xC0u);
        EXPECT_EQ(guest.read_redist(BH_REDISTRIBUTOR_BYTES + 0x10000 + base), 0u) << "the other VCPU's";
    }
}

TEST(VgicRegisters, PrioritiesInBytesAndWords)
{
    TestSystem system{two_vcpus()};
    Guest guest(system, 0);

    guest.write_dist(0x400 + 40, 0x44332211);
    EXPECT_EQ(guest.read_dist(0x400 + 40), 0x40302010u) << "five bits are implemented";
    guest.write_dist(0x400 + 42, 0xFF, 1);
    EXPECT_EQ(guest.read_dist(0x400 + 42, 1), 0xF8u);
    EXPECT_EQ(guest.read_dist(0x400 + 40), 0x40F82010u);
    guest.write_redist(0x10400 + 27, 0x80, 1);
    EXPECT_EQ(guest.read_redist(0x10418), 0x80A0A0A0u);
}

TEST(VgicRegisters, TriggersAreBitPairsAndSgisCannotChange)
{
    TestSystem system{two_vcpus()};
    Guest guest(system, 0);

    guest.write_dist(0xC0C, 0xFFFFFFFF);
    EXPECT_EQ(guest.read_dist(0xC0C), 0xAAAAAAAAu);
    EXPECT_EQ(fake_gic_distributor(0xC0C), 2u) << "only the passed-through SPI 48 reaches hardware";
    guest.write_redist(0x10C00, 0);
    EXPECT_EQ(guest.read_redist(0x10C00), 0xAAAAAAAAu);
    guest.write_redist(0x10C04, 0x80000000);
    EXPECT_EQ(guest.read_redist(0x10C04), 0x80000000u);
}

TEST(VgicRegisters, TheTriggerOfAnEnabledHardwareInterruptDoesNotChange)
{
    TestSystem system{two_vcpus()};
    Guest guest(system, 0);

    guest.enable_spi(48);
    guest.write_dist(0xC0C, 0xFFFFFFFF);
    EXPECT_EQ(guest.read_dist(0xC0C), 0xAAAAAAA8u);
    EXPECT_EQ(fake_gic_distributor(0xC0C), 0u);
    guest.disable_spi(48);
    guest.write_dist(0xC0C, 2);
    EXPECT_EQ(fake_gic_distributor(0xC0C), 2u);
}

TEST(VgicRegisters, RoutesReachVcpusOnly)
{
    TestSystem system{two_vcpus()};
    Guest guest(system, 0);

    guest.write_dist(0x6000 + 48 * 8, 1, 8);
    EXPECT_EQ(guest.read_dist(0x6000 + 48 * 8, 8), 1u);
    EXPECT_EQ(guest.read_dist(0x6000 + 48 * 8, 4), 1u);
    EXPECT_EQ(guest.read_dist(0x6004 + 48 * 8, 4), 0u);
    for (uint64_t affinity : {UINT64_C(2), UINT64_C(0x100), UINT64_C(1) << 32, UINT64_C(0xFF)}) {
        guest.write_dist(0x6000 + 48 * 8, affinity, 8);
        EXPECT_EQ(guest.read_dist(0x6000 + 48 * 8, 8), 0xFFu) << affinity;
    }
    guest.write_dist(0x6000 + 48 * 8, UINT64_C(1) << 31, 8);
    EXPECT_EQ(guest.read_dist(0x6000 + 48 * 8, 8), 0u) << "no 1-of-N routing: the bit is ignored";
}

TEST(VgicRegisters, WhatDoesNotExistReadsAsZero)
{
    TestSystem system{two_vcpus()};
    Guest guest(system, 0);

    for (uint64_t offset :
         {0x100, 0x80, 0x400, 0xC00, 0x124, 0x400 + 288, 0x800, 0xD00, 0xE00, 0xF00, 0xC, 0x10}) {
        guest.write_dist(offset, 0xFFFFFFFF);
        EXPECT_EQ(guest.read_dist(offset), 0u) << std::hex << offset;
    }
    for (uint64_t offset : {0x0, 0x40, 0x70, 0x10104, 0x10420, 0x10C08, 0x10000, 0x1FFE8}) {
        guest.write_redist(offset, 0xFFFFFFFF);
        EXPECT_EQ(guest.read_redist(offset), 0u) << std::hex << offset;
    }
}

TEST(VgicRegisters, WidthsThatARegisterDoesNotHaveAreRefused)
{
    EXPECT_TRUE(is_allowed(true, 0x420, 1));
    EXPECT_TRUE(is_allowed(true, 0x6108, 8));
    EXPECT_TRUE(is_allowed(false, 0x8, 8));
    EXPECT_FALSE(is_allowed(true, 0x420, 2));
    EXPECT_FALSE(is_allowed(true, 0x420, 8));
    EXPECT_FALSE(is_allowed(true, 0x104, 1));
    EXPECT_FALSE(is_allowed(true, 0x100, 8));
    EXPECT_FALSE(is_allowed(true, 0x0, 8));
    EXPECT_FALSE(is_allowed(true, 0x6108, 2));
    EXPECT_FALSE(is_allowed(false, 0x10104, 2));
    EXPECT_FALSE(is_allowed(false, 0x0, 1));
}

TEST(VgicRegisters, OutsideOfTheFramesIsRefused)
{
    EXPECT_FALSE(is_allowed(true, BH_GICV3_DISTRIBUTOR_BYTES, 4));
    EXPECT_FALSE(is_allowed(true, ~UINT64_C(3), 4));
    EXPECT_TRUE(is_allowed(false, 2 * BH_REDISTRIBUTOR_BYTES - 4, 4));
    EXPECT_FALSE(is_allowed(false, 2 * BH_REDISTRIBUTOR_BYTES, 4));
    EXPECT_FALSE(is_allowed(false, ~UINT64_C(3), 4));
}

TEST(VgicRegisters, ActiveStateIsReadFromTheListRegister)
{
    TestSystem system{two_vcpus()};
    Guest guest(system, 0);

    guest.open();
    guest.enable_spi(50);
    guest.write_dist(0x204, 1u << 18);
    ASSERT_EQ(guest.acknowledge(), 50u);
    EXPECT_EQ(guest.read_dist(0x304), 1u << 18);
    EXPECT_EQ(guest.read_dist(0x204), 0u);
    guest.write_dist(0x384, 1u << 18);
    EXPECT_EQ(guest.read_dist(0x304), 0u);
}

TEST(VgicRegisters, DisablingTheDistributorStopsDelivery)
{
    TestSystem system{two_vcpus()};
    Guest guest(system, 0);

    guest.open();
    guest.enable_spi(50);
    guest.write_dist(0x204, 1u << 18);
    EXPECT_TRUE(fake_gic_guest_has_interrupt());
    guest.write_dist(0, 0);
    EXPECT_FALSE(fake_gic_guest_has_interrupt());
    guest.write_dist(0, 2);
    EXPECT_EQ(guest.acknowledge(), 50u);
}

TEST(VgicRegisters, GroupZeroIsForwardedByItsOwnEnable)
{
    TestSystem system{two_vcpus()};
    Guest guest(system, 0);

    guest.open();
    guest.write_dist(0, 2);
    guest.write_dist(0x84, ~(1u << 18));
    guest.enable_spi(50);
    guest.write_dist(0x204, 1u << 18);
    EXPECT_FALSE(fake_gic_guest_has_interrupt());
    guest.write_dist(0, 1);
    EXPECT_TRUE(fake_gic_guest_has_interrupt());
    EXPECT_EQ(fake_gic_sysreg(SYSREG_ID_ICH_LR0_EL2) >> 60 & 1, 0u) << "signalled as FIQ";
}

// Whatever a guest writes to the registers, with interrupts in between: no index out of range (sanitizers),
// no access to other domains' hardware, no storm, list registers always valid.
TEST(VgicRegisters, SurvivesRandomAccesses)
{
    TestSystem system{two_vcpus(), {.name = "other", .cores = {3}, .spis = {64}}};
    std::mt19937_64 random(1);
    const uint64_t starts[] = {0,     0x80,  0x100, 0x180, 0x200,  0x280, 0x300,
                               0x380, 0x400, 0x500, 0xC00, 0x6100, 0xFFC0};

    Guest(system, 1).open();
    Guest(system, 1).enable_spi(64);
    for (int i = 0; i < 100000; i++) {
        struct vcpu &vcpu = system.run(0, static_cast<uint32_t>(random() % 2));
        struct mmio_access access {};

        access.bytes = 1u << random() % 4;
        access.write = random() % 4 != 0;
        access.value = random() & (access.bytes == 8 ? ~UINT64_C(0) : (UINT64_C(1) << 8 * access.bytes) - 1);
        switch (random() % 8) {
        case 0:
            access.offset = random() & ~uint64_t{access.bytes - 1};
            (void)vgic_dist_access(&vcpu, &access);
            (void)vgic_redist_access(&vcpu, &access);
            break;
        case 1:
        case 2:
        case 3:
            access.offset =
                (starts[random() % std::size(starts)] + random() % 0x80) & ~uint64_t{access.bytes - 1};
            (void)vgic_dist_access(&vcpu, &access);
            break;
        case 4:
        case 5:
            access.offset =
                random() % 2 * BH_REDISTRIBUTOR_BYTES + random() % 2 * 0x10000 +
                ((starts[random() % std::size(starts)] + random() % 0x20) & ~uint64_t{access.bytes - 1});
            (void)vgic_redist_access(&vcpu, &access);
            break;
        case 6:
            vgic_sgi1r_write(&vcpu, random());
            break;
        default:
            if (random() % 2 == 0) {
                fake_gic_raise(random() % 2 == 0 ? 48 : kVirtualTimer);
            } else if (uint32_t intid = fake_gic_guest_acknowledge(); intid != FAKE_GIC_SPURIOUS) {
                fake_gic_guest_end(intid);
            }
            break;
        }
        ASSERT_TRUE(i % 16 != 0 || system.settle()) << i;
    }
    for (size_t i = 0; i < fake_write_count(); i++) {
        const struct fake_write *write = fake_write_at(i);

        // The enable bit of the other domain's SPI.
        ASSERT_FALSE(write->is_mmio && write->pa == kGicd + 0x188) << i;
    }
    EXPECT_EQ(fake_faults(), 0u);
    EXPECT_EQ(fake_gic_violations(), 0u);
    system.run_core(3);
    EXPECT_TRUE(fake_gic_is_enabled(64));
    fake_gic_raise(64);
    EXPECT_EQ(Guest(system, 1).take_all(), std::vector<uint32_t>{64});
}

} // namespace
} // namespace vgic_registers_test
