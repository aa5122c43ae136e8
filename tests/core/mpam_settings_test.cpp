// SPDX-License-Identifier: Apache-2.0
// The settings of a partition and the writes that encode them (M3), on a component of registers alone: it
// keeps the bits that it implements, for each partition and resource instance, independently of the encoder.
#include "core/mpam_registers.h"
#include "core/mpam_settings.h"
#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <random>
#include <tuple>

namespace mpam_settings_test {
namespace {

class registers {
public:
    explicit registers(const mpam_features &of) : of_{of} {}

    void apply(const mpam_writes &writes)
    {
        for (std::uint32_t i = 0; i < writes.count; ++i) {
            const mpam_write &one = writes.write[i];
            ASSERT_EQ(one.value & ~(one.implemented | window_bits(one.offset)), 0u)
                << std::hex << one.offset << ": a bit that is not implemented";
            if (one.offset == MPAMCFG_PART_SEL) {
                selected_ = one.value;
            } else if (one.offset == MPAMCFG_INTPARTID) {
                ASSERT_FALSE(selected_ & MPAMCFG_PART_SEL_INTERNAL);
                ASSERT_TRUE(one.value & MPAMCFG_INTPARTID_INTERNAL);
                internal_[selected_] = one.value & 0xFFFFu;
            } else {
                // With narrowing, controls are those of internal PARTIDs, and are selected as such.
                ASSERT_EQ((selected_ & MPAMCFG_PART_SEL_INTERNAL) != 0, of_.narrowing);
                ASSERT_TRUE(written_.insert_or_assign({selected_, one.offset}, one.value).second)
                    << "written twice";
            }
        }
    }

    // Nothing if the register was not written.
    [[nodiscard]] std::optional<std::uint32_t> of(std::uint32_t ris, std::uint32_t partid,
                                                  std::uint32_t offset) const
    {
        const std::uint32_t selection = ris << MPAM_SEL_RIS_SHIFT | partid;
        const auto found = written_.find(
            {of_.narrowing ? (ris << MPAM_SEL_RIS_SHIFT | internal_.at(selection) | MPAMCFG_PART_SEL_INTERNAL)
                           : selection,
             offset});
        return found == written_.end() ? std::nullopt : std::optional{found->second};
    }

private:
    static std::uint32_t window_bits(std::uint32_t offset)
    {
        return offset == MPAMCFG_MBW_WINWD ? 0xFFFFFFu : 0;
    }

