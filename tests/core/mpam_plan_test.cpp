// SPDX-License-Identifier: Apache-2.0
// Requirement M7: a cache is divided so that every owner has at least the requested share, no owner has
// portions of another unless both allow it, and the portions of an owner are contiguous whenever a run is
// free.
#include "core/mpam_plan.h"
#include <array>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace mpam_plan_test {
namespace {

mpam_request rest(bool realtime = false)
{
    mpam_request request{};
    request.amount = MPAM_AMOUNT_REST;
    request.realtime = realtime;
    return request;
}

mpam_request hypervisor()
{
    mpam_request request = rest();
    request.hypervisor = true;
    return request;
}

mpam_request share(std::uint32_t part, std::uint32_t of)
{
    mpam_request request{};
    request.amount = MPAM_AMOUNT_SHARE;
    request.share = {part, of};
    return request;
}

mpam_request exact(std::uint32_t low_word, bool shared = false)
{
    mpam_request request{};
    request.amount = MPAM_AMOUNT_EXACT;
    request.portions.word[0] = low_word;
    request.shared = shared;
    return request;
}

struct outcome {
    mpam_division division;
    std::vector<mpam_grant> grants;

    std::uint32_t word(std::size_t owner) const { return grants[owner].portions.word[0]; }
};

outcome by_portions(std::uint32_t of, const std::vector<mpam_request> &requests)
{
    outcome found{{}, std::vector<mpam_grant>(requests.size())};
    found.division = mpam_divide_portions(of, requests.data(), static_cast<std::uint32_t>(requests.size()),
                                          found.grants.data());
    return found;
}

outcome by_capacity(std::uint32_t width, const std::vector<mpam_request> &requests)
{
    outcome found{{}, std::vector<mpam_grant>(requests.size())};
    found.division = mpam_divide_capacity(width, requests.data(), static_cast<std::uint32_t>(requests.size()),
                                          found.grants.data());
    return found;
}

// Number of contiguous runs of set bits.
std::uint32_t pieces(const mpam_portions &portions)
{
    std::uint32_t found = 0;
    bool before = false;
    for (std::uint32_t portion = 0; portion < MPAM_MAX_PORTIONS; ++portion) {
        const bool here = mpam_portions_has(&portions, portion);
        found += here && !before ? 1 : 0;
        before = here;
    }
    return found;
}

TEST(MpamPlan, M7_SharesBecomePortionsFromBelowAndTheHypervisorsAreAtTheTop)
{
    const outcome found = by_portions(32, {hypervisor(), share(1, 4), share(30, 100), rest(), rest(true)});
    ASSERT_EQ(found.division.refusal, MPAM_DIVIDED);
    EXPECT_EQ(found.word(0), 0xC0000000u) << "a sixteenth";
    EXPECT_EQ(found.word(1), 0x000000FFu);
    EXPECT_EQ(found.word(2), 0x0003FF00u) << "9.6 of 32, rounded up";
    EXPECT_EQ(found.word(3), 0x00FC0000u);
    EXPECT_EQ(found.word(4), 0x3F000000u);
}

TEST(MpamPlan, M7_OfAnOddRestRealTimeOwnersHaveMore)
{
    const outcome found = by_portions(16, {hypervisor(), rest(), rest(true), rest()});
    ASSERT_EQ(found.division.refusal, MPAM_DIVIDED);
    EXPECT_EQ(found.grants[0].steps, 1u);
    EXPECT_EQ(found.grants[1].steps, 5u);
    EXPECT_EQ(found.grants[2].steps, 5u);
    EXPECT_EQ(by_portions(18, {hypervisor(), rest(), rest(true), rest()}).grants[2].steps, 6u);
}

TEST(MpamPlan, M7_NamedPortionsStayAndOthersGoAroundThem)
{
    const outcome found = by_portions(16, {hypervisor(), exact(0xF0F0), rest(), share(1, 8)});
    ASSERT_EQ(found.division.refusal, MPAM_DIVIDED);
    EXPECT_EQ(found.word(0), 0x0800u) << "the highest free one";
    EXPECT_EQ(found.word(1), 0xF0F0u);
    EXPECT_EQ(found.word(2) & found.word(3), 0u);
    EXPECT_EQ(found.word(2) | found.word(3), 0x070Fu) << "all that is left is dealt out";
}

TEST(MpamPlan, M7_WhereNoRunIsLongEnoughSinglePortionsAreTakenFromTheSameSide)
{
    mpam_request own = share(1, 4);
    own.hypervisor = true;
    const outcome found = by_portions(8, {own, exact(0x55), share(1, 4)});
    ASSERT_EQ(found.division.refusal, MPAM_DIVIDED);
    EXPECT_EQ(found.word(0), 0xA0u);
    EXPECT_EQ(found.word(2), 0x0Au);
}

TEST(MpamPlan, M7_NamedPortionsAreSharedOnlyWhereBothSaySo)
{
    EXPECT_EQ(by_portions(16, {exact(0xFF, true), exact(0xF0, true), rest()}).division.refusal, MPAM_DIVIDED);
    for (const bool first : {false, true}) {
        const mpam_division refused =
            by_portions(16, {rest(), exact(0xFF, first), exact(0xF0, !first)}).division;
        EXPECT_EQ(refused.refusal, MPAM_DIVISION_OVERLAP);
        EXPECT_EQ(refused.request, 2u);
        EXPECT_EQ(refused.other, 1u);
    }
}

TEST(MpamPlan, M7_MasksOfNothingOrOfWhatThereIsNotAreRefused)
{
    const mpam_division empty = by_portions(16, {rest(), exact(0)}).division;
    EXPECT_EQ(empty.refusal, MPAM_DIVISION_EMPTY);
    EXPECT_EQ(empty.request, 1u);
    EXPECT_EQ(by_portions(16, {exact(0x10000)}).division.refusal, MPAM_DIVISION_RANGE);
    EXPECT_EQ(by_portions(17, {exact(0x10000)}).division.refusal, MPAM_DIVIDED);
}

TEST(MpamPlan, M7_WhatDoesNotFitSaysHowMuchIsAskedForAndLeft)
{
    const outcome found = by_portions(16, {hypervisor(), exact(0xF), share(3, 4), rest()});
    EXPECT_EQ(found.division.refusal, MPAM_DIVISION_EXHAUSTED);
    EXPECT_EQ(found.division.needed, 14u);
    EXPECT_EQ(found.division.left, 12u);
    EXPECT_EQ(found.grants[2].steps, 12u);
}

TEST(MpamPlan, M7_LimitsTogetherAreAtMostTheWhole)
{
    const outcome found = by_capacity(8, {hypervisor(), share(1, 3), rest(), rest(true)});
    ASSERT_EQ(found.division.refusal, MPAM_DIVIDED);
    EXPECT_EQ(found.grants[0].steps, 16u);
    EXPECT_EQ(found.grants[1].steps, 85u) << "85.3, and a limit is never exceeded";
    EXPECT_EQ(found.grants[2].steps, 77u);
    EXPECT_EQ(found.grants[3].steps, 78u);
    const mpam_division small = by_capacity(4, {rest(), share(1, 17)}).division;
    EXPECT_EQ(small.refusal, MPAM_DIVISION_TOO_SMALL);
    EXPECT_EQ(small.request, 1u);
    EXPECT_EQ(by_capacity(8, {share(1, 2), share(1, 2), rest()}).division.refusal, MPAM_DIVISION_EXHAUSTED);
}

TEST(MpamPlan, M7_GuaranteesAreCountedAsTheyAreRounded)
{
    const std::vector<mpam_share> thirds(3, {1, 3});
    EXPECT_EQ(mpam_guarantees_sum(8, thirds.data(), 3), 258u) << "more than all: 86 steps each";
    const std::vector<mpam_share> quarters(4, {25, 100});
    EXPECT_EQ(mpam_guarantees_sum(8, quarters.data(), 4), 256u);
    EXPECT_EQ(mpam_guarantees_sum(16, quarters.data(), 0), 0u);
}

TEST(MpamPlan, M7_AnyDivisionGivesEverybodyEnoughAndNobodyAnothersPortions)
{
    std::mt19937 random{7};
    const auto below = [&random](std::uint32_t limit) {
        return static_cast<std::uint32_t>(random() % limit);
    };
    int accepted = 0, named = 0;
    for (int i = 0; i < 20000; ++i) {
        const std::uint32_t of = 1 + below(i % 8 == 0 ? MPAM_MAX_PORTIONS : 40);
        std::vector<mpam_request> requests;
        for (std::uint32_t n = 1 + below(7); n > 0; --n) {
            mpam_request request{};
            request.amount = std::array{MPAM_AMOUNT_REST, MPAM_AMOUNT_SHARE, MPAM_AMOUNT_EXACT}[below(3)];
            request.share = {1 + below(30), 100};
            request.portions = mpam_portions_run(below(of), 1);
            request.portions.word[0] |= i % 4 == 0 && of >= 32 ? below(1 << 16) : 0;
            request.shared = below(4) == 0;
            request.realtime = below(2) == 0;
            request.hypervisor = requests.empty();
            requests.push_back(request);
        }
        const outcome found = by_portions(of, requests);
        if (found.division.refusal != MPAM_DIVIDED) {
            continue;
        }
        ++accepted;
        bool any_named = false;
        std::uint32_t sum = 0, takers = 0;
        for (std::size_t a = 0; a < requests.size(); ++a) {
            const mpam_grant &grant = found.grants[a];
            const mpam_request &asked = requests[a];
            ASSERT_EQ(mpam_portions_count(&grant.portions), grant.steps);
            ASSERT_GT(grant.steps, 0u);
            ASSERT_TRUE(mpam_portions_below(&grant.portions, of));
            sum += grant.steps;
            takers += asked.amount == MPAM_AMOUNT_REST && !asked.hypervisor ? 1 : 0;
            any_named = any_named || asked.amount == MPAM_AMOUNT_EXACT;
            if (asked.amount == MPAM_AMOUNT_SHARE) {
                ASSERT_GE(std::uint64_t{grant.steps} * 100, std::uint64_t{asked.share.part} * of);
                ASSERT_LT((std::uint64_t{grant.steps} - 1) * 100, std::uint64_t{asked.share.part} * of);
            }
            for (std::size_t b = 0; b < a; ++b) {
                const bool both = asked.shared && requests[b].shared && asked.amount == MPAM_AMOUNT_EXACT &&
                                  requests[b].amount == MPAM_AMOUNT_EXACT;
                ASSERT_TRUE(both || !mpam_portions_overlap(&grant.portions, &found.grants[b].portions));
            }
        }
        if (!any_named) {
            for (const mpam_grant &grant : found.grants) {
                ASSERT_EQ(pieces(grant.portions), 1u);
            }
            ASSERT_TRUE(takers == 0 || sum == of) << "nothing is left while somebody would take it";
        }
        named += any_named ? 1 : 0;
    }
    EXPECT_GT(accepted, 3000);
    EXPECT_GT(named, 1000);
}

} // namespace
} // namespace mpam_plan_test
