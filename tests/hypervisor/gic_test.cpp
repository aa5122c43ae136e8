// SPDX-License-Identifier: Apache-2.0
//
// The driver of the physical GICv3: what it writes for each of its calls.
#include "test_system.h"

#include <gtest/gtest.h>

extern "C" {
#include <arch/gic.h>
}

namespace gic_test {
namespace {

using namespace bulkhead_test;

const DomainSpec kDomain{.name = "one", .cores = {0}};

uint64_t last_sysreg_write(enum sysreg_id id)
{
    for (size_t i = fake_write_count(); i-- > 0;) {
        if (!fake_write_at(i)->is_mmio && fake_write_at(i)->id == id) {
            return fake_write_at(i)->value;
        }
    }
    return ~uint64_t{0};
}

TEST(Gic, EachCoreFindsItsRedistributorByAffinity)
{
    TestSystem system{kDomain};

    // Core 0's redistributor is the last of four.
    system.run_core(0);
    EXPECT_EQ(gic_pending_word(0), 0u);
    fake_gic_raise(29);
    EXPECT_EQ(gic_pending_word(0), 1u << 29);
    gic_enable(29, 0);
    EXPECT_TRUE(fake_gic_is_enabled(29));
    system.run_core(1);
    EXPECT_FALSE(fake_gic_is_enabled(29));
}

TEST(Gic, ACoreWithoutRedistributorIsNotBroughtUp)
{
    TestSystem system{kDomain};

    EXPECT_FALSE(gic_cpu_init(3, 0x100));
    EXPECT_FALSE(gic_cpu_init(3, UINT64_C(1) << 32));
}

TEST(Gic, AfterInitOnlyEl2sOwnInterruptsAreEnabled)
{
    TestSystem system{kDomain};

    for (uint32_t intid = 0; intid < FAKE_GIC_INTIDS; intid++) {
        bool own = intid == 0 || intid == FAKE_GIC_MAINTENANCE || intid == kPhysicalUartIntid;

        EXPECT_EQ(fake_gic_is_enabled(intid), own) << intid;
    }
    EXPECT_EQ(fake_sysreg(SYSREG_ID_ICC_SRE_EL2), 7u) << "system registers, but ICC_SRE_EL1 traps";
    EXPECT_EQ(fake_gic_sysreg(SYSREG_ID_ICC_CTLR_EL1) & 2, 2u)
        << "priority drop and deactivation are separate";
    EXPECT_EQ(fake_gic_sysreg(SYSREG_ID_ICC_IGRPEN1_EL1), 1u);
    EXPECT_EQ(fake_gic_distributor(0) & 0x12, 0x12u) << "affinity routing, Group 1";
    EXPECT_EQ(fake_gic_distributor(0x400 + 40), 0xA0A0A0A0u);
}

TEST(Gic, EnablingAnSpiRoutesItFirst)
{
    TestSystem system{kDomain};

    gic_enable(100, 0x0301020304 & 0xFF00FFFFFF);
    ASSERT_EQ(fake_write_count(), 2u);
    EXPECT_EQ(fake_write_at(0)->pa, kGicd + 0x6000 + 800);
    EXPECT_EQ(fake_write_at(0)->bytes, 8u);
    EXPECT_EQ(fake_write_at(0)->value, 0x0300020304u);
    EXPECT_EQ(fake_write_at(1)->pa, kGicd + 0x100 + 12);
    EXPECT_EQ(fake_write_at(1)->value, 1u << 4);
    gic_disable(100);
    EXPECT_FALSE(fake_gic_is_enabled(100));
}

TEST(Gic, TriggersOfNeighboursAreKept)
{
    TestSystem system{kDomain};

    gic_set_edge(48, true);
    gic_set_edge(50, true);
    EXPECT_EQ(fake_gic_distributor(0xC00 + 12), 0x22u);
    gic_set_edge(48, false);
    EXPECT_EQ(fake_gic_distributor(0xC00 + 12), 0x20u);
}

TEST(Gic, SgiCarriesTheTargetsAffinity)
{
    TestSystem system{kDomain};

    gic_send_sgi(0x0500030211, 7);
    EXPECT_EQ(last_sysreg_write(SYSREG_ID_ICC_SGI1R_EL1),
              UINT64_C(5) << 48 | UINT64_C(1) << 44 | UINT64_C(3) << 32 | 7u << 24 | 2u << 16 | 1u << 1);
    EXPECT_GE(fake_barriers(FAKE_DSB_ISHST), 1u) << "what was written before must be seen by the receiver";
}

TEST(Gic, EndDropsThePriorityOnly)
{
    TestSystem system{kDomain};

    gic_enable(60, 0);
    fake_gic_raise(60);
    EXPECT_EQ(gic_acknowledge(), 60u);
    EXPECT_TRUE(gic_is_special(gic_acknowledge())) << "nothing more";
    gic_end(60);
    EXPECT_TRUE(fake_gic_is_active(60));
    fake_gic_raise(60);
    EXPECT_TRUE(gic_is_special(gic_acknowledge())) << "still active";
    gic_deactivate(60);
    EXPECT_EQ(gic_acknowledge(), 60u);
    EXPECT_EQ(fake_gic_violations(), 0u);
}

} // namespace
} // namespace gic_test
