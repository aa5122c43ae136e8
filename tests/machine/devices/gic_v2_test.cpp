// SPDX-License-Identifier: Apache-2.0
// A GICv2 as its manual describes it, from one core and from several (S2): banked registers, the cores to
// which an interrupt is signalled, software-generated interrupts with their senders, and a guest's view of
// list registers.
#include "machine/devices/gic_v2.h"

#include <gtest/gtest.h>

#include <set>

namespace bulkhead::machine::devices::gic_v2_test {
namespace {

constexpr core_id first{0};
constexpr core_id second{1};
constexpr std::uint32_t spurious = gic::spurious;

// Distributor.
constexpr std::uint64_t d_ctlr = 0x0;
constexpr std::uint64_t d_igroupr = 0x80;
constexpr std::uint64_t d_isenabler = 0x100;
constexpr std::uint64_t d_ispendr = 0x200;
constexpr std::uint64_t d_icpendr = 0x280;
constexpr std::uint64_t d_isactiver = 0x300;
constexpr std::uint64_t d_ipriorityr = 0x400;
constexpr std::uint64_t d_itargetsr = 0x800;
constexpr std::uint64_t d_icfgr = 0xC00;
constexpr std::uint64_t d_sgir = 0xF00;
constexpr std::uint64_t d_cpendsgir = 0xF10;
constexpr std::uint64_t d_spendsgir = 0xF20;
// CPU interface, physical or virtual.
constexpr std::uint64_t c_ctlr = 0x0;
constexpr std::uint64_t c_pmr = 0x4;
constexpr std::uint64_t c_iar = 0xC;
constexpr std::uint64_t c_eoir = 0x10;
constexpr std::uint64_t c_rpr = 0x14;
constexpr std::uint64_t c_apr = 0xD0;
constexpr std::uint64_t c_dir = 0x1000;
constexpr std::uint64_t end_drops_priority_only = 1u << 9;
// Hypervisor's.
constexpr std::uint64_t h_hcr = 0x0;
constexpr std::uint64_t h_vtr = 0x4;
constexpr std::uint64_t h_vmcr = 0x8;
constexpr std::uint64_t h_misr = 0x10;
constexpr std::uint64_t h_eisr = 0x20;
constexpr std::uint64_t h_elrsr = 0x30;
constexpr std::uint64_t h_lr = 0x100;
constexpr std::uint64_t lr_pending = 1u << 28;
constexpr std::uint64_t lr_active = 1u << 29;
constexpr std::uint64_t lr_group1 = 1u << 30;
constexpr std::uint64_t lr_hw = 1u << 31;
constexpr std::uint64_t lr_eoi = 1u << 19;

class gic_v2_device : public testing::Test {
protected:
    std::set<std::uint32_t> told; // cores whose interrupts may have changed
    gic_v2 gic{{.cores = 2, .interrupts = 64}, [this](core_id which) { told.insert(which.value); }};

