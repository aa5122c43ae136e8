// SPDX-License-Identifier: Apache-2.0
// Every state that VCPUs on a core can reach (B2): from the start, every operation in every reachable state,
// until no new state appears, compared with a model that is written from the requirement's table. Times are
// relative to deadlines, so the number of states is finite.
#include "sched_model.h"
#include <deque>
#include <gtest/gtest.h>
#include <set>

namespace vcpu_sched_exhaustive_test {
namespace {

constexpr uint64_t TICK = 5; // of time; periods are multiples

struct place {
    sched_bench::snapshot bench;
    model expected;
    uint64_t now;
};

// Executes one operation on both; `operation` counts through all of them. False if there are no more.
bool apply(unsigned operation, unsigned vcpus, sched_bench &bench, model &expected, uint64_t &now)
{
    if (operation < 3 * vcpus) {
        const unsigned i = operation / 3;
        if (operation % 3 == 0) {
            bench.start(i, now);
            expected.start(i, now);
        } else if (operation % 3 == 1) {
            bench.stop(i, now);
            expected.stop(i);
        } else {
            bench.wake(i, now);
            expected.wake(i);
        }
        expected.dispatch(now);
        return true;
    }
    switch (operation - 3 * vcpus) {
    case 0:
        bench.block(now);
        expected.block();
        expected.dispatch(now);
        return true;
    case 1: // one event, or two before EL2 reads the counter
    case 2:
        expected.use(operation - 3 * vcpus);
        bench.use(operation - 3 * vcpus, now);
        if (expected.is_spent()) {
            expected.dispatch(now);
        }
        return true;
    case 3: // time, and the timer when it is due
    case 4: // late by periods
        now += operation - 3 * vcpus == 3 ? TICK : 9 * TICK;
        bench.timer(now);
        expected.recharge(now);
        expected.dispatch(now);
        return true;
    case 5: // an interrupt without consequences
        bench.at(now, [] {});
        expected.dispatch(now);
        return true;
    default:
        return false;
    }
}

// The state that the model has, and what the scheduler keeps in addition.
std::vector<uint64_t> key_of(const place &at, uint64_t cycle)
{
    std::vector<uint64_t> key = at.expected.key(at.now, cycle);
    for (const sched_vcpu &vcpu : at.bench.vcpus) {
        const reservation &reservation = vcpu.budget.reservation;
        key.push_back(reservation.spent);
        key.push_back(reservation.used_events[0]); // without what is in the counter
    }
    return key;
}

// Without priorities all VCPUs are equal, whatever their priorities are: the model gets equal ones.
void explore(const std::vector<sched_setup> &setups, uint64_t slice, uint64_t cycle, size_t least_states,
             sched_policy policy = SCHED_FIXED_PRIORITY)
{
    std::vector<sched_setup> meant = setups;
    for (sched_setup &setup : meant) {
        setup.priority = policy == SCHED_ROUND_ROBIN ? 0 : setup.priority;
    }
    sched_bench bench(setups, slice, policy);
    std::deque<place> frontier{{bench.save(), model(meant, slice), 0}};
    std::set<std::vector<uint64_t>> seen{key_of(frontier.front(), cycle)};

    while (!frontier.empty()) {
        const place from = std::move(frontier.front());
        frontier.pop_front();
        for (unsigned operation = 0;; operation++) {
            place to = from;
            bench.restore(from.bench);
            if (!apply(operation, unsigned(setups.size()), bench, to.expected, to.now)) {
                break;
            }
            to.expected.expect_same(bench);
            if (::testing::Test::HasFatalFailure()) {
                FAIL() << "operation " << operation << " at " << from.now << " after " << seen.size()
                       << " states";
            }
            to.bench = bench.save();
            if (seen.insert(key_of(to, cycle)).second) {
                frontier.push_back(std::move(to));
            }
        }
    }
    EXPECT_GE(seen.size(), least_states);
}

TEST(VcpuSchedExhaustive, B2_TwoEqualsWithSlices)
{
    explore({{2, 10, 1}, {1, 20, 1}}, 10, 20, 1000);
}

TEST(VcpuSchedExhaustive, B2_TwoPriorities)
{
    explore({{2, 10, 0}, {1, 15, 1}}, 10, 30, 1000);
}

TEST(VcpuSchedExhaustive, B2_OneThatNeverMayRun)
{
    explore({{0, 10, 0}, {2, 15, 0}}, 5, 30, 500);
}

TEST(VcpuSchedExhaustive, B2_ThreeOfTwoPriorities)
{
    explore({{1, 10, 1}, {1, 10, 1}, {1, 10, 0}}, 5, 10, 3000);
}

TEST(VcpuSchedExhaustive, B2_RoundRobinOfTwo)
{
    explore({{2, 10, 0}, {1, 15, 1}}, 10, 30, 1000, SCHED_ROUND_ROBIN);
}

TEST(VcpuSchedExhaustive, B2_RoundRobinOfThree)
{
    explore({{1, 10, 1}, {1, 10, 2}, {1, 10, 0}}, 5, 10, 3000, SCHED_ROUND_ROBIN);
}

} // namespace
} // namespace vcpu_sched_exhaustive_test
