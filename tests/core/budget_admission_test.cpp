// SPDX-License-Identifier: Apache-2.0
// Changes of budgets and of the regulator against what the memory sustains (T4, B7, B10, F3): a change is
// admitted if and only if the test of a whole system accepts the result, and the number that a manager is
// told is the largest.
#include "sample_manifest.h"
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <random>

#include "core/budget_admission.h"

namespace budget_admission_test {
namespace {

constexpr uint32_t control = 0; // on core 0
constexpr uint32_t linux_ = 1;  // on cores 1 and 3
constexpr uint64_t ms = 1'000'000;
constexpr uint64_t any = (uint64_t{1} << 40) - 1;

constexpr uint32_t word_of(size_t offset)
{
    return static_cast<uint32_t>(offset / sizeof(uint64_t));
}

struct System {
    explicit System(const std::function<void(SampleManifest &)> &change = [](SampleManifest &) {})
    {
        give_bandwidth(*sample);
        change(*sample);
        sample->seal();
        EXPECT_EQ(sample->check().error, BH_MANIFEST_ERROR_NONE) << "at " << sample->check().offset;
        admission_begin(&sample->header, &state);
    }

    uint64_t most(uint32_t domain, uint64_t period_ns = ms) const
    {
        return admission_most_events(&sample->header, &state, domain, period_ns);
    }

    // The same, for the budgets with this one in force.
    bool holds_with(uint32_t domain, uint64_t events, uint64_t period_ns = ms) const
    {
        admission_state with = state;
        with.held[domain] = with.latest[domain] = {events, period_ns};
        return admission_holds(&sample->header, &with);
    }

    regulation_verdict verdict() const { return admission_of_regulation(&sample->header, &state); }

