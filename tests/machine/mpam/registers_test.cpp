// SPDX-License-Identifier: Apache-2.0
// M4, M8: the feature page of a memory-system component. Numbers are those of the architecture's compliance
// suite (ARM-software/sysarch-acs, MPAM), whose ideas these tests have; docs/design/mpam.md lists all of
// them.
#include <gtest/gtest.h>

#include <map>

#include "tests/machine/mpam/mpam_make.h"

namespace bulkhead::machine::test::registers_test {
namespace {

constexpr std::uint32_t undefined_instance = 2;

class M8Registers : public testing::Test {
protected:
    explicit M8Registers(const settings &wanted = machine_with_mpam())
        : machine_(make_machine(wanted)), page_(page_of(*machine_))
    {
    }
    [[nodiscard]] mpam::component &component() const { return machine_->mpam()->at(0); }

    std::unique_ptr<simulated_machine> machine_;
    page page_;
};

settings narrowing()
{
    settings all = machine_with_mpam();
    all.mpam->components[0].internal_partids = 4;
    return all;
}

class M8Narrowing : public M8Registers {
protected:
    M8Narrowing() : M8Registers(narrowing()) {}
};

settings oldest()
{
    settings all = machine_with_mpam();
    mpam::component_settings &one = all.mpam->components[0];
    one.version = "1.0";
    one.resources.erase(one.resources.begin() + 1);
    one.resources[0].capacity = {{.bits = 8}};
    one.resources[0].associativity.reset();
    return all;
}

class M8Oldest : public M8Registers {
protected:
    M8Oldest() : M8Registers(oldest()) {}
};

TEST_F(M8Registers, T001VersionAndExtension)
{
    EXPECT_EQ(page_.read(MPAMF_AIDR), 0x11U);
    EXPECT_NE(page_.read64(MPAMF_IDR) & MPAMF_IDR_EXT, 0U);
}

TEST_F(M8Oldest, T001VersionAndExtension)
{
    EXPECT_EQ(page_.read(MPAMF_AIDR), 0x10U);
    EXPECT_EQ(page_.read64(MPAMF_IDR) >> 32U, 0U);
    EXPECT_EQ(page_.read64(MPAMF_IDR) & MPAMF_IDR_EXT, 0U);
}

TEST_F(M8Registers, T002InstancesNeedTheLongErrorStatus)
{
    const std::uint64_t idr = page_.read64(MPAMF_IDR);
    EXPECT_NE(idr & MPAMF_IDR_HAS_ESR, 0U);
    EXPECT_NE(idr & MPAMF_IDR_HAS_RIS, 0U);
    EXPECT_NE(idr & MPAMF_IDR_HAS_EXTD_ESR, 0U);
    EXPECT_EQ(idr >> MPAMF_IDR_RIS_MAX_SHIFT & MPAMF_IDR_RIS_MAX, 1U);
    EXPECT_EQ(idr & MPAMF_IDR_PARTID_MAX, 7U);
    EXPECT_EQ(idr >> MPAMF_IDR_PMG_MAX_SHIFT & MPAMF_IDR_PMG_MAX, 3U);
}

TEST_F(M8Oldest, T003HasNothingThatCameLater)
{
    EXPECT_EQ(page_.read(MPAMF_CCAP_IDR), 8U) << "the width of CMAX, and no flag";
    EXPECT_EQ(page_.read(MPAMF_CSUMON_IDR) & ~(MPAMF_MON_IDR_HAS_CAPTURE | MPAMF_CSUMON_IDR_CSU_RO), 4U);
    EXPECT_EQ(page_.read(MPAMF_MSMON_IDR), MPAMF_MSMON_IDR_CSU | MPAMF_MSMON_IDR_LOCAL_CAPT);
    page_.select(3, 1); // no RIS field
    EXPECT_EQ(page_.read(MPAMCFG_PART_SEL), 1U);
    page_.write(MPAMCFG_CMAX, ~0U);
    EXPECT_EQ(page_.read(MPAMCFG_CMAX), 0xFF00U) << "no soft limit";
    page_.write(MPAMCFG_CMIN, ~0U);
    EXPECT_EQ(page_.read(MPAMCFG_CMIN), 0U);
    page_.write(MPAMCFG_DIS, 1);
    EXPECT_EQ(page_.read(MPAMCFG_EN_FLAGS), 0U);
    EXPECT_EQ(page_.error_code(), MPAM_ERROR_NONE) << "reserved locations are no errors";
}

TEST_F(M8Registers, T003SaysWhatEachInstanceOffers)
{
    page_.select(cache_instance, 0);
    EXPECT_EQ(page_.read(MPAMF_IDR) & 0xFF000000U,
              MPAMF_IDR_HAS_CCAP_PART | MPAMF_IDR_HAS_CPOR_PART | MPAMF_IDR_EXT | MPAMF_IDR_HAS_MSMON);
    EXPECT_EQ(page_.read(MPAMF_CPOR_IDR), 16U);
    EXPECT_EQ(page_.read(MPAMF_CCAP_IDR), 8U | 4U << MPAMF_CCAP_IDR_CASSOC_SHIFT | MPAMF_CCAP_IDR_HAS_CASSOC |
                                              MPAMF_CCAP_IDR_HAS_CMIN | MPAMF_CCAP_IDR_HAS_SOFTLIM);
    EXPECT_EQ(page_.read(MPAMF_MBW_IDR) | page_.read(MPAMF_PRI_IDR) | page_.read(MPAMF_MBWUMON_IDR), 0U);
    page_.select(memory_instance, 0);
    EXPECT_EQ(page_.read(MPAMF_IDR) & 0xFF000000U,
              MPAMF_IDR_HAS_MBW_PART | MPAMF_IDR_HAS_PRI_PART | MPAMF_IDR_EXT | MPAMF_IDR_HAS_MSMON);
    EXPECT_EQ(page_.read(MPAMF_MBW_IDR), 8U | MPAMF_MBW_IDR_HAS_MIN | MPAMF_MBW_IDR_HAS_MAX |
                                             MPAMF_MBW_IDR_HAS_PBM | MPAMF_MBW_IDR_HAS_PROP |
                                             MPAMF_MBW_IDR_WINDWR | 32U << MPAMF_MBW_IDR_BWPBM_SHIFT);
    EXPECT_EQ(page_.read(MPAMF_PRI_IDR), MPAMF_PRI_IDR_HAS_INTPRI | MPAMF_PRI_IDR_INTPRI_0_LOW |
                                             3U << MPAMF_PRI_IDR_INTPRI_SHIFT | MPAMF_PRI_IDR_HAS_DSPRI |
                                             MPAMF_PRI_IDR_DSPRI_0_LOW | 2U << MPAMF_PRI_IDR_DSPRI_SHIFT);
    EXPECT_EQ(page_.read(MPAMF_CPOR_IDR) | page_.read(MPAMF_CCAP_IDR) | page_.read(MPAMF_CSUMON_IDR), 0U);
}

TEST_F(M8Narrowing, T006NarrowingComesWithoutNoFutureUse)
{
    constexpr std::uint64_t has_nfu = std::uint64_t{1} << 43U;
    EXPECT_NE(page_.read64(MPAMF_IDR) & MPAMF_IDR_HAS_PARTID_NRW, 0U);
    EXPECT_EQ(page_.read64(MPAMF_IDR) & has_nfu, 0U);
    EXPECT_EQ(page_.read(MPAMF_PARTID_NRW_IDR), 3U);
}

// --- Settings ---

struct setting {
    std::uint32_t ris;
    std::uint64_t offset;
    std::uint32_t implemented;
};
constexpr setting all_settings[] = {
    {cache_instance, MPAMCFG_CPBM(0), 0xFFFF},
    {cache_instance, MPAMCFG_CMAX, 0x8000FF00},
    {cache_instance, MPAMCFG_CMIN, 0xFF00},
    {cache_instance, MPAMCFG_CASSOC, 0xF000},
    {memory_instance, MPAMCFG_MBW_MIN, 0xFF00},
    {memory_instance, MPAMCFG_MBW_MAX, 0x8000FF00},
    {memory_instance, MPAMCFG_MBW_PBM(0), 0xFFFFFFFF},
    {memory_instance, MPAMCFG_MBW_WINWD, 0xFFFFFF},
    {memory_instance, MPAMCFG_MBW_PROP, 0x800000FF},
    {memory_instance, MPAMCFG_PRI, 0x00030007},
};

TEST_F(M8Registers, EverySettingIsKeptForEachPartitionAndHasItsImplementedBits)
{
    std::uint32_t pattern = 0x9E3779B9;
    std::vector<std::uint32_t> written;
    for (std::uint32_t partid = 0; partid < 8; ++partid) {
        for (const setting &one : all_settings) {
            pattern = pattern * 1664525 + 1013904223;
            page_.set(one.ris, partid, one.offset, pattern);
            written.push_back(pattern);
        }
    }
    std::size_t next = 0;
    for (std::uint32_t partid = 0; partid < 8; ++partid) {
        for (const setting &one : all_settings) {
            page_.select(one.ris, partid);
            EXPECT_EQ(page_.read(one.offset), written[next++] & one.implemented)
                << "offset " << one.offset << " of PARTID " << partid;
        }
    }
    EXPECT_EQ(page_.error_code(), MPAM_ERROR_NONE);
}

// IHI 0099, 3.7: the system behaves as if there were no MPAM.
TEST_F(M8Registers, NothingIsLimitedAfterAReset)
{
    const std::map<std::uint64_t, std::uint32_t> limited_by_less = {
        {MPAMCFG_CPBM(0), 0xFFFF},     {MPAMCFG_CMAX, 0xFF00},    {MPAMCFG_CMIN, 0},
        {MPAMCFG_CASSOC, 0xF000},      {MPAMCFG_MBW_MIN, 0xFF00}, {MPAMCFG_MBW_MAX, 0xFF00},
        {MPAMCFG_MBW_PBM(0), ~0U},     {MPAMCFG_MBW_PROP, 0},     {MPAMCFG_PRI, 0},
        {MPAMCFG_MBW_WINWD, 20U << 8},
    };
    for (const setting &one : all_settings) {
        page_.select(one.ris, 0);
        EXPECT_EQ(page_.read(one.offset), limited_by_less.at(one.offset)) << one.offset;
    }
}

TEST_F(M8Registers, ReservedLocationsReadAsZeroAndTakeNothing)
{
    for (std::uint64_t offset = 0; offset < mpam::component::page_bytes; offset += 4) {
        const std::uint32_t before = page_.read(offset);
        if (before == 0 && page_.error_code() == MPAM_ERROR_NONE && offset < MPAMCFG_PART_SEL &&
            offset != MPAMF_ECR && offset != MPAMF_ESR && offset != MPAMF_ESR + 4) {
            page_.write(offset, ~0U);
            EXPECT_EQ(page_.read(offset), 0U) << offset;
        }
        page_.write(MPAMF_ESR, 0);
    }
    page_.select(cache_instance, 0);
    for (const std::uint64_t offset : {0x0104U, 0x0120U, 0x0700U, 0x3000U, 0xFFFCU}) {
        page_.write(offset, ~0U);
        EXPECT_EQ(page_.read(offset), 0U) << offset;
    }
    EXPECT_EQ(component().read(MPAMF_IDR, 2, {}), 0U) << "half a register";
    EXPECT_EQ(component().read(MPAMF_IDR + 2, 4, {}), 0U);
}

TEST_F(M8Registers, T125DisabledPartidsAreFlags)
{
    page_.select(cache_instance, 0);
    EXPECT_EQ(page_.read(MPAMCFG_EN_FLAGS), 0xFFU);
    page_.write(MPAMCFG_DIS, 5);
    EXPECT_EQ(page_.read(MPAMCFG_EN_FLAGS), 0xDFU);
    EXPECT_EQ(page_.read(MPAMCFG_DIS) | page_.read(MPAMCFG_EN), 0U) << "write-only";
    page_.write(MPAMCFG_EN, 5);
    page_.write(MPAMCFG_EN_FLAGS, 0x0F);
    EXPECT_EQ(page_.read(MPAMCFG_EN_FLAGS), 0x0FU);
}

// --- Errors ---

TEST_F(M8Registers, T201APartidBeyondTheLastIsRefused)
{
    page_.select(cache_instance, 3);
    page_.select(cache_instance, 8);
    EXPECT_EQ(page_.error_code(), MPAM_ERROR_PARTID_SEL_RANGE);
    EXPECT_EQ(page_.read(MPAMF_ESR) & 0xFFFFU, 8U);
    EXPECT_EQ(page_.read(MPAMCFG_PART_SEL), 3U) << "the selection stays";
}

TEST_F(M8Registers, T202ARequestWithAPartidBeyondTheLastIsServedAndReported)
{
    core &own = machine_->core_at({0});
    own.set_label({.partition = 8});
    own.start([](core &runs) { runs.access(phys_addr{0}, 8, access_kind::read); });
    machine_->timeline().run(for_ever);
    EXPECT_EQ(page_.error_code(), MPAM_ERROR_REQ_PARTID_RANGE);
    EXPECT_EQ(page_.read(MPAMF_ESR) & 0xFFFFU, 8U);
    EXPECT_EQ(component().instance(cache_instance).cache->lines_of({.partition = 0}), 1U)
        << "as the default PARTID";
}

TEST_F(M8Registers, T203AMonitorOfIdsBeyondTheLastIsRefused)
{
    page_.select_monitor(cache_instance, 0);
    page_.write(MSMON_CFG_CSU_FLT, 8);
    EXPECT_EQ(page_.error_code(), MPAM_ERROR_MSMONCFG_ID_RANGE);
    page_.write(MPAMF_ESR, 0);
    page_.select_monitor(memory_instance, 0);
    page_.write(MSMON_CFG_MBWU_FLT, 4U << MSMON_FLT_PMG_SHIFT | 2);
    EXPECT_EQ(page_.error_code(), MPAM_ERROR_MSMONCFG_ID_RANGE);
    EXPECT_EQ(page_.read(MPAMF_ESR) & 0xFFFFFFU, 4U << MPAMF_ESR_PMG_SHIFT | 2);
    EXPECT_EQ(page_.read(MPAMF_ESR + 4), memory_instance);
}

TEST_F(M8Registers, T204ARequestWithAGroupBeyondTheLastIsServedAndReported)
{
    core &own = machine_->core_at({0});
    own.set_label({.partition = 2, .monitor_group = 4});
    own.start([](core &runs) { runs.access(phys_addr{0}, 8, access_kind::read); });
    machine_->timeline().run(for_ever);
    EXPECT_EQ(page_.error_code(), MPAM_ERROR_REQ_PMG_RANGE);
    EXPECT_EQ(page_.read(MPAMF_ESR) & 0xFFFFFFU, 4U << MPAMF_ESR_PMG_SHIFT | 2);
    EXPECT_EQ(component().instance(cache_instance).cache->lines_of({.partition = 2}), 1U);
}

TEST_F(M8Registers, T205AMonitorThatNoKindHasIsRefused)
{
    page_.select_monitor(memory_instance, 5);
    page_.select_monitor(memory_instance, 6);
    EXPECT_EQ(page_.error_code(), MPAM_ERROR_MONITOR_RANGE);
    EXPECT_EQ(page_.read(MPAMF_ESR) & 0xFFFFU, 6U);
    EXPECT_EQ(page_.read(MSMON_CFG_MON_SEL), memory_instance << 24U | 5);
}

TEST_F(M8Narrowing, T206AnInternalPartidBeyondTheLastIsRefused)
{
    page_.select(0, 7);
    page_.write(MPAMCFG_INTPARTID, MPAMCFG_INTPARTID_INTERNAL | 4);
    EXPECT_EQ(page_.error_code(), MPAM_ERROR_INTPARTID_RANGE);
    page_.write(MPAMF_ESR, 0);
    page_.write(MPAMCFG_INTPARTID, 3); // INTERNAL is not set
    EXPECT_EQ(page_.error_code(), MPAM_ERROR_INTPARTID_RANGE);
    EXPECT_EQ(page_.read(MPAMCFG_INTPARTID), MPAMCFG_INTPARTID_INTERNAL | 0U) << "the mapping stays";
    page_.write(MPAMF_ESR, 0);
    EXPECT_EQ(page_.read(MPAMCFG_CMAX), 0U) << "an internal PARTID is wanted for settings";
    EXPECT_EQ(page_.error_code(), MPAM_ERROR_INTPARTID_RANGE);
}

TEST_F(M8Narrowing, T207AnInternalPartidIsNotMapped)
{
    page_.write(MPAMCFG_PART_SEL, MPAMCFG_PART_SEL_INTERNAL | 7);
    page_.write(MPAMCFG_INTPARTID, MPAMCFG_INTPARTID_INTERNAL | 3);
    EXPECT_EQ(page_.error_code(), MPAM_ERROR_UNEXPECTED_INTERNAL);
}

TEST_F(M8Narrowing, PartidsWithOneInternalPartidHaveOneSetting)
{
    for (const std::uint32_t partid : {5, 6}) {
        page_.select(0, partid);
        page_.write(MPAMCFG_INTPARTID, MPAMCFG_INTPARTID_INTERNAL | 2);
    }
    page_.write(MPAMCFG_PART_SEL, MPAMCFG_PART_SEL_INTERNAL | 2);
    page_.write(MPAMCFG_CPBM(0), 0x00F0);
    page_.select(0, 6);
    EXPECT_EQ(page_.read(MPAMCFG_INTPARTID), MPAMCFG_INTPARTID_INTERNAL | 2U);
    EXPECT_EQ(page_.error_code(), MPAM_ERROR_NONE);
}

TEST_F(M8Registers, T208AnUndefinedInstanceHasNoSettings)
{
    page_.select(undefined_instance, 1);
    EXPECT_EQ(page_.error_code(), MPAM_ERROR_NONE) << "selecting it is none yet";
    EXPECT_EQ(page_.read(MPAMCFG_CMAX), 0U);
    EXPECT_EQ(page_.error_code(), MPAM_ERROR_UNDEFINED_RIS_PART_SEL);
}

TEST_F(M8Registers, T209AnInstanceHasNoOthersControls)
{
    page_.select(memory_instance, 1);
    page_.write(MPAMCFG_CMAX, 0xFFFF);
    EXPECT_EQ(page_.error_code(), MPAM_ERROR_RIS_NO_CONTROL);
    EXPECT_EQ(page_.read(MPAMCFG_CMAX), 0U);
    page_.write(MPAMF_ESR, 0);
    page_.select(cache_instance, 1);
    EXPECT_EQ(page_.read(MPAMCFG_MBW_MAX), 0U);
    EXPECT_EQ(page_.error_code(), MPAM_ERROR_RIS_NO_CONTROL);
}

TEST_F(M8Registers, T210AnUndefinedInstanceHasNoMonitors)
{
    page_.select_monitor(undefined_instance, 0);
    EXPECT_EQ(page_.read(MSMON_CFG_MBWU_FLT), 0U);
    EXPECT_EQ(page_.error_code(), MPAM_ERROR_UNDEFINED_RIS_MON_SEL);
}

TEST_F(M8Registers, T211AnInstanceHasNoOthersMonitors)
{
    page_.select_monitor(cache_instance, 0);
    page_.write(MSMON_CFG_MBWU_CTL, ~0U);
    EXPECT_EQ(page_.error_code(), MPAM_ERROR_RIS_NO_MONITOR);
    EXPECT_EQ(page_.read(MSMON_CFG_MBWU_CTL), 0U);
}

TEST_F(M8Registers, T212TheErrorInterruptIsALevel)
{
    std::vector<bool> seen;
    component().connect([&seen](bool high) { seen.push_back(high); }, {});
    page_.select(0, 8);
    EXPECT_TRUE(seen.empty()) << "not enabled";
    page_.write(MPAMF_ECR, MPAMF_ECR_INTEN);
    EXPECT_EQ(seen, std::vector<bool>{true});
    page_.write(MPAMF_ESR, 0);
    EXPECT_EQ(seen, (std::vector<bool>{true, false}));
    page_.write(MPAMF_ESR, 1U << MPAMF_ESR_ERRCODE_SHIFT); // software can set it
    EXPECT_EQ(seen.size(), 3U);
}

TEST_F(M8Registers, T215AnUndefinedInstanceOffersNothing)
{
    page_.select(undefined_instance, 0);
    constexpr std::uint64_t flags = 0xFFull << 24 & ~MPAMF_IDR_EXT;
    constexpr std::uint64_t long_flags =
        MPAMF_IDR_HAS_RIS | MPAMF_IDR_HAS_EXTD_ESR | MPAMF_IDR_HAS_ESR | MPAMF_IDR_HAS_ENDIS;
    EXPECT_EQ(page_.read64(MPAMF_IDR) & (flags | long_flags), 0U);
    for (std::uint64_t offset = MPAMF_CPOR_IDR; offset <= MPAMF_MBWUMON_IDR; offset += 8) {
        EXPECT_EQ(page_.read(offset), 0U) << offset;
    }
    EXPECT_EQ(page_.error_code(), MPAM_ERROR_NONE);
}

TEST_F(M8Registers, T216TheInstanceOfAnErrorIsKnown)
{
    page_.select(undefined_instance, 7);
    (void)page_.read(MPAMCFG_CMAX);
    EXPECT_EQ(page_.read64(MPAMF_ESR) >> MPAMF_ESR_RIS_SHIFT, undefined_instance);
    page_.write64(MPAMF_ESR, 0);
    page_.select_monitor(undefined_instance, 0);
    (void)page_.read(MSMON_CFG_MBWU_FLT);
    EXPECT_EQ(page_.read64(MPAMF_ESR) >> MPAMF_ESR_RIS_SHIFT, undefined_instance);
}

TEST_F(M8Registers, T217ASecondErrorIsSeen)
{
    page_.select(0, 8);
    EXPECT_EQ(page_.read(MPAMF_ESR) & MPAMF_ESR_OVRWR, 0U);
    page_.select_monitor(cache_instance, 0);
    page_.write(MSMON_CFG_CSU_FLT, 8);
    EXPECT_EQ(page_.error_code(), MPAM_ERROR_MSMONCFG_ID_RANGE) << "the last one";
    EXPECT_NE(page_.read(MPAMF_ESR) & MPAMF_ESR_OVRWR, 0U);
}

// --- Impossible settings ---

TEST(M4Settings, ImpossibleComponentsAreRefusedWithTheirPath)
{
    const auto reason = [](auto change) {
        settings all = machine_with_mpam();
        change(all, all.mpam->components[0]);
        return reason_of(simulated_machine::make(all));
    };
    using change = mpam::component_settings;
    EXPECT_NE(reason([](settings &, change &one) { one.version = "1.0"; }).find("resource instances"),
              std::string::npos);
    EXPECT_NE(reason([](settings &, change &one) { one.resources[0].level = "l3"; }).find("no level 'l3'"),
              std::string::npos);
    EXPECT_NE(reason([](settings &, change &one) { one.resources[0].portions = 12; }).find("equal parts"),
              std::string::npos);
    EXPECT_NE(reason([](settings &, change &one) { one.resources[1].bandwidth->bits = 17; }).find("1 to 16"),
              std::string::npos);
    EXPECT_NE(reason([](settings &all, change &) { all.levels[0].inclusive = true; }).find("inclusive"),
              std::string::npos);
    EXPECT_NE(reason([](settings &, change &one) { one.resources[0].level = ""; }).find("memory"),
              std::string::npos);
    EXPECT_EQ(reason([](settings &, change &) {}), "");
}

} // namespace
} // namespace bulkhead::machine::test::registers_test
