// SPDX-License-Identifier: Apache-2.0
// The PMU's registers as the architecture describes them, and a property: counting lazily gives the same as
// counting every event one by one.
#include "machine/devices/pmu.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>

namespace bulkhead::machine::devices::pmu_test {
namespace {

using reg = pmu_register;

constexpr std::uint64_t enable = 1;
constexpr std::uint64_t hpme = 1U << 7U;
constexpr std::uint64_t hpmd = 1U << 17U;
constexpr std::uint64_t nsh = 1U << 27U;
constexpr std::uint64_t no_el1 = 1U << 31U;
constexpr std::uint64_t cycle_bit = 1U << 31U;

// A core whose totals the test sets; it tells the PMU when a watched total is reached, as a core does.
class pmu_on_a_core : public testing::Test {
protected:
    static constexpr std::uint32_t counters = 6;

    pmu monitors{counters,
                 {.implemented0 = 1U << pmu_event::l2d_cache_refill | 1U << pmu_event::cpu_cycles |
                                  1U << pmu_event::inst_retired,
                  .implemented1 = 0,
                  .own_event = pmu_event::ext_mem_req_nc,
                  .total = [this](std::uint16_t event) { return totals[event]; },
                  .watch = [this](std::uint16_t event, std::uint64_t target) { targets[event] = target; },
                  .line = [this](bool high) { line = high; }}};
    std::map<std::uint16_t, std::uint64_t> totals;
    std::map<std::uint16_t, std::uint64_t> targets;
    bool line = false;

