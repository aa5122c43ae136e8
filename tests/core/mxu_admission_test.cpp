// SPDX-License-Identifier: Apache-2.0
// Admission (X2, X4, X5): which hardware serves a specification, each refusal with the resource that is
// lacking, and the accounting.
#include "core/mxu_admission.h"
#include "mxu_world.h"

#include <gtest/gtest.h>

#include <cstring>

namespace mxu_admission_test {
namespace {

using bulkhead_test::Random;

constexpr mxu_hardware cortex_m7{.checker = MXU_MPU,
                                 .limit = {8, 0, 0, 0, 0, 0, 0},
                                 .system_regions = 2,
                                 .ocm_level = 0,
                                 .way_level = 0,
                                 .color_level = 0};

// 4 lockable entries, 20 KiB of OCM, 128 KiB in two ways, 3 ASIDs, 64 sets.
constexpr mxu_hardware cortex_a9{.checker = MXU_MMU,
                                 .limit = {0, 4, 20480, 131072, 0, 3, 64},
                                 .system_regions = 0,
                                 .ocm_level = 2,
                                 .way_level = 2,
                                 .color_level = 0};

// No OCM for it; tables in 64 KiB of own colors of a last-level cache of level 2 or 3.
constexpr mxu_hardware hypervisor(std::uint8_t level)
{
    return {.checker = MXU_MMU,
            .limit = {0, 0, 0, 0, 65536, 0, 0},
            .system_regions = 0,
            .ocm_level = 0,
            .way_level = 0,
            .color_level = level};
}

struct Account {
    mxu_account account{};
    mxu_answer answer{};

