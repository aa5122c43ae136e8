// SPDX-License-Identifier: Apache-2.0
// Features that a component's ID registers report (M3), and invalid values that are not relied on.
#include "core/mpam_features.h"
#include "core/mpam_registers.h"
#include <gtest/gtest.h>
#include <random>

namespace mpam_features_test {
namespace {

constexpr std::uint64_t all_parts = MPAMF_IDR_HAS_CCAP_PART | MPAMF_IDR_HAS_CPOR_PART |
                                    MPAMF_IDR_HAS_MBW_PART | MPAMF_IDR_HAS_PRI_PART | MPAMF_IDR_HAS_MSMON;

TEST(MpamFeatures, M3_AComponentOfVersion1_1IsReadFieldByField)
{
    const mpam_id_registers read{
        .idr = 31u | 3u << MPAMF_IDR_PMG_MAX_SHIFT | all_parts | MPAMF_IDR_EXT | MPAMF_IDR_HAS_RIS |
               MPAMF_IDR_HAS_ESR | MPAMF_IDR_HAS_PARTID_NRW | std::uint64_t{2} << MPAMF_IDR_RIS_MAX_SHIFT,
        .aidr = 0x11,
        .cpor = 32,
        .ccap = 8 | 5u << MPAMF_CCAP_IDR_CASSOC_SHIFT | MPAMF_CCAP_IDR_HAS_CASSOC | MPAMF_CCAP_IDR_HAS_CMIN,
        .mbw = 7 | MPAMF_MBW_IDR_HAS_MAX | MPAMF_MBW_IDR_HAS_PBM | 16u << MPAMF_MBW_IDR_BWPBM_SHIFT,
        .pri = MPAMF_PRI_IDR_HAS_DSPRI | 3u << MPAMF_PRI_IDR_DSPRI_SHIFT | MPAMF_PRI_IDR_DSPRI_0_LOW,
        .partid_nrw = 7,
        .msmon = MPAMF_MSMON_IDR_CSU | MPAMF_MSMON_IDR_MBWU,
        .csumon = 4 | MPAMF_MON_IDR_HAS_CAPTURE,
        .mbwumon = 2 | MPAMF_MBWUMON_IDR_HAS_LONG | MPAMF_MBWUMON_IDR_HAS_RWBW};
    const mpam_features found = mpam_features_of(&read);
    EXPECT_EQ(found.version_major, 1u);
    EXPECT_EQ(found.version_minor, 1u);
    EXPECT_EQ(found.partid_max, 31u);
    EXPECT_EQ(found.pmg_max, 3u);
    EXPECT_EQ(found.ris_max, 2u);
    EXPECT_TRUE(found.narrowing);
    EXPECT_EQ(found.intpartid_max, 7u);
    EXPECT_EQ(found.cache_portions, 32u);
    EXPECT_EQ(found.capacity_bits, 8u);
    EXPECT_TRUE(found.has_cmax);
    EXPECT_TRUE(found.has_cmin);
    EXPECT_FALSE(found.has_soft_cmax);
    EXPECT_EQ(found.associativity_bits, 5u);
    EXPECT_EQ(found.bandwidth_bits, 7u);
    EXPECT_TRUE(found.has_max);
    EXPECT_FALSE(found.has_min);
    EXPECT_FALSE(found.has_proportional);
    EXPECT_EQ(found.bandwidth_portions, 16u);
    EXPECT_EQ(found.internal.bits, 0u);
    EXPECT_EQ(found.downstream.bits, 3u);
    EXPECT_TRUE(found.downstream.zero_is_low);
    EXPECT_EQ(found.storage_monitors, 4u);
    EXPECT_TRUE(found.storage_capture);
    EXPECT_EQ(found.bandwidth_monitors, 2u);
    EXPECT_FALSE(found.bandwidth_capture);
    EXPECT_TRUE(found.bandwidth_by_direction);
    EXPECT_EQ(found.bandwidth_value_bits, 44u);
    EXPECT_TRUE(found.has_esr);
}

TEST(MpamFeatures, M3_RegistersThatTheIdrDoesNotNameAreNotLookedAt)
{
    mpam_id_registers read{};
    read.idr = 15;
    read.cpor = read.ccap = read.mbw = read.pri = read.partid_nrw = read.msmon = read.csumon = read.mbwumon =
        ~0u;
    const mpam_features found = mpam_features_of(&read);
    EXPECT_EQ(found.partid_max, 15u);
    EXPECT_EQ(found.intpartid_max, 15u);
    EXPECT_EQ(found.cache_portions, 0u);
    EXPECT_FALSE(found.has_cmax);
    EXPECT_EQ(found.associativity_bits, 0u);
    EXPECT_FALSE(found.has_max);
    EXPECT_EQ(found.bandwidth_portions, 0u);
    EXPECT_EQ(found.internal.bits, 0u);
    EXPECT_EQ(found.storage_monitors, 0u);
    EXPECT_EQ(found.bandwidth_monitors, 0u);
}

TEST(MpamFeatures, M3_ResourceInstancesNeedTheWideIdr)
{
    mpam_id_registers read{};
    read.idr = MPAMF_IDR_HAS_RIS | std::uint64_t{5} << MPAMF_IDR_RIS_MAX_SHIFT;
    EXPECT_EQ(mpam_features_of(&read).ris_max, 0u) << "version 1.0 has 32 bits of it";
    read.idr |= MPAMF_IDR_EXT;
    EXPECT_EQ(mpam_features_of(&read).ris_max, 5u);
}

TEST(MpamFeatures, M3_ABitmapThatDoesNotFitIsNoControl)
{
    mpam_id_registers read{};
    read.idr = MPAMF_IDR_HAS_CPOR_PART | MPAMF_IDR_HAS_MBW_PART;
    read.cpor = MPAM_MAX_PORTIONS;
    read.mbw = MPAMF_MBW_IDR_HAS_PBM | MPAM_MAX_PORTIONS << MPAMF_MBW_IDR_BWPBM_SHIFT;
    EXPECT_EQ(mpam_features_of(&read).cache_portions, MPAM_MAX_PORTIONS);
    EXPECT_EQ(mpam_features_of(&read).bandwidth_portions, MPAM_MAX_PORTIONS);
    read.cpor += 1;
    read.mbw += 1u << MPAMF_MBW_IDR_BWPBM_SHIFT;
    EXPECT_EQ(mpam_features_of(&read).cache_portions, 0u) << "bits that nobody writes would be shared";
    EXPECT_EQ(mpam_features_of(&read).bandwidth_portions, 0u);
}

TEST(MpamFeatures, M3_NoRegisterStatesMoreThanControlsCanHold)
{
    std::mt19937_64 random{1};
    for (int i = 0; i < 20000; ++i) {
        const auto word = [&random] { return static_cast<std::uint32_t>(random()); };
        const mpam_id_registers read{.idr = random(),
                                     .aidr = word(),
                                     .cpor = word(),
                                     .ccap = word(),
                                     .mbw = word(),
                                     .pri = word(),
                                     .partid_nrw = word(),
                                     .msmon = word(),
                                     .csumon = word(),
                                     .mbwumon = word()};
        const mpam_features found = mpam_features_of(&read);
        ASSERT_LE(found.capacity_bits, 16u);
        ASSERT_LE(found.associativity_bits, 16u);
        ASSERT_LE(found.bandwidth_bits, 16u);
        ASSERT_LE(found.internal.bits, 16u);
        ASSERT_LE(found.downstream.bits, 16u);
        ASSERT_LE(found.cache_portions, MPAM_MAX_PORTIONS);
        ASSERT_LE(found.bandwidth_portions, MPAM_MAX_PORTIONS);
        ASSERT_LE(found.ris_max, 15u);
        ASSERT_LE(found.intpartid_max, found.partid_max);
        ASSERT_TRUE(found.capacity_bits > 0 || !(found.has_cmax || found.has_cmin || found.has_soft_cmax));
        ASSERT_TRUE(found.bandwidth_bits > 0 || !(found.has_min || found.has_max || found.has_proportional));
        ASSERT_TRUE(found.has_cmax || !found.has_soft_cmax);
    }
}

} // namespace
} // namespace mpam_features_test