    void happen(std::uint16_t event, std::uint64_t times)
    {
        while (targets.contains(event) && targets[event] - totals[event] <= times) {
            times -= targets[event] - totals[event];
            totals[event] = targets[event];
            monitors.reached();
        }
        totals[event] += times;
    }
    // As the hypervisor configures one: an event, counted at the levels of `filter`.
    void count(std::uint32_t index, std::uint16_t event, std::uint64_t filter = 0)
    {
        monitors.write(reg::pmevtyper, filter | event, index);
        monitors.write(reg::pmcntenset, 1U << index);
    }
};

TEST_F(pmu_on_a_core, CountsWhatHappensWhileEnabledAndNothingElse)
{
    totals[pmu_event::l2d_cache_refill] = 1000;
    monitors.set_exception_level(1);
    count(0, pmu_event::l2d_cache_refill);
    happen(pmu_event::l2d_cache_refill, 5); // PMCR.E is not set
    monitors.write(reg::pmcr, enable);
    happen(pmu_event::l2d_cache_refill, 7);
    monitors.write(reg::pmcntenclr, 1);
    happen(pmu_event::l2d_cache_refill, 11);
    EXPECT_EQ(monitors.read(reg::pmevcntr, 0), 7U);
}

TEST_F(pmu_on_a_core, CountsAnEventOfTheCoresOwnAndInterruptsForIt)
{
    monitors.write(reg::pmcr, enable);
    count(0, pmu_event::ext_mem_req_nc, nsh);
    count(1, 0xC2, nsh); // an event that the core does not have
    monitors.write(reg::pmevcntr, 0xFFFFFFFF - 9, 0);
    monitors.write(reg::pmintenset, 3);
    totals[0xC2] = 100;
    happen(pmu_event::ext_mem_req_nc, 9);
    EXPECT_FALSE(line);
    happen(pmu_event::ext_mem_req_nc, 1);
    EXPECT_TRUE(line);
    EXPECT_EQ(monitors.read(reg::pmovsset), 1U);
    EXPECT_EQ(monitors.read(reg::pmevcntr, 0), 0U);
    EXPECT_EQ(monitors.read(reg::pmevcntr, 1), 0U);
}

TEST_F(pmu_on_a_core, FiltersByExceptionLevel)
{
    monitors.write(reg::pmcr, enable);
    count(0, pmu_event::inst_retired);               // EL1 and EL0
    count(1, pmu_event::inst_retired, nsh);          // EL2 too
    count(2, pmu_event::inst_retired, nsh | no_el1); // EL2 and EL0
    happen(pmu_event::inst_retired, 100);
    monitors.set_exception_level(1);
    happen(pmu_event::inst_retired, 10);
    monitors.set_exception_level(0);
    happen(pmu_event::inst_retired, 1);
    monitors.set_exception_level(2);
    EXPECT_EQ(monitors.read(reg::pmevcntr, 0), 11U);
    EXPECT_EQ(monitors.read(reg::pmevcntr, 1), 111U);
    EXPECT_EQ(monitors.read(reg::pmevcntr, 2), 101U);
}

TEST_F(pmu_on_a_core, AskedToWatchItInterruptsAtTheOverflowAndNotBefore)
{
    monitors.write(reg::pmcr, enable);
    monitors.write(reg::pmintenset, 1);
    monitors.write(reg::pmevcntr, 0xFFFFFFFF - 224, 0); // a budget of 225
    count(0, pmu_event::l2d_cache_refill, nsh);
    happen(pmu_event::l2d_cache_refill, 224);
    EXPECT_FALSE(line);
    happen(pmu_event::l2d_cache_refill, 1);
    EXPECT_TRUE(line);
    EXPECT_EQ(monitors.read(reg::pmovsset), 1U);
    EXPECT_EQ(monitors.read(reg::pmevcntr, 0), 0U);
    monitors.write(reg::pmovsclr, 1);
    EXPECT_FALSE(line);
}

TEST_F(pmu_on_a_core, AnOverflowNobodyAskedForIsFoundWhenLookedAt)
{
    monitors.write(reg::pmcr, enable);
    monitors.write(reg::pmevcntr, 0xFFFFFFFF, 0);
    count(0, pmu_event::l2d_cache_refill, nsh);
    EXPECT_FALSE(targets.contains(pmu_event::l2d_cache_refill));
    happen(pmu_event::l2d_cache_refill, 3);
    EXPECT_EQ(monitors.read(reg::pmovsset), 1U);
    EXPECT_FALSE(line);
    monitors.write(reg::pmintenset, 1);
    EXPECT_TRUE(line);
}

TEST_F(pmu_on_a_core, GuestSeesItsOwnCountersAndCannotTouchTheHypervisors)
{
    monitors.write(reg::mdcr_el2, 4); // HPMN: counters 4 and 5 are the hypervisor's
    monitors.write(reg::pmevcntr, 77, 4);
    monitors.write(reg::pmcntenset, 1U << 4U | 1U);
    monitors.set_exception_level(1);
    EXPECT_EQ(monitors.read(reg::pmcr) >> 11U & 0x1F, 4U);
    EXPECT_EQ(monitors.read(reg::pmcntenset), 1U);
    monitors.write(reg::pmcntenclr, ~std::uint64_t{0});
    monitors.write(reg::pmcr, 2); // resets event counters
    monitors.write(reg::pmevcntr, 1, 4);
    monitors.write(reg::pmselr, 4);
    monitors.write(reg::pmxevcntr, 1);
    EXPECT_EQ(monitors.read(reg::pmevcntr, 4), 0U);
    monitors.set_exception_level(2);
    EXPECT_EQ(monitors.read(reg::pmevcntr, 4), 77U);
    EXPECT_EQ(monitors.read(reg::pmcntenset), 1U << 4U);
    EXPECT_EQ(monitors.read(reg::pmcr) >> 11U & 0x1F, counters);
}

TEST_F(pmu_on_a_core, HypervisorsCounterRunsAndInterruptsByHpmeWhateverTheGuestsPmcrSays)
{
    monitors.write(reg::mdcr_el2, 5 | hpme);
    monitors.write(reg::pmintenset, 1U << 5U);
    monitors.write(reg::pmevcntr, 0xFFFFFFFF, 5);
    count(5, pmu_event::l2d_cache_refill);
    monitors.set_exception_level(1);
    happen(pmu_event::l2d_cache_refill, 1);
    EXPECT_TRUE(line);
    monitors.set_exception_level(2);
    monitors.write(reg::mdcr_el2, 5);
    EXPECT_FALSE(line);
}

TEST_F(pmu_on_a_core, HpmdStopsGuestsCountersInTheHypervisor)
{
    monitors.write(reg::pmcr, enable);
    monitors.write(reg::mdcr_el2, 5 | hpme | hpmd);
    count(0, pmu_event::inst_retired, nsh);
    count(5, pmu_event::inst_retired, nsh);
    happen(pmu_event::inst_retired, 3);
    EXPECT_EQ(monitors.read(reg::pmevcntr, 0), 0U);
    EXPECT_EQ(monitors.read(reg::pmevcntr, 5), 3U);
}

TEST_F(pmu_on_a_core, AChainedPairCountsTo64Bits)
{
    monitors.write(reg::pmcr, enable);
    monitors.write(reg::pmintenset, 2);
    monitors.write(reg::pmevcntr, 0xFFFFFFFF, 1);
    count(0, pmu_event::inst_retired, nsh);
    count(1, pmu_event::chain, nsh);
    happen(pmu_event::inst_retired, 0xFFFFFFFF);
    EXPECT_FALSE(line);
    happen(pmu_event::inst_retired, 1);
    EXPECT_TRUE(line); // the upper half overflowed
    EXPECT_EQ(monitors.read(reg::pmevcntr, 1), 0U);
    EXPECT_EQ(monitors.read(reg::pmovsset), 3U);
}

TEST_F(pmu_on_a_core, CycleCounterDividesOverflowsAt32BitsOrIsLong)
{
    monitors.write(reg::pmccfiltr, nsh);
    monitors.write(reg::pmcntenset, cycle_bit);
    monitors.write(reg::pmcr, enable | 1U << 3U); // D
    happen(pmu_event::cpu_cycles, 6400);
    EXPECT_EQ(monitors.read(reg::pmccntr), 100U);
    monitors.write(reg::pmcr, enable);
    monitors.write(reg::pmccntr, 0xFFFFFFFF);
    happen(pmu_event::cpu_cycles, 1);
    EXPECT_EQ(monitors.read(reg::pmovsset), cycle_bit);
    EXPECT_EQ(monitors.read(reg::pmccntr), std::uint64_t{1} << 32U);
    monitors.write(reg::pmovsclr, cycle_bit);
    monitors.write(reg::pmcr, enable | 1U << 6U); // LC
    monitors.write(reg::pmccntr, 0xFFFFFFFF);
    happen(pmu_event::cpu_cycles, 1);
    EXPECT_EQ(monitors.read(reg::pmovsset), 0U);
}

TEST_F(pmu_on_a_core, SoftwareIncrementsOnlyCountersOfThatEvent)
{
    monitors.write(reg::pmcr, enable);
    count(0, pmu_event::sw_incr, nsh);
    count(1, pmu_event::inst_retired, nsh);
    monitors.write(reg::pmswinc, 3);
    EXPECT_EQ(monitors.read(reg::pmevcntr, 0), 1U);
    EXPECT_EQ(monitors.read(reg::pmevcntr, 1), 0U);
}

TEST_F(pmu_on_a_core, AnEventItDoesNotHaveCountsNothing)
{
    monitors.write(reg::pmcr, enable);
    count(0, pmu_event::bus_access, nsh);
    happen(pmu_event::bus_access, 9);
    EXPECT_EQ(monitors.read(reg::pmevcntr, 0), 0U);
}

// Counts every event one by one, without totals.
struct eager {
    std::uint32_t value = 0;
    bool overflowed = false;
    void step() { overflowed |= ++value == 0; }
};

TEST_F(pmu_on_a_core, PropertyLazyCountingGivesWhatEagerCountingGives)
{
    for (std::uint32_t seed = 0; seed < 40; ++seed) {
        std::mt19937 random{seed};
        const auto below = [&random](std::uint32_t end) {
            return static_cast<std::uint32_t>(random() % end);
        };
        std::array<eager, 2> expected;
        std::array<bool, 2> enabled{};
        std::array<bool, 2> in_el2{};
        bool interrupts = false;
        bool on = false;
        std::uint32_t level = 2;
        monitors.set_exception_level(2);
        monitors.write(reg::pmcr, 2);
        monitors.write(reg::pmcntenclr, ~0U);
        monitors.write(reg::pmintenclr, ~0U);
        monitors.write(reg::pmovsclr, ~0U);
        for (std::uint32_t index = 0; index < 2; ++index) {
            in_el2[index] = below(2) != 0;
            monitors.write(reg::pmevtyper, pmu_event::l2d_cache_refill | (in_el2[index] ? nsh : 0), index);
        }
        for (std::uint32_t step = 0; step < 400; ++step) {
            const std::uint32_t index = below(2);
            switch (below(7)) {
            case 0:
                enabled[index] = true;
                monitors.write(reg::pmcntenset, 1U << index);
                break;
            case 1:
                enabled[index] = false;
                monitors.write(reg::pmcntenclr, 1U << index);
                break;
            case 2:
                on = !on;
                monitors.write(reg::pmcr, on ? enable : 0);
                break;
            case 3:
                level = 1 + below(2);
                monitors.set_exception_level(level);
                break;
            case 4:
                expected[index].value = 0xFFFFFFFFU - below(20);
                monitors.write(reg::pmevcntr, expected[index].value, index);
                break;
            case 5:
                interrupts = !interrupts;
                monitors.write(interrupts ? reg::pmintenset : reg::pmintenclr, 3);
                break;
            default:
                for (std::uint32_t times = below(12); times > 0; --times) {
                    happen(pmu_event::l2d_cache_refill, 1);
                    for (std::uint32_t i = 0; i < 2; ++i) {
                        if (on && enabled[i] && (level == 1 || in_el2[i])) {
                            expected[i].step();
                        }
                    }
                }
            }
            const bool any = expected[0].overflowed || expected[1].overflowed;
            ASSERT_EQ(line, on && interrupts && any) << "seed " << seed << ", step " << step;
            if (below(10) == 0) {
                for (std::uint32_t i = 0; i < 2; ++i) {
                    ASSERT_EQ(monitors.read(reg::pmevcntr, i), expected[i].value) << seed << ' ' << step;
                    ASSERT_EQ(monitors.read(reg::pmovsset) >> i & 1U, expected[i].overflowed ? 1U : 0U);
                }
                monitors.write(reg::pmovsclr, 3);
                expected[0].overflowed = expected[1].overflowed = false;
            }
        }
    }
}

} // namespace
} // namespace bulkhead::machine::devices::pmu_test