    explicit Account(const mxu_hardware &hardware) { account.hardware = &hardware; }
    mxu_status ask(const mxu_request &request) { return mxu_admit(&account, &request, &answer); }
};

mxu_request regions(std::uint32_t spec, std::uint32_t count = 0, std::uint32_t used = 0)
{
    return {.spec = spec,
            .regions = count,
            .regions_used = used,
            .locked_entries = 0,
            .node_bytes = 0,
            .ocm_node_bytes = 0,
            .tlb_sets = 0,
            .has_tlb_sets = false,
            .has_asid = false};
}

mxu_request pages(std::uint32_t spec, std::uint32_t entries, std::uint32_t node_bytes)
{
    return {.spec = spec,
            .regions = 0,
            .regions_used = 0,
            .locked_entries = entries,
            .node_bytes = node_bytes,
            .ocm_node_bytes = 0,
            .tlb_sets = 0,
            .has_tlb_sets = false,
            .has_asid = false};
}

void expect_lacking(const Account &account, mxu_resource resource, std::uint32_t needed, std::uint32_t left)
{
    EXPECT_EQ(account.answer.lacking, resource);
    EXPECT_EQ(account.answer.needed, needed);
    EXPECT_EQ(account.answer.left, left);
    for (const std::uint32_t taken : account.answer.taken) {
        EXPECT_EQ(taken, 0u);
    }
}

TEST(MxuAdmission, X4_DeterministicIsStaticAndLeavesADynamicRegion)
{
    Account account(cortex_m7);
    EXPECT_EQ(mxu_left(&account.account, MXU_REGIONS), 5u);
    EXPECT_EQ(account.ask(regions(MXU_DETERMINISTIC, 5)), MXU_OK);
    EXPECT_EQ(account.answer.mechanism, MXU_BY_STATIC_REGION);
    EXPECT_EQ(account.answer.taken[MXU_REGIONS], 5u);
    EXPECT_EQ(account.answer.independence, MXU_FULLY);
    EXPECT_EQ(account.ask(regions(MXU_DETERMINISTIC, 6)), MXU_ENOHW) << "no component could";
    expect_lacking(account, MXU_REGIONS, 6, 5);
    EXPECT_EQ(account.ask(regions(MXU_DETERMINISTIC, 2, 4)), MXU_EBUSY);
    expect_lacking(account, MXU_REGIONS, 2, 1);
    EXPECT_EQ(account.ask(regions(MXU_DETERMINISTIC, 0)), MXU_EINVAL);
    EXPECT_EQ(account.ask(regions(MXU_DETERMINISTIC, 1, 6)), MXU_EINVAL);
}

TEST(MxuAdmission, X4_AllElseIsDynamicAndIndependent)
{
    Account account(cortex_m7);
    for (const std::uint32_t spec : {0u, MXU_L1, MXU_L2, MXU_L3, MXU_INDEPENDENT, MXU_L1 | MXU_INDEPENDENT}) {
        EXPECT_EQ(account.ask(regions(spec, 9, 5)), MXU_OK);
        EXPECT_EQ(account.answer.mechanism, MXU_BY_DYNAMIC_REGION);
        EXPECT_EQ(account.answer.independence, MXU_FULLY);
    }
    mxu_hardware none = cortex_m7;
    none.limit[MXU_REGIONS] = 2;
    Account full(none);
    EXPECT_EQ(full.ask(regions(0)), MXU_ENOHW) << "the system has them all";
}

TEST(MxuAdmission, X5_DeterministicAndL1AreLockedEntries)
{
    Account account(cortex_a9);
    EXPECT_EQ(account.ask(pages(MXU_DETERMINISTIC, 5, 0)), MXU_ENOHW);
    expect_lacking(account, MXU_LOCKED_ENTRIES, 5, 4);
    EXPECT_EQ(account.ask(pages(MXU_DETERMINISTIC, 0, 0)), MXU_ENOHW) << "no entries can map it";
    EXPECT_EQ(account.ask(pages(MXU_DETERMINISTIC | MXU_INDEPENDENT, 3, 4096)), MXU_OK);
    EXPECT_EQ(account.answer.mechanism, MXU_BY_LOCKED_ENTRY);
    EXPECT_EQ(account.answer.independence, MXU_FULLY);
    EXPECT_EQ(account.account.used[MXU_OCM_BYTES], 0u) << "an entry that stays needs no walk";
    const mxu_answer first = account.answer;
    EXPECT_EQ(account.ask(pages(MXU_L1, 2, 0)), MXU_EBUSY);
    expect_lacking(account, MXU_LOCKED_ENTRIES, 2, 1);
    EXPECT_EQ(account.ask(pages(MXU_L1, 1, 0)), MXU_OK);
    mxu_release(&account.account, &first);
    EXPECT_EQ(account.ask(pages(MXU_L1, 3, 0)), MXU_OK) << "given back";
}

TEST(MxuAdmission, X5_L2IsOcmThenWaysThenRefused)
{
    Account account(cortex_a9);
    EXPECT_EQ(account.ask(pages(MXU_L2, 1, 17408)), MXU_OK);
    EXPECT_EQ(account.answer.mechanism, MXU_BY_OCM);
    EXPECT_EQ(account.answer.independence, MXU_DISTURBED);
    EXPECT_EQ(account.ask(pages(MXU_L2, 1, 17408)), MXU_OK);
    EXPECT_EQ(account.answer.mechanism, MXU_BY_LOCKED_WAY) << "OCM is used up";
    EXPECT_EQ(account.ask(pages(MXU_L3, 1, 3072)), MXU_OK);
    EXPECT_EQ(account.answer.mechanism, MXU_BY_OCM) << "a stricter place serves L3, too";
    EXPECT_EQ(account.ask(pages(MXU_L2, 1, 131072)), MXU_EBUSY);
    expect_lacking(account, MXU_WAY_BYTES, 131072, 131072 - 17408);
    EXPECT_EQ(account.ask(pages(MXU_L2, 1, 131073)), MXU_ENOHW);
    EXPECT_EQ(account.ask(pages(MXU_L2, 1, 19000)), MXU_OK);
    EXPECT_EQ(account.ask(pages(0, 0, 1 << 30)), MXU_OK) << "best effort takes nothing";
    EXPECT_EQ(account.answer.mechanism, MXU_BY_NOTHING);
}

TEST(MxuAdmission, X5_IndependentIsFullWithTlbSetsAndInPartWithAsids)
{
    Account account(cortex_a9);
    mxu_request request = pages(MXU_INDEPENDENT, 0, 1024);
    EXPECT_EQ(account.ask(request), MXU_OK);
    EXPECT_EQ(account.answer.mechanism, MXU_BY_OCM) << "a walk in DRAM can be disturbed";
    EXPECT_EQ(account.answer.independence, MXU_IN_PART);
    EXPECT_EQ(account.answer.taken[MXU_ASIDS], 1u);
    request.has_asid = true;
    EXPECT_EQ(account.ask(request), MXU_OK);
    EXPECT_EQ(account.account.used[MXU_ASIDS], 1u);
    request.has_tlb_sets = true;
    request.tlb_sets = 60;
    EXPECT_EQ(account.ask(request), MXU_OK);
    EXPECT_EQ(account.answer.independence, MXU_FULLY);
    EXPECT_EQ(account.ask(request), MXU_OK);
    EXPECT_EQ(account.answer.independence, MXU_IN_PART) << "four sets are left";
    request.has_asid = false;
    EXPECT_EQ(account.ask(request), MXU_OK);
    EXPECT_EQ(account.ask(request), MXU_OK);
    EXPECT_EQ(account.ask(request), MXU_EBUSY);
    expect_lacking(account, MXU_ASIDS, 1, 0);
}

TEST(MxuAdmission, X5_ColorsServeTheLevelOfTheirCache)
{
    const mxu_hardware two = hypervisor(2);
    const mxu_hardware three = hypervisor(3);
    Account l2(two);
    Account l3(three);
    EXPECT_EQ(l2.ask(pages(MXU_L2, 0, 4096)), MXU_OK);
    EXPECT_EQ(l2.answer.mechanism, MXU_BY_COLOR);
    EXPECT_EQ(l3.ask(pages(MXU_L2, 0, 4096)), MXU_ENOHW) << "nothing of level 2";
    EXPECT_EQ(l3.ask(pages(MXU_L3, 0, 4096)), MXU_OK);
    EXPECT_EQ(l3.ask(pages(MXU_DETERMINISTIC, 1, 4096)), MXU_ENOHW);
    EXPECT_EQ(l3.ask(pages(MXU_L3 | MXU_INDEPENDENT, 0, 4096)), MXU_ENOHW) << "neither sets nor ASIDs";
    EXPECT_EQ(l3.account.used[MXU_COLORED_BYTES], 4096u) << "a refusal takes nothing";
}

// In the hypervisor all tables of a domain are on the chip, or those of a region in colors.
TEST(MxuAdmission, X5_OnTheChipAnAllocationCanTakeMoreNodesThanElsewhere)
{
    mxu_hardware hardware = hypervisor(2);
    hardware.ocm_level = 3;
    hardware.limit[MXU_OCM_BYTES] = 16384;
    Account account(hardware);
    mxu_request request = pages(MXU_L3, 0, 4096);
    request.ocm_node_bytes = 12288;
    EXPECT_EQ(account.ask(request), MXU_OK);
    EXPECT_EQ(account.answer.mechanism, MXU_BY_OCM);
    EXPECT_EQ(account.answer.taken[MXU_OCM_BYTES], 12288u);
    EXPECT_EQ(account.ask(request), MXU_OK);
    EXPECT_EQ(account.answer.mechanism, MXU_BY_COLOR) << "4 KiB are left on the chip, 12 are needed";
    EXPECT_EQ(account.answer.taken[MXU_COLORED_BYTES], 4096u);
    request.spec = MXU_L2;
    EXPECT_EQ(account.ask(request), MXU_OK);
    EXPECT_EQ(account.answer.mechanism, MXU_BY_COLOR) << "the chip's memory is slower than L2";
    hardware.limit[MXU_COLORED_BYTES] = 0;
    request.spec = MXU_L3;
    EXPECT_EQ(account.ask(request), MXU_EBUSY);
    expect_lacking(account, MXU_OCM_BYTES, 12288, 4096);
}

TEST(MxuAdmission, X2_UnknownFlagsAreRefused)
{
    Account account(cortex_a9);
    EXPECT_EQ(account.ask(pages(32, 0, 0)), MXU_EINVAL);
    Account mpu(cortex_m7);
    EXPECT_EQ(mpu.ask(regions(0x80000000)), MXU_EINVAL);
}

// G2: whatever is requested and returned in any order, no more is taken than exists, and everything comes
// back.
TEST(MxuAdmission, X2_TheAccountIsTheSumOfWhatWasTaken)
{
    Random random{11};
    for (int round = 0; round < 200; ++round) {
        mxu_hardware hardware = cortex_a9;
        hardware.color_level = static_cast<std::uint8_t>(random() % 4);
        hardware.limit[MXU_COLORED_BYTES] = 32768;
        Account account(hardware);
        std::vector<mxu_answer> held;
        for (int i = 0; i < 60; ++i) {
            if (!held.empty() && random() % 3 == 0) {
                const auto at = held.begin() + static_cast<std::ptrdiff_t>(random() % held.size());
                mxu_release(&account.account, &*at);
                held.erase(at);
            } else {
                mxu_request request = pages(random() % 32, random() % 6, 1024 * (random() % 40));
                request.has_tlb_sets = random() % 2 == 0;
                request.tlb_sets = random() % 20;
                request.has_asid = random() % 2 == 0;
                const mxu_status status = account.ask(request);
                if (status == MXU_OK) {
                    held.push_back(account.answer);
                } else {
                    ASSERT_NE(account.answer.lacking, MXU_NO_RESOURCE);
                    ASSERT_LE(account.answer.left, hardware.limit[account.answer.lacking]);
                }
            }
            for (std::uint32_t resource = 0; resource < MXU_RESOURCES; ++resource) {
                std::uint64_t taken = 0;
                for (const mxu_answer &answer : held) {
                    taken += answer.taken[resource];
                }
                ASSERT_EQ(account.account.used[resource], taken);
                ASSERT_LE(taken, hardware.limit[resource]);
            }
        }
    }
}

TEST(MxuAdmission, X9_EachValueHasAName)
{
    EXPECT_STREQ(mxu_status_name(MXU_ENOHW), "MXU_ENOHW");
    EXPECT_STREQ(mxu_status_name(MXU_ENOENT), "MXU_ENOENT");
    EXPECT_STREQ(mxu_resource_name(MXU_LOCKED_ENTRIES), "locked TLB entries");
    EXPECT_STREQ(mxu_resource_name(MXU_NO_RESOURCE), "nothing");
    EXPECT_STREQ(mxu_mechanism_name(MXU_BY_COLOR), "colored memory");
    EXPECT_STREQ(mxu_placement_name(MXU_PLACE_LOCKED), "locked entry");
    EXPECT_STREQ(mxu_placement_name(static_cast<mxu_placement>(MXU_PLACEMENTS)), "unknown");
    for (int i = 0; i <= MXU_ENOENT; ++i) {
        EXPECT_STRNE(mxu_status_name(static_cast<mxu_status>(i)), "unknown");
    }
    for (int i = 0; i <= MXU_NO_RESOURCE; ++i) {
        ASSERT_NE(mxu_resource_name(static_cast<mxu_resource>(i)), nullptr);
    }
}

} // namespace
} // namespace mxu_admission_test