    gic_v2_device()
    {
        gic.write_distributor(first, d_ctlr, 4, 1);
        for (const core_id core : {first, second}) {
            open(core, 1);
            for (std::uint64_t n = 0; n < 64; n += 4) {
                gic.write_distributor(core, d_ipriorityr + n, 4, 0xA0A0A0A0);
            }
            gic.write_distributor(core, d_isenabler, 4, ~0u);
        }
        gic.write_distributor(first, d_isenabler + 4, 4, ~0u);
        told.clear();
    }
    void open(core_id core, std::uint64_t control)
    {
        gic.write_interface(core, c_pmr, 0xFF);
        gic.write_interface(core, c_ctlr, control);
    }
    std::uint32_t acknowledge(core_id core)
    {
        return static_cast<std::uint32_t>(gic.read_interface(core, c_iar));
    }
    void target(std::uint32_t intid, std::uint8_t cores)
    {
        gic.write_distributor(first, d_itargetsr + intid, 1, cores);
    }
    // A guest on the core that takes all interrupts of Group 0, and list register 0.
    void guest(core_id core, std::uint64_t lr, std::uint64_t hcr = 1)
    {
        gic.write_hypervisor(core, h_hcr, hcr);
        gic.write_virtual(core, c_ctlr, 1);
        gic.write_virtual(core, c_pmr, 0xF8);
        gic.write_hypervisor(core, h_lr, lr);
    }
    std::uint32_t guest_acknowledges(core_id core)
    {
        return static_cast<std::uint32_t>(gic.read_virtual(core, c_iar));
    }
};

TEST_F(gic_v2_device, SaysWhatItIs)
{
    EXPECT_EQ(gic.read_distributor(first, 0x4, 4), 1u | 1u << 5); // two words, two cores
    EXPECT_EQ(gic.read_distributor(first, 0xFE8, 4) >> 4 & 0xF, 2u);
    EXPECT_EQ(gic.read_hypervisor(first, h_vtr) & 0x3F, 3u); // four list registers
}

TEST_F(gic_v2_device, GivenAnInterruptTheCoreIsToldAndItsAcknowledgementMakesItActive)
{
    target(40, 1);
    told.clear();
    gic.set_line(first, 40, true);
    EXPECT_TRUE(told.contains(0));
    EXPECT_TRUE(gic.signalled(first));
    EXPECT_FALSE(gic.signalled(second));
    EXPECT_EQ(acknowledge(first), 40u);
    EXPECT_EQ(gic.read_distributor(first, d_isactiver + 4, 4), 1u << 8);
    EXPECT_EQ(gic.read_interface(first, c_rpr), 0xA0u);
    EXPECT_FALSE(gic.signalled(first)); // the line is still high
    gic.write_interface(first, c_eoir, 40);
    EXPECT_TRUE(gic.signalled(first));
    gic.set_line(first, 40, false);
    EXPECT_FALSE(gic.signalled(first));
    EXPECT_EQ(gic.read_interface(first, c_rpr), 0xFFu);
}

TEST_F(gic_v2_device, WithSplitEndsTheInterruptStaysActiveUntilItIsDeactivated)
{
    open(first, 1 | end_drops_priority_only);
    target(40, 1);
    gic.set_line(first, 40, true);
    EXPECT_EQ(acknowledge(first), 40u);
    gic.write_interface(first, c_eoir, 40);
    EXPECT_EQ(gic.read_interface(first, c_rpr), 0xFFu);
    EXPECT_FALSE(gic.signalled(first));
    gic.write_interface(first, c_dir, 40);
    EXPECT_TRUE(gic.signalled(first));
}

TEST_F(gic_v2_device, AnInterruptWithTwoTargetsIsTakenByTheFirstThatAsks)
{
    target(33, 3);
    gic.set_line(first, 33, true);
    EXPECT_TRUE(gic.signalled(first));
    EXPECT_TRUE(gic.signalled(second));
    EXPECT_EQ(acknowledge(second), 33u);
    EXPECT_EQ(acknowledge(first), spurious);
}

TEST_F(gic_v2_device, PrivateInterruptsAreEachCoresOwn)
{
    gic.set_line(second, 27, true);
    EXPECT_FALSE(gic.signalled(first));
    EXPECT_EQ(gic.read_distributor(first, d_ispendr, 4), 0u);
    EXPECT_EQ(gic.read_distributor(second, d_ispendr, 4), 1u << 27);
    EXPECT_EQ(gic.read_distributor(first, d_itargetsr + 24, 4), 0x01010101u);
    EXPECT_EQ(gic.read_distributor(second, d_itargetsr + 24, 4), 0x02020202u);
    EXPECT_EQ(acknowledge(second), 27u);
}

TEST_F(gic_v2_device, AMoreUrgentInterruptPreemptsAndALessUrgentOneWaits)
{
    target(40, 1);
    target(41, 1);
    gic.write_distributor(first, d_ipriorityr + 41, 1, 0x80);
    gic.set_line(first, 40, true);
    EXPECT_EQ(acknowledge(first), 40u);
    gic.set_line(first, 41, true);
    EXPECT_EQ(acknowledge(first), 41u);
    EXPECT_EQ(gic.read_interface(first, c_apr), 1u << (0x80 >> 3) | 1u << (0xA0 >> 3));
    gic.set_line(first, 41, false);
    gic.write_interface(first, c_eoir, 41);
    EXPECT_EQ(gic.read_interface(first, c_rpr), 0xA0u);
    target(42, 1);
    gic.set_line(first, 42, true); // as urgent as 40
    EXPECT_EQ(acknowledge(first), spurious);
    gic.write_interface(first, c_apr, 0); // forgotten
    EXPECT_EQ(acknowledge(first), 42u);
}

TEST_F(gic_v2_device, ThePriorityMaskKeepsOutWhatIsNotAboveIt)
{
    target(40, 1);
    gic.set_line(first, 40, true);
    gic.write_interface(first, c_pmr, 0xA0);
    EXPECT_FALSE(gic.signalled(first));
    gic.write_interface(first, c_pmr, 0xA8);
    EXPECT_TRUE(gic.signalled(first));
}

TEST_F(gic_v2_device, AnEdgeIsRememberedALevelIsNot)
{
    target(40, 1);
    target(41, 1);
    gic.write_distributor(first, d_icfgr + 8, 4, 2u << 2 * (40 - 32));
    for (const std::uint32_t intid : {40u, 41u}) {
        gic.set_line(first, intid, true);
        gic.set_line(first, intid, false);
    }
    EXPECT_EQ(acknowledge(first), 40u);
    EXPECT_EQ(acknowledge(first), spurious);
}

TEST_F(gic_v2_device, InterruptsOfGroup1NeedTheirOwnEnableAndAckCtl)
{
    target(40, 1);
    gic.write_distributor(first, d_igroupr + 4, 4, 1u << 8);
    gic.set_line(first, 40, true);
    EXPECT_FALSE(gic.signalled(first));
    gic.write_distributor(first, d_ctlr, 4, 3);
    open(first, 3);
    EXPECT_TRUE(gic.signalled(first));
    EXPECT_EQ(acknowledge(first), 1022u);
    gic.write_interface(first, c_eoir, 1022); // ends nothing
    open(first, 7);
    EXPECT_EQ(acknowledge(first), 40u);
}

TEST_F(gic_v2_device, TheSameNumberOfTwoSendersIsAcknowledgedTwiceEachWithItsSender)
{
    gic.write_distributor(second, d_sgir, 4, 1u << 16 | 5); // to core 0
    gic.write_distributor(first, d_sgir, 4, 2u << 24 | 5);  // to oneself
    EXPECT_EQ(gic.read_distributor(first, d_spendsgir + 4, 4), 3u << 8);
    EXPECT_EQ(acknowledge(first), 5u);
    EXPECT_EQ(acknowledge(first), spurious); // one at a time
    gic.write_interface(first, c_eoir, 5);
    EXPECT_EQ(acknowledge(first), 5u | 1u << 10);
    gic.write_interface(first, c_eoir, 5 | 1u << 10);
    EXPECT_EQ(acknowledge(first), spurious);
}

TEST_F(gic_v2_device, SoftwareGeneratedInterruptsGoToAListOrToAllOthers)
{
    gic.write_distributor(first, d_sgir, 4, 1u << 24 | 3);
    EXPECT_FALSE(gic.signalled(first));
    EXPECT_EQ(acknowledge(second), 3u); // from core 0
    gic.write_distributor(second, d_sgir, 4, 3u << 16 | 4);
    EXPECT_EQ(acknowledge(first), 4u | 1u << 10);
}

TEST_F(gic_v2_device, TheirPendingStateIsWrittenWithTheSenderOnly)
{
    gic.write_distributor(first, d_ispendr, 4, 1u << 2);
    EXPECT_FALSE(gic.signalled(first));
    gic.write_distributor(first, d_spendsgir + 2, 1, 2);
    EXPECT_TRUE(gic.signalled(first));
    gic.write_distributor(first, d_icpendr, 4, 1u << 2);
    EXPECT_TRUE(gic.signalled(first));
    gic.write_distributor(first, d_cpendsgir + 2, 1, 2);
    EXPECT_FALSE(gic.signalled(first));
}

TEST_F(gic_v2_device, WhatDoesNotExistReadsAsZeroAndTakesNoWrite)
{
    gic.write_distributor(first, d_isenabler + 8, 4, ~0u); // beyond 64 interrupts
    EXPECT_EQ(gic.read_distributor(first, d_isenabler + 8, 4), 0u);
    target(100, 1);
    EXPECT_EQ(gic.read_distributor(first, d_itargetsr + 100, 1), 0u);
    gic.write_distributor(first, d_itargetsr + 40, 1, 0xFF); // cores that do not exist
    EXPECT_EQ(gic.read_distributor(first, d_itargetsr + 40, 1), 3u);
    gic.write_distributor(first, d_icfgr, 4, 0); // SGIs are edges
    EXPECT_EQ(gic.read_distributor(first, d_icfgr, 4), 0xAAAAAAAAu);
}

TEST_F(gic_v2_device, AGuestTakesAVirtualInterruptAndItsEndDeactivatesThePhysicalOne)
{
    open(first, 1 | end_drops_priority_only);
    gic.set_line(first, 27, true);
    EXPECT_EQ(acknowledge(first), 27u);
    gic.write_interface(first, c_eoir, 27);
    guest(first, lr_hw | lr_pending | 0x14u << 23 | 27u << 10 | 27u);
    EXPECT_TRUE(gic.virtual_interface(first).signalled());
    EXPECT_FALSE(gic.virtual_interface(second).signalled());
    EXPECT_EQ(guest_acknowledges(first), 27u);
    EXPECT_EQ(gic.read_virtual(first, c_rpr), 0xA0u);
    EXPECT_EQ(gic.read_hypervisor(first, h_lr) & (lr_pending | lr_active), lr_active);
    gic.set_line(first, 27, false);
    gic.write_virtual(first, c_eoir, 27);
    EXPECT_EQ(gic.read_distributor(first, d_isactiver, 4), 0u);
    EXPECT_EQ(gic.read_hypervisor(first, h_elrsr), 0xFu);
}

TEST_F(gic_v2_device, AGuestSeesTheSenderAndTheEndOfAnInterruptThatAsksForItIsReported)
{
    guest(first, lr_pending | lr_eoi | 3u << 10 | 7u);
    EXPECT_EQ(guest_acknowledges(first), 7u | 3u << 10);
    EXPECT_FALSE(gic.signalled(first));
    gic.write_virtual(first, c_eoir, 7 | 3u << 10);
    EXPECT_EQ(gic.read_hypervisor(first, h_eisr), 1u);
    EXPECT_EQ(gic.read_hypervisor(first, h_elrsr), 0xEu);
    EXPECT_EQ(gic.read_hypervisor(first, h_misr), 1u);
    EXPECT_EQ(acknowledge(first), 25u); // maintenance
    gic.write_hypervisor(first, h_lr, 0);
    EXPECT_EQ(gic.read_hypervisor(first, h_misr), 0u);
}

TEST_F(gic_v2_device, AnEndWithoutAListRegisterIsCounted)
{
    constexpr std::uint64_t en_and_lrenpie = 5;
    guest(first, 0, en_and_lrenpie);
    gic.write_virtual(first, c_ctlr, 1 | end_drops_priority_only);
    gic.write_virtual(first, c_dir, 40);
    EXPECT_EQ(gic.read_hypervisor(first, h_hcr) >> 27, 1u);
    EXPECT_EQ(gic.read_hypervisor(first, h_misr), 4u);
}

TEST_F(gic_v2_device, TheGuestsControlsAreWhereEl2LooksForThem)
{
    gic.write_virtual(first, c_ctlr, 1);
    gic.write_virtual(first, c_pmr, 0xFF);
    EXPECT_EQ(gic.read_hypervisor(first, h_vmcr), 0xF8000001u);
    gic.write_hypervisor(first, h_vmcr, 0x80000002u);
    EXPECT_EQ(gic.read_virtual(first, c_ctlr), 2u);
    EXPECT_EQ(gic.read_virtual(first, c_pmr), 0x80u);
}

TEST_F(gic_v2_device, OfAGuestsTwoGroupsEachHasItsEnable)
{
    guest(first, lr_pending | lr_group1 | 40u);
    EXPECT_FALSE(gic.virtual_interface(first).signalled());
    gic.write_virtual(first, c_ctlr, 3);
    EXPECT_TRUE(gic.virtual_interface(first).signalled());
    EXPECT_EQ(guest_acknowledges(first), 1022u);
    gic.write_virtual(first, c_ctlr, 7);
    EXPECT_EQ(guest_acknowledges(first), 40u);
    gic.write_virtual(first, c_eoir, 40);
    gic.write_hypervisor(first, h_lr + 4, lr_pending | 0x10u << 23 | 41u);
    gic.write_virtual(first, c_ctlr, 8 | 7); // Group 0 as FIQ
    EXPECT_TRUE(gic.virtual_interface(first).fast_signalled());
}

} // namespace
} // namespace bulkhead::machine::devices::gic_v2_test