    std::unique_ptr<SampleManifest> sample = make_sample_manifest();
    admission_state state{};
};

// linux's cores are regulated together; control's core counts in the same intervals, and has a limit.
void regulate(SampleManifest &m)
{
    m.header.platform.utilization_pa = 0x0B400000;
    m.header.platform.utilization_cycles = 4;
    m.header.platform.utilization_bits = 32;
    m.domains[linux_].budget_chunk_events = 0;
    m.domains[linux_].budget_events = 1000;
    manifest_regulation &regulation = m.header.regulation;
    regulation.policy = BH_REGULATION_POLICY_DYNAMIC;
    regulation.threshold = 52429;
    regulation.members = 0b1011;
    regulation.regulated = 0b1010;
    regulation.interval_ns = ms;
    regulation.floor_events = 10;
    regulation.ceiling_events = 4000;
    regulation.budget_events[0] = regulation.budget_events[1] = regulation.budget_events[3] = 1000;
}

// The same; the regulator relies on control's limit.
void regulate_linux_alone(SampleManifest &m)
{
    regulate(m);
    m.header.regulation.members = 0b1010;
}

void with_limit_alone(SampleManifest &m)
{
    regulate(m);
    keep_limit_alone(m);
}

// The budget of `control` in each period.
void count_9000_lines(SampleManifest &m)
{
    keep_limit_alone(m);
    m.domains[control].budget_counts = BH_BUDGET_COUNTS_EACH;
    m.domains[control].budget_events = 9000;
}

constexpr uint32_t budget_word = word_of(offsetof(manifest_regulation, budget_events));
constexpr uint32_t ceiling_word = word_of(offsetof(manifest_regulation, ceiling_events));
constexpr uint32_t saturation_word = word_of(offsetof(manifest_regulation, saturation_events));
constexpr uint32_t interval_word = word_of(offsetof(manifest_regulation, interval_ns));

void expect(const regulation_verdict &verdict, uint32_t word, uint64_t most)
{
    EXPECT_EQ(verdict.word, word);
    EXPECT_EQ(verdict.most, most);
}

void expect_admitted(const System &system)
{
    EXPECT_EQ(system.verdict().word, uint32_t{BH_REGULATION_WORDS});
}

TEST(BudgetAdmission, B10_TheLimitLeavesWhatOthersDoNotHave)
{
    const System system(keep_limit_alone);
    EXPECT_EQ(system.most(control), 13000u) << "832 MB/s";
    EXPECT_EQ(system.most(linux_), 14000u) << "896 MB/s, its cores together";
    EXPECT_EQ(system.most(control, 2 * ms), 26000u);
    EXPECT_EQ(system.most(control, 1000), 13u);
}

TEST(BudgetAdmission, B10_ABudgetOfRefillsLetsLinesBeWrittenBackToo)
{
    const System system([](SampleManifest &m) {
        keep_limit_alone(m);
        m.domains[control].budget_counts = BH_BUDGET_COUNTS_REFILLS;
    });
    EXPECT_EQ(system.most(control), 6500u);
    EXPECT_EQ(system.most(linux_), 13000u);
}

TEST(BudgetAdmission, B10_BudgetsOfEachVcpuCountOftenAsThereAre)
{
    const System each([](SampleManifest &m) {
        keep_limit_alone(m);
        m.domains[linux_].budget_chunk_events = 0;
    });
    EXPECT_EQ(each.most(linux_), 7000u);
    EXPECT_EQ(each.most(control), 11000u);
    const System given([](SampleManifest &m) {
        keep_limit_alone(m);
        m.domains[linux_].flags |= BH_DOMAIN_FLAG_RECLAIM;
    });
    EXPECT_EQ(given.most(linux_), 7000u) << "what one gives away another one draws";
}

TEST(BudgetAdmission, B10_WritebacksBoundNothing)
{
    const System system([](SampleManifest &m) {
        keep_limit_alone(m);
        m.domains[control].budget_counts = BH_BUDGET_COUNTS_WRITEBACKS;
    });
    EXPECT_EQ(system.most(control), any);
    EXPECT_EQ(system.most(linux_), 15000u);
}

TEST(BudgetAdmission, B10_ReadsAndWritesOfTwoBudgetsAreAddedUp)
{
    const System system([](SampleManifest &m) {
        keep_limit_alone(m);
        m.domains[control].budget_counts = BH_BUDGET_COUNTS_EACH;
        m.domains[control].budget_second_events = 4000;
    });
    EXPECT_EQ(system.most(linux_), 10000u);
}

TEST(BudgetAdmission, B10_AccessesCountBesideRefillsAndWhatTheseWriteBack)
{
    const System system([](SampleManifest &m) {
        keep_limit_alone(m);
        const uint64_t events = m.domains[control].budget_events;
        m.header.platform.access_event = 0x19;
        m.domains[control].budget_counts = BH_BUDGET_COUNTS_ACCESSES;
        m.domains[control].budget_second_events = 2 * (9000 - 2 * events);
        m.header.bandwidth.access_bytes = m.header.bandwidth.event_bytes / 2;
    });
    EXPECT_EQ(system.most(linux_), System(count_9000_lines).most(linux_));
}

TEST(BudgetAdmission, B10_AccessesThatAreAllCountAlone)
{
    const System system([](SampleManifest &m) {
        keep_limit_alone(m);
        m.header.platform.access_event = 0x19;
        m.domains[control].budget_counts = BH_BUDGET_COUNTS_ACCESSES;
        m.domains[control].budget_second_events = 9000;
        m.header.bandwidth.accesses_are_all = 1;
    });
    EXPECT_EQ(system.most(linux_), System(count_9000_lines).most(linux_));
}

TEST(BudgetAdmission, T4_WhereNothingIsStatedEveryBudgetIsAdmitted)
{
    const System system([](SampleManifest &m) {
        m.header.bandwidth_curve.count = 0;
        m.header.bandwidth = {};
    });
    EXPECT_EQ(system.most(control), any);
    EXPECT_EQ(system.most(control, 1000), any);
}

TEST(BudgetAdmission, T4_WhatWaitsCountsBesideWhatItReplaces)
{
    System system(keep_limit_alone);
    system.state.latest[linux_] = {10000, ms};
    EXPECT_EQ(system.most(control), 5000u) << "a raise that waits";
    system.state.held[linux_] = {10000, ms};
    system.state.latest[linux_] = {2000, ms};
    EXPECT_EQ(system.most(control), 5000u) << "it is not lower yet";
    system.state.held[linux_] = system.state.latest[linux_];
    EXPECT_EQ(system.most(control), 13000u);
}

TEST(BudgetAdmission, F3_TheCurveLeavesWhatCoresAndBrokerDoNotTake)
{
    const System system;
    EXPECT_EQ(system.most(control), 9250u) << "three quarters of 960 MB/s, less 128";
    EXPECT_EQ(system.most(linux_), 10250u);
}

TEST(BudgetAdmission, F3_ADomainWithSeveralCoresCountsAsItsWorstCase)
{
    // Below 120 MB/s in each direction one core makes the memory busy for half of the time: two such cores
    // make it busy all the time.
    const System system([](SampleManifest &m) {
        m.header.bandwidth.broker_bytes_per_s = 1'000'000;
        m.header.bandwidth_curve.count = 2;
        m.curve[0] = {120'000'000, BH_MEMORY_UTILIZATION_ONE / 2};
        m.curve[1] = {480'000'000, BH_MEMORY_UTILIZATION_ONE};
        m.domains[control].budget_events = 50;
    });
    const uint64_t alone = system.most(control);
    const uint64_t both = system.most(linux_);
    EXPECT_LT(both, 7500u) << "480 MB/s";
    EXPECT_GT(both, 7400u);
    EXPECT_LT(alone, 9000u);
    EXPECT_GT(alone, 8900u) << "575 MB/s of one core, in the time that linux leaves with its 128";
}

TEST(BudgetAdmission, F3_TheTableHoldsWhereItSaysLess)
{
    const System system([](SampleManifest &m) {
        m.header.bandwidth_table.count = 3;
        m.measured[0] = {1, 100, 600'000'000};
        m.measured[1] = {2, 60, 500'000'000};
        m.measured[2] = {2, 90, 499'999'999}; // too little for the broker
    });
    // 60 refills of both in 30 us, or 100 together: 60 * 64 * 2 / 30 us = 256 MB/s each.
    EXPECT_EQ(system.most(control), 4666u) << "426 2/3 MB/s of both, less 128";
    EXPECT_EQ(system.most(linux_), 5666u);
    EXPECT_TRUE(system.holds_with(control, 4666));
    EXPECT_FALSE(system.holds_with(control, 4667));
}

TEST(BudgetAdmission, F3_WhatNoRegulationEnforcesIsNotAdmitted)
{
    System system([](SampleManifest &m) {
        m.domains[control].budget_period_ns = 30'000;
        m.domains[control].budget_events = 50;
    });
    EXPECT_EQ(system.most(control, 29'999), 0u) << "a period below the shortest";
    EXPECT_EQ(system.most(control, 30'000), 277u);
    // Beside 640 MB/s 80 are left: 37 events in 30 us.
    system.state.held[linux_] = system.state.latest[linux_] = {10000, ms};
    EXPECT_EQ(system.most(control, 30'000), 0u) << "no budget that works";
    EXPECT_EQ(system.most(control), 1250u);
}

TEST(BudgetAdmission, F3_ABudgetTooSmallToWorkCountsAsTheSmallestThatDoes)
{
    System system;
    system.state.held[control] = system.state.latest[control] = {1, 30'000};
    const uint64_t beside_one = system.most(linux_);
    system.state.held[control] = system.state.latest[control] = {50, 30'000};
    EXPECT_EQ(system.most(linux_), beside_one);
    system.state.held[control] = system.state.latest[control] = {0, 30'000};
    EXPECT_GT(system.most(linux_), beside_one) << "a domain that stands still asks for nothing";
}

TEST(BudgetAdmission, B10_BudgetsOfTheRegulatorsMembersCountAsTheyBegin)
{
    System system(with_limit_alone);
    expect_admitted(system);
    system.state.regulation.budget_events[0] = 13000;
    expect_admitted(system);
    system.state.regulation.budget_events[0]++;
    expect(system.verdict(), budget_word + 3, 999);
    system.state.regulation.budget_events[0] = 15001;
    expect(system.verdict(), budget_word + 0, 15000);
    system.state.regulation.budget_events[0] = BH_UNLIMITED_EVENTS;
    expect_admitted(system); // unlimited traffic is not tested against anything
    system.state.regulation.ceiling_events = 1 << 29;
    expect_admitted(system);
}

TEST(BudgetAdmission, B10_MembersLeaveOthersWhatTheyDoNotHave)
{
    System system([](SampleManifest &m) {
        regulate_linux_alone(m);
        keep_limit_alone(m);
    });
    EXPECT_EQ(system.most(control), 13000u);
    system.state.regulation.budget_events[1] = 3000;
    EXPECT_EQ(system.most(control), 11000u);
    system.state.held[control] = system.state.latest[control] = {12000, ms};
    expect(system.verdict(), budget_word + 3, 0);
}

TEST(BudgetAdmission, F3_RegulatedCoresCountAsTheMostThatTheyMayGet)
{
    System system(regulate);
    system.state.regulation.ceiling_events = 10250; // of 11,250, which is 720 MB/s
    expect_admitted(system);
    system.state.regulation.ceiling_events++;
    expect(system.verdict(), ceiling_word, 10250);
    system.state.regulation.saturation_events = 10250;
    expect_admitted(system);
    system.state.regulation.ceiling_events = 20000;
    system.state.regulation.saturation_events++;
    expect(system.verdict(), saturation_word, 10250);
    system.state.regulation.ceiling_events = 10250; // the smaller of the two
    expect_admitted(system);
    system.state.regulation.ceiling_events++;
    system.state.regulation.saturation_events = 20000;
    expect(system.verdict(), ceiling_word, 10250);
    system.state.regulation.saturation_events = 0;
    system.state.regulation.ceiling_events = 4000;
    system.state.regulation.budget_events[0] = 7250;
    expect_admitted(system);
    system.state.regulation.budget_events[0]++;
    expect(system.verdict(), ceiling_word, 3999);
    system.state.regulation.budget_events[0] = BH_UNLIMITED_EVENTS;
    expect(system.verdict(), budget_word + 0, 0);
}

TEST(BudgetAdmission, F3_RegulatedCoresThatCountRefillsWriteBackAsMuch)
{
    System system([](SampleManifest &m) {
        regulate(m);
        m.domains[linux_].budget_counts = BH_BUDGET_COUNTS_REFILLS;
    });
    system.state.regulation.ceiling_events = 5126;
    expect(system.verdict(), ceiling_word, 5125);
}

TEST(BudgetAdmission, F3_UnderAFixedPolicyEachMemberHasItsBudget)
{
    System system(regulate);
    system.state.regulation.policy = BH_REGULATION_POLICY_FIXED;
    system.state.regulation.ceiling_events = 1 << 29;
    system.state.regulation.budget_events[1] = 5000;
    system.state.regulation.budget_events[3] = 5250;
    expect_admitted(system);
    system.state.regulation.budget_events[3]++;
    expect(system.verdict(), budget_word + 3, 5250);
}

TEST(BudgetAdmission, F3_TheRegulatorsRoomIsNotOthers)
{
    System system(regulate_linux_alone);
    EXPECT_EQ(system.most(control), 7250u) << "720 MB/s less 256";
    system.state.regulation.ceiling_events = 5000;
    EXPECT_EQ(system.most(control), 6250u);
    system.state.held[control] = {8000, ms}; // the value before a change that lowers it
    expect(system.verdict(), ceiling_word, 3250);
}

TEST(BudgetAdmission, T4_ParametersCountInTheShortestIntervalThatTheyAreIn)
{
    System system(regulate);
    system.state.regulation.interval_ns = 2 * ms;
    system.state.regulation.ceiling_events = 10250;
    expect_admitted(system);
    system.state.shortest_interval_ns = ms / 2;
    expect(system.verdict(), ceiling_word, 5625 - 1000);
    system.state.shortest_interval_ns = 29'999;
    expect(system.verdict(), interval_word, 30'000);
}

TEST(BudgetAdmission, B7_LimitsAndWhatIsRegulatedStayWithinSaturation)
{
    System system([](SampleManifest &m) {
        regulate_linux_alone(m);
        keep_limit_alone(m);
        m.header.regulation.saturation_events = 6000;
    });
    expect_admitted(system);
    EXPECT_EQ(system.most(control), 2000u) << "4000 of 6000 are the regulator's";
    EXPECT_EQ(system.most(control, 2 * ms), 4000u);
    EXPECT_EQ(system.most(control, ms / 3), 666u);
    system.state.held[control] = system.state.latest[control] = {1500, ms};
    expect_admitted(system);
    system.state.regulation.ceiling_events = 5000;
    expect(system.verdict(), ceiling_word, 4500);
    system.state.regulation.policy = BH_REGULATION_POLICY_FIXED;
    expect_admitted(system);
    EXPECT_EQ(system.most(control), 13000u) << "a regulator that does nothing needs no room";
}

TEST(BudgetAdmission, B7_LimitsCountForEachCoreAsTheRegulatorRoundsThem)
{
    const auto regulate_control = [](SampleManifest &m) {
        regulate(m);
        keep_limit_alone(m);
        m.domains[control].flags &= ~uint32_t{BH_DOMAIN_FLAG_REALTIME};
        manifest_regulation &regulation = m.header.regulation;
        regulation.members = regulation.regulated = 0b0001;
        regulation.saturation_events = 7000;
    };
    System each(regulate_control);
    EXPECT_EQ(each.most(linux_), 1500u) << "3000 of 7000, on two cores";
    EXPECT_EQ(each.most(linux_, 3 * ms), 4500u);
    each.state.held[linux_] = {1250, ms};
    each.state.regulation.ceiling_events = 4500;
    expect_admitted(each);
    each.state.regulation.ceiling_events++;
    expect(each.verdict(), ceiling_word, 4500);
    const System together([&](SampleManifest &m) {
        regulate_control(m);
        m.domains[linux_].budget_chunk_events = 60;
        m.header.regulation.saturation_events = 7001;
    });
    EXPECT_EQ(together.most(linux_), 3000u) << "1500 on each core, whatever is left over";
}

TEST(BudgetAdmission, B7_LimitsOfMembersAndOfOthersAreAddedUp)
{
    const System system([](SampleManifest &m) {
        regulate(m);
        keep_limit_alone(m);
        m.header.flows.count = 0; // the broker's domain is tested like any other
        m.header.broker = {};
        for (manifest_domain &domain : m.domains) {
            domain.socket_ipa = domain.socket_cid = domain.socket_irq = 0;
        }
        m.domains[2].flags |= BH_DOMAIN_FLAG_BUDGET;
        m.domains[2].budget_events = 1000;
        m.domains[2].budget_period_ns = ms;
        m.domains[2].budget_counts = BH_BUDGET_COUNTS_SUM;
        m.header.regulation.saturation_events = 7000;
        m.header.regulation.budget_events[2] = 1000;
    });
    EXPECT_EQ(system.most(2), 2000u) << "4000 are the regulator's, 1000 control's";
}

TEST(BudgetAdmission, F3_TheBrokerIsCountedByItsRateAlone)
{
    const System system([](SampleManifest &m) {
        regulate(m);
        m.header.regulation.members |= 0b0100; // its core counts in intervals, too
        m.header.regulation.budget_events[2] = BH_UNLIMITED_EVENTS;
        m.domains[2].flags |= BH_DOMAIN_FLAG_BUDGET;
        m.domains[2].budget_events = BH_UNLIMITED_EVENTS;
        m.domains[2].budget_period_ns = ms;
        m.domains[2].budget_counts = BH_BUDGET_COUNTS_SUM;
    });
    expect_admitted(system);
}

TEST(BudgetAdmission, B7_ALimitAboveWhatTheRegulatorTakesForGrantedIsRefused)
{
    auto sample = make_sample_manifest();
    give_bandwidth(*sample);
    regulate_linux_alone(*sample);
    sample->header.regulation.saturation_events = 3000;
    sample->header.regulation.budget_events[0] = 500;
    sample->seal();
    EXPECT_EQ(sample->check().error, BH_MANIFEST_ERROR_BANDWIDTH);
}

TEST(BudgetAdmission, PropertyWhatIsAdmittedHoldsAndOneMoreDoesNotAndLessAlwaysDoes)
{
    std::mt19937_64 random(7);
    unsigned raised = 0;
    for (int round = 0; round < 300; round++) {
        System system([&](SampleManifest &m) {
            m.header.bandwidth_curve.count = 1 + static_cast<uint32_t>(random() % 3);
            for (uint32_t i = 0; i < 3; i++) {
                m.curve[i] = {160'000'000 * (i + 1), (i + 1 + random() % 2) * BH_MEMORY_UTILIZATION_ONE / 4};
            }
            m.header.bandwidth.broker_bytes_per_s = 1 + random() % 400'000'000;
            m.header.bandwidth_table.count = static_cast<uint32_t>(random() % 4);
            for (manifest_bandwidth_row &row : m.measured) {
                row = {static_cast<uint32_t>(random() % 3), 100 + static_cast<uint32_t>(random() % 100),
                       m.header.bandwidth.broker_bytes_per_s};
            }
            for (uint32_t i = 0; i < 2; i++) {
                m.domains[i].budget_events = 50 + random() % 500;
                m.domains[i].budget_counts =
                    random() % 2 != 0 ? BH_BUDGET_COUNTS_SUM : BH_BUDGET_COUNTS_REFILLS;
                m.domains[i].budget_chunk_events = random() % 2;
            }
            m.domains[control].budget_chunk_events = 0;
        });
        for (int step = 0; step < 20; step++) {
            const auto domain = static_cast<uint32_t>(random() % 2);
            const uint64_t period_ns = 30'000 + random() % 2'000'000;
            const uint64_t most = system.most(domain, period_ns);
            if (most != 0) {
                ASSERT_TRUE(system.holds_with(domain, most, period_ns));
                ASSERT_TRUE(system.holds_with(domain, random() % most, period_ns));
                ASSERT_FALSE(system.holds_with(domain, most + 1, period_ns));
            }
            budget_parameters &own = system.state.held[domain];
            ASSERT_GE(system.most(domain, own.period_ns), own.events) << "it holds already";
            raised += most * own.period_ns > own.events * period_ns;
            own = {most, period_ns};
            system.state.latest[domain] = own;
        }
    }
    EXPECT_GT(raised, 1000u);
}

TEST(BudgetAdmission, PropertyParametersAreAdmittedIfTheWholeHoldsAndTheNumberThatIsToldFits)
{
    std::mt19937_64 random(11);
    unsigned refused = 0;
    for (int round = 0; round < 3000; round++) {
        System system(random() % 2 != 0 ? regulate : regulate_linux_alone);
        manifest_regulation &asked = system.state.regulation;
        asked.policy = random() % 4 != 0 ? BH_REGULATION_POLICY_DYNAMIC : BH_REGULATION_POLICY_FIXED;
        asked.ceiling_events = 2000 + random() % 10000;
        asked.saturation_events = random() % 2 != 0 ? 5000 + random() % 10000 : 0;
        system.state.shortest_interval_ns = ms / (1 + random() % 2);
        for (uint32_t core : {0u, 1u, 3u}) {
            asked.budget_events[core] = 50 + random() % 4000;
        }
        if (manifest_regulation_bad_word(&system.sample->header, &asked) != BH_REGULATION_WORDS) {
            continue;
        }
        const regulation_verdict verdict = system.verdict();
        ASSERT_EQ(admission_holds(&system.sample->header, &system.state),
                  verdict.word == BH_REGULATION_WORDS);
        if (verdict.word == BH_REGULATION_WORDS) {
            continue;
        }
        refused++;
        uint64_t words[BH_REGULATION_WORDS];
        std::memcpy(words, &asked, sizeof asked);
        ASSERT_GT(words[verdict.word], verdict.most);
        words[verdict.word] = verdict.most;
        std::memcpy(&asked, words, sizeof asked);
        const uint32_t then = system.verdict().word;
        ASSERT_TRUE(then > verdict.word || then < budget_word) << verdict.word << " still is too much";
    }
    EXPECT_GT(refused, 300u);
}

} // namespace
} // namespace budget_admission_test