    mpam_features of_;
    std::uint32_t selected_ = 0;
    std::map<std::uint32_t, std::uint32_t> internal_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> written_;
};

mpam_features everything()
{
    mpam_features of{};
    of.partid_max = of.intpartid_max = 31;
    of.cache_portions = 32;
    of.capacity_bits = 8;
    of.has_cmax = of.has_cmin = of.has_soft_cmax = true;
    of.associativity_bits = 5;
    of.bandwidth_bits = 8;
    of.has_min = of.has_max = of.has_proportional = of.window_writable = true;
    of.bandwidth_portions = 40;
    of.internal = {4, true};
    of.downstream = {3, false};
    return of;
}

mpam_writes writes_of(const mpam_features &of, const mpam_settings &settings, std::uint32_t ris,
                      std::uint32_t partid)
{
    mpam_writes writes{};
    mpam_settings_writes(&of, &settings, ris, partid, &writes);
    return writes;
}

TEST(MpamSettings, M3_EachControlIsWrittenAsTheManualHasIt)
{
    const mpam_features of = everything();
    mpam_settings settings{};
    settings.asked = MPAM_CACHE_PORTIONS | MPAM_CMAX | MPAM_CMAX_SOFT | MPAM_CMIN | MPAM_ASSOCIATIVITY |
                     MPAM_MBW_MIN | MPAM_MBW_MAX | MPAM_MBW_MAX_HARD | MPAM_BANDWIDTH_PORTIONS |
                     MPAM_PROPORTIONAL | MPAM_INTERNAL_PRIORITY | MPAM_DOWNSTREAM_PRIORITY | MPAM_WINDOW;
    settings.cache.word[0] = 0xF0F0;
    settings.cmax = {1, 2};
    settings.cmin = {1, 4};
    settings.associativity = {1, 4};
    settings.mbw_min = {20, 100};
    settings.mbw_max = {50, 100};
    settings.bandwidth.word[1] = 0x81;
    settings.stride = 4;
    settings.internal_priority = 15;
    settings.downstream_priority = 7;
    settings.window_us = 10;
    ASSERT_EQ(mpam_settings_check(&of, &settings).refusal, MPAM_ACCEPTED);
    registers component{of};
    component.apply(writes_of(of, settings, 2, 5));
    const auto field = [&component](std::uint32_t offset) { return component.of(2, 5, offset).value(); };
    EXPECT_EQ(field(MPAMCFG_CPBM(0)), 0xF0F0u);
    EXPECT_EQ(field(MPAMCFG_CMAX), 0x80007F00u);
    EXPECT_EQ(field(MPAMCFG_CMIN), 0x4000u);
    EXPECT_EQ(field(MPAMCFG_CASSOC), 7u << 11);
    EXPECT_EQ(field(MPAMCFG_MBW_MIN), 52u << 8) << "20 % of 256 is 51.2";
    EXPECT_EQ(field(MPAMCFG_MBW_MAX), 0x80007F00u);
    EXPECT_EQ(field(MPAMCFG_MBW_PBM(0)), 0u);
    EXPECT_EQ(field(MPAMCFG_MBW_PBM(1)), 0x81u);
    EXPECT_EQ(field(MPAMCFG_MBW_PROP), 0x80000003u);
    EXPECT_EQ(field(MPAMCFG_PRI), 15u) << "0 is low inside, high downstream";
    EXPECT_EQ(field(MPAMCFG_MBW_WINWD), 10u << 8);
}

TEST(MpamSettings, M3_WhatIsNotAskedLimitsNothingAndTheSmallestMinimumIsNotZero)
{
    const mpam_features of = everything();
    const mpam_settings nothing{};
    registers component{of};
    component.apply(writes_of(of, nothing, 0, 1));
    const auto field = [&component](std::uint32_t offset) { return component.of(0, 1, offset).value(); };
    EXPECT_EQ(field(MPAMCFG_CPBM(0)), 0xFFFFFFFFu);
    EXPECT_EQ(field(MPAMCFG_CMAX), 0xFF00u);
    EXPECT_EQ(field(MPAMCFG_MBW_MAX), 0xFF00u);
    EXPECT_EQ(field(MPAMCFG_MBW_PBM(1)), 0xFFu);
    EXPECT_EQ(field(MPAMCFG_MBW_MIN), 0x100u);
    EXPECT_EQ(field(MPAMCFG_MBW_PROP), 0u);
    EXPECT_EQ(field(MPAMCFG_PRI), 4u << 16 | 7u) << "the middle, counted from each one's low end";
    EXPECT_FALSE(component.of(0, 1, MPAMCFG_MBW_WINWD)) << "the component's own window stays";
    mpam_settings none{};
    none.asked = MPAM_MBW_MIN;
    none.mbw_min = {0, 100};
    component = registers{of};
    component.apply(writes_of(of, none, 0, 1));
    EXPECT_EQ(field(MPAMCFG_MBW_MIN), 0x100u) << "erratum T241-MPAM-4: a minimum of 0 may throttle for ever";
}

TEST(MpamSettings, M3_WhatCannotBeHadIsRefusedWithItsControl)
{
    const mpam_features of = everything();
    const auto refusal = [&of](std::uint32_t asked, auto change) {
        mpam_settings settings{};
        settings.asked = asked;
        settings.cmax = settings.cmin = settings.mbw_min = settings.mbw_max = {1, 2};
        change(settings);
        const mpam_verdict verdict = mpam_settings_check(&of, &settings);
        return std::tuple{verdict.refusal, verdict.control};
    };
    const auto is = [](mpam_refusal why, std::uint32_t control) { return std::tuple{why, control}; };
    EXPECT_EQ(refusal(MPAM_CACHE_PORTIONS, [](mpam_settings &) {}),
              is(MPAM_NO_PORTIONS, MPAM_CACHE_PORTIONS));
    EXPECT_EQ(refusal(MPAM_CACHE_PORTIONS, [](mpam_settings &s) { s.cache.word[1] = 1; }),
              is(MPAM_PORTION_RANGE, MPAM_CACHE_PORTIONS));
    EXPECT_EQ(refusal(MPAM_BANDWIDTH_PORTIONS, [](mpam_settings &s) { s.bandwidth.word[1] = 0x100; }),
              is(MPAM_PORTION_RANGE, MPAM_BANDWIDTH_PORTIONS));
    EXPECT_EQ(refusal(MPAM_CMAX,
                      [](mpam_settings &s) {
                          s.cmax = {1, 300};
                      }),
              is(MPAM_SHARE_TOO_SMALL, MPAM_CMAX));
    EXPECT_EQ(refusal(MPAM_CMIN,
                      [](mpam_settings &s) {
                          s.cmin = {1, 1};
                      }),
              is(MPAM_SHARE_TOO_LARGE, MPAM_CMIN));
    EXPECT_EQ(refusal(MPAM_MBW_MAX,
                      [](mpam_settings &s) {
                          s.mbw_max = {2, 1};
                      }),
              is(MPAM_VALUE_RANGE, MPAM_MBW_MAX));
    EXPECT_EQ(refusal(MPAM_MBW_MIN,
                      [](mpam_settings &s) {
                          s.mbw_min = {1, 0};
                      }),
              is(MPAM_VALUE_RANGE, MPAM_MBW_MIN));
    EXPECT_EQ(refusal(MPAM_MBW_MIN | MPAM_MBW_MAX,
                      [](mpam_settings &s) {
                          s.mbw_max = {1, 4};
                      }),
              is(MPAM_MIN_ABOVE_MAX, MPAM_MBW_MIN));
    EXPECT_EQ(refusal(MPAM_PROPORTIONAL, [](mpam_settings &) {}), is(MPAM_VALUE_RANGE, MPAM_PROPORTIONAL));
    EXPECT_EQ(refusal(MPAM_PROPORTIONAL, [](mpam_settings &s) { s.stride = 257; }),
              is(MPAM_VALUE_RANGE, MPAM_PROPORTIONAL));
    EXPECT_EQ(refusal(MPAM_INTERNAL_PRIORITY, [](mpam_settings &s) { s.internal_priority = 16; }),
              is(MPAM_VALUE_RANGE, MPAM_INTERNAL_PRIORITY));
    EXPECT_EQ(refusal(MPAM_WINDOW, [](mpam_settings &s) { s.window_us = 65536; }),
              is(MPAM_VALUE_RANGE, MPAM_WINDOW));
    EXPECT_EQ(refusal(MPAM_MBW_MAX_HARD, [](mpam_settings &) {}),
              is(MPAM_WITHOUT_MAXIMUM, MPAM_MBW_MAX_HARD));
    EXPECT_EQ(refusal(MPAM_CMAX_SOFT | MPAM_MBW_MAX, [](mpam_settings &) {}),
              is(MPAM_WITHOUT_MAXIMUM, MPAM_CMAX_SOFT));
    EXPECT_EQ(refusal(0, [](mpam_settings &) {}), is(MPAM_ACCEPTED, 0));
}

TEST(MpamSettings, M3_AComponentThatLacksAControlIsNotAskedForIt)
{
    for (std::uint32_t control = 1; control <= MPAM_WINDOW; control <<= 1) {
        mpam_features bare{};
        mpam_settings settings{};
        settings.asked = control;
        const mpam_verdict verdict = mpam_settings_check(&bare, &settings);
        EXPECT_EQ(verdict.refusal, MPAM_NO_CONTROL);
        EXPECT_EQ(verdict.control, control);
    }
    const mpam_features bare{};
    const mpam_settings nothing{};
    EXPECT_EQ(writes_of(bare, nothing, 0, 0).count, 1u) << "the selection alone";
}

TEST(MpamSettings, M3_OfAnyComponentAnAcceptedPartitionHasAllControlsAndNoOther)
{
    std::mt19937 random{3};
    const auto below = [&random](std::uint32_t limit) {
        return static_cast<std::uint32_t>(random() % limit);
    };
    int accepted = 0;
    for (int i = 0; i < 20000; ++i) {
        mpam_features of{};
        of.partid_max = of.intpartid_max = 63;
        of.narrowing = below(2) != 0;
        of.cache_portions = below(2) != 0 ? below(MPAM_MAX_PORTIONS + 1) : 0;
        of.capacity_bits = below(17);
        of.has_cmax = of.capacity_bits > 0 && below(2) != 0;
        of.has_cmin = of.capacity_bits > 0 && below(2) != 0;
        of.bandwidth_bits = below(17);
        of.has_min = of.bandwidth_bits > 0 && below(2) != 0;
        of.has_max = of.bandwidth_bits > 0 && below(2) != 0;
        of.bandwidth_portions = below(2) != 0 ? below(MPAM_MAX_PORTIONS + 1) : 0;
        of.internal = {below(17), below(2) != 0};
        of.downstream = {below(17), below(2) != 0};
        mpam_settings settings{};
        settings.asked = below(MPAM_MBW_MAX_HARD << 1) &
                         (MPAM_CACHE_PORTIONS * (of.cache_portions > 0) | MPAM_CMAX * of.has_cmax |
                          MPAM_CMIN * of.has_cmin | MPAM_MBW_MIN * of.has_min | MPAM_MBW_MAX * of.has_max);
        settings.cache = mpam_portions_run(below(32), 1 + below(8));
        for (mpam_share *share : {&settings.cmax, &settings.cmin, &settings.associativity, &settings.mbw_min,
                                  &settings.mbw_max}) {
            *share = {below(101), 100};
        }
        const std::uint32_t ris = below(16);
        const std::uint32_t partid = below(64);
        if (mpam_settings_check(&of, &settings).refusal != MPAM_ACCEPTED) {
            continue;
        }
        ++accepted;
        const mpam_writes writes = writes_of(of, settings, ris, partid);
        ASSERT_LE(writes.count, MPAM_MAX_WRITES);
        registers component{of};
        component.apply(writes);
        const auto has = [&](std::uint32_t offset) { return component.of(ris, partid, offset).has_value(); };
        for (std::uint32_t word = 0; word < MPAM_PORTION_WORDS; ++word) {
            ASSERT_EQ(has(MPAMCFG_CPBM(word)), word * 32 < of.cache_portions);
            ASSERT_EQ(has(MPAMCFG_MBW_PBM(word)), word * 32 < of.bandwidth_portions);
        }
        ASSERT_EQ(has(MPAMCFG_CMAX), of.has_cmax);
        ASSERT_EQ(has(MPAMCFG_CMIN), of.has_cmin);
        ASSERT_EQ(has(MPAMCFG_MBW_MIN), of.has_min);
        ASSERT_EQ(has(MPAMCFG_MBW_MAX), of.has_max);
        ASSERT_EQ(has(MPAMCFG_PRI), of.internal.bits > 0 || of.downstream.bits > 0);
    }
    EXPECT_GT(accepted, 5000) << "what is refused shows little";
}

TEST(MpamPortions, M7_TheLowestFreeRunIsFoundOrNone)
{
    std::mt19937 random{4};
    for (int i = 0; i < 3000; ++i) {
        const auto of = static_cast<std::uint32_t>(1 + random() % 100);
        const auto count = static_cast<std::uint32_t>(1 + random() % 12);
        mpam_portions taken{};
        for (auto &word : taken.word) {
            word = static_cast<std::uint32_t>(random() & random());
        }
        std::optional<std::uint32_t> expected;
        for (std::uint32_t first = 0; first + count <= of && !expected; ++first) {
            const mpam_portions run = mpam_portions_run(first, count);
            expected = mpam_portions_overlap(&run, &taken) ? std::nullopt : std::optional{first};
        }
        std::uint32_t first = 0;
        ASSERT_EQ(mpam_portions_find(&taken, of, count, &first), expected.has_value());
        if (expected) {
            ASSERT_EQ(first, *expected);
        }
    }
}

TEST(MpamPortions, M3_RunsAreCountedAndBounded)
{
    const mpam_portions run = mpam_portions_run(30, 5);
    EXPECT_EQ(run.word[0], 0xC0000000u);
    EXPECT_EQ(run.word[1], 7u);
    EXPECT_EQ(mpam_portions_count(&run), 5u);
    EXPECT_TRUE(mpam_portions_has(&run, 34));
    EXPECT_FALSE(mpam_portions_has(&run, 35));
    EXPECT_TRUE(mpam_portions_below(&run, 35));
    EXPECT_FALSE(mpam_portions_below(&run, 34));
}

} // namespace
} // namespace mpam_settings_test
