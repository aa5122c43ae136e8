// SPDX-License-Identifier: Apache-2.0
// Bounds of misses (X8): the longest sequence of misses over all accesses, from all states that the slots can
// be in with any contents, equals the bound, and is never longer.
#include "core/mxu_crossing.h"
#include "core/mxu_misses.h"
#include "mxu_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

namespace mxu_misses_test {
namespace {

// Contents of the slots (0: something else, or nothing) and which slot is next. Random may take any slot but
// the last one loaded.
struct State {
    std::array<std::uint8_t, 6> holds{};
    std::uint8_t turn = 0;
    auto operator<=>(const State &) const = default;
};

class Search {
public:
    Search(mxu_policy policy, std::uint32_t slots, std::uint32_t ranges)
        : policy_(policy), slots_(slots), ranges_(ranges)
    {
        std::uint32_t seed = 1;
        turns_ = mxu_eviction_ring(policy, 0, slots, &seed, ring_.data());
    }

    // The most misses from a state on; nothing if the number has no bound.
    std::optional<std::uint64_t> most(const State &state)
    {
        const auto known = found_.find(state);
        if (known != found_.end()) {
            return known->second; // nothing during the search: a cycle with a miss
        }
        found_[state] = std::nullopt;
        std::uint64_t best = 0;
        for (std::uint32_t range = 1; range <= ranges_; ++range) {
            if (std::find(state.holds.begin(), state.holds.begin() + slots_, range) !=
                state.holds.begin() + slots_) {
                continue;
            }
            for (const State &next : after_miss(state, static_cast<std::uint8_t>(range))) {
                const auto rest = most(next);
                if (!rest) {
                    return std::nullopt;
                }
                best = std::max(best, 1 + *rest);
            }
        }
        return found_[state] = best;
    }

    std::vector<State> starts(bool emptied) const
    {
        std::vector<State> all;
        if (emptied) {
            return {State{{}, first_turn()}};
        }
        State state;
        contents(state, 0, all);
        return all;
    }

    std::optional<std::uint64_t> worst(bool emptied)
    {
        std::uint64_t worst = 0;
        for (const State &state : starts(emptied)) {
            const auto misses = most(state);
            if (!misses) {
                return std::nullopt;
            }
            worst = std::max(worst, *misses);
        }
        return worst;
    }

private:
    // After being emptied, random has to fill all slots first: `turn` then counts them.
    std::uint8_t first_turn() const { return policy_ == MXU_RANDOM ? filling : 0; }

    std::vector<State> after_miss(State state, std::uint8_t range) const
    {
        std::vector<State> next;
        if (policy_ != MXU_RANDOM) {
            state.holds[ring_[state.turn].slot] = range;
            state.turn = ring_[state.turn].next;
            return {state};
        }
        for (std::uint8_t slot = 0; slot < slots_; ++slot) {
            State one = state;
            if (state.turn >= filling) { // any slot that is still empty
                if (state.holds[slot] != 0) {
                    continue;
                }
                const auto left = std::count(state.holds.begin(), state.holds.begin() + slots_, 0);
                one.turn = left == 1 ? slot : filling;
            } else {
                if (slot == state.turn && slots_ > 1) {
                    continue;
                }
                one.turn = slot;
            }
            one.holds[slot] = range;
            next.push_back(one);
        }
        return next;
    }

    void contents(State state, std::uint32_t slot, std::vector<State> &all) const
    {
        if (slot == slots_) {
            const std::uint32_t turns = policy_ == MXU_RANDOM ? slots_ : turns_;
            for (std::uint8_t turn = 0; turn < turns; ++turn) {
                state.turn = turn; // of random: the slot that was loaded last
                all.push_back(state);
            }
            return;
        }
        for (std::uint8_t range = 0; range <= ranges_; ++range) {
            if (range == 0 || std::find(state.holds.begin(), state.holds.begin() + slot, range) ==
                                  state.holds.begin() + slot) {
                state.holds[slot] = range;
                contents(state, slot + 1, all);
            }
        }
    }

    static constexpr std::uint8_t filling = 0x80;
    mxu_policy policy_;
    std::uint32_t slots_;
    std::uint32_t ranges_;
    std::uint32_t turns_;
    std::array<mxu_turn, MXU_RING_TURNS> ring_{};
    std::map<State, std::optional<std::uint64_t>> found_;
};

constexpr mxu_policy policies[] = {MXU_ROUND_ROBIN, MXU_RANDOM, MXU_BIT_PLRU};

mxu_phase phase_of(std::uint32_t ranges, std::uint64_t changes = MXU_NO_BOUND, std::uint32_t touch = 1)
{
    return {ranges, ranges == 0 ? 0 : touch, changes};
}

TEST(MxuMisses, X8_TheBoundIsTheLongestSequenceOfAll)
{
    for (const mxu_policy policy : policies) {
        for (std::uint32_t slots = 1; slots <= 5; ++slots) {
            for (std::uint32_t ranges = 1; ranges <= slots + 1 && ranges <= 5; ++ranges) {
                for (const bool emptied : {false, true}) {
                    const mxu_dynamic dynamic{slots, policy, 1};
                    const mxu_phase phase = phase_of(ranges);
                    const std::uint64_t bound = mxu_phase_misses(&phase, &dynamic, emptied);
                    const auto worst = Search(policy, slots, ranges).worst(emptied);
                    EXPECT_EQ(bound, worst ? *worst : MXU_NO_BOUND)
                        << "policy " << policy << ", " << ranges << " ranges in " << slots
                        << (emptied ? ", emptied" : "");
                }
            }
        }
    }
}

// Jobs of few instructions with changes, accesses and preemptions, run on the real regions; the bound is not
// exceeded.
TEST(MxuMisses, X8_NoRunOfTheRealRegionsExceedsItsBound)
{
    bulkhead_test::Random random{9};
    std::uint64_t reached = 0;
    for (int round = 0; round < 3000; ++round) {
        const mxu_policy policy = policies[random() % 3];
        const std::uint32_t slots = 1 + random() % 5;
        const std::uint32_t touch = 1 + random() % mxu_crossing_kept(policy, slots);
        const std::uint32_t ranges = touch + random() % 4;
        const std::uint32_t interrupts = random() % 3;
        bulkhead_test::Trie trie(16);
        mxu_regions regions{};
        ASSERT_TRUE(mxu_regions_init(&regions, slots, nullptr, 0, policy, 1 + random() % 1000));
        regions.watched = false;
        for (std::uint32_t i = 0; i < 16; ++i) {
            trie.insert(i * 64, i * 64 + 31);
        }
        std::uint64_t misses = 0;
        const auto access = [&](const std::vector<std::uint32_t> &needed) {
            for (bool again = true; again;) {
                again = false;
                for (const std::uint32_t range : needed) {
                    const mxu_range *at = mxu_trie_find(trie.get(), range * 64);
                    if (!mxu_regions_holds(&regions, at)) {
                        ASSERT_NE(mxu_regions_refill(&regions, trie.get(), range * 64, 0), nullptr);
                        ++misses;
                        again = true;
                        break;
                    }
                }
            }
        };
        for (std::uint32_t i = random() % 9; i > 0; --i) {
            access({random() % 16}); // the state before
        }
        const bool emptied = random() % 2 == 0;
        if (emptied) {
            mxu_regions_flush(&regions);
            regions.watched = false;
        }
        misses = 0;
        std::uint64_t changes = 0;
        std::uint32_t preemptions = 0;
        std::vector<std::uint32_t> last;
        for (std::uint32_t i = 0; i < 12; ++i) {
            std::vector<std::uint32_t> needed;
            for (std::uint32_t t = 1 + random() % touch; t > 0; --t) {
                needed.push_back(random() % ranges);
            }
            const bool same = std::all_of(needed.begin(), needed.end(), [&](auto range) {
                return std::find(last.begin(), last.end(), range) != last.end();
            });
            changes += i > 0 && !same;
            access(needed);
            last = needed;
            if (preemptions < interrupts && random() % 4 == 0) {
                const std::uint64_t own = misses;
                for (std::uint32_t others = random() % 8; others > 0; --others) {
                    access({8 + random() % 8});
                }
                misses = own; // the other job's slots are its own
                ++preemptions;
                access(last); // the interrupted instruction
            }
        }
        const mxu_phase phase{ranges, touch, random() % 2 == 0 ? changes : MXU_NO_BOUND};
        const mxu_dynamic dynamic{slots, policy, 10};
        const mxu_job job{&phase, 1, preemptions, emptied, 100, UINT64_MAX - 1};
        mxu_misses to{};
        if (mxu_job_admit(&job, &dynamic, &to) == MXU_OK) {
            ASSERT_LE(misses, to.misses)
                << "round " << round << ": policy " << policy << ", " << slots << " slots, " << ranges;
            ASSERT_EQ(to.cost_ns, 10 * to.misses);
            ASSERT_EQ(to.wcet_ns, 100 + 10 * to.misses);
            reached += misses == to.misses;
        } else {
            ASSERT_EQ(phase.changes, MXU_NO_BOUND);
        }
    }
    EXPECT_GT(reached, 100u) << "bounds that are never reached would be too large";
}

TEST(MxuMisses, X8_FewChangesBoundWhatRangesDoNot)
{
    const mxu_dynamic dynamic{3, MXU_BIT_PLRU, 1};
    mxu_phase phase = phase_of(10, 6);
    EXPECT_EQ(mxu_phase_misses(&phase, &dynamic, false), 7u);
    phase = phase_of(3, 1);
    EXPECT_EQ(mxu_phase_misses(&phase, &dynamic, false), 2u) << "fewer than four";
    phase = phase_of(10, 6, 3);
    EXPECT_EQ(mxu_phase_misses(&phase, &dynamic, false), 28u) << "three ranges at once can miss four times";
    phase = phase_of(0, 6);
    EXPECT_EQ(mxu_phase_misses(&phase, &dynamic, false), 0u);
}

TEST(MxuMisses, X8_ABudgetBearsItsMissesOrIsRefused)
{
    const std::array phases = {phase_of(3), phase_of(2)};
    const mxu_dynamic dynamic{3, MXU_ROUND_ROBIN, 1000};
    mxu_misses to{};
    mxu_job job{phases.data(), 2, 0, false, 10000, 15000};
    EXPECT_EQ(mxu_job_admit(&job, &dynamic, &to), MXU_OK);
    EXPECT_EQ(to.misses, 5u);
    EXPECT_EQ(to.wcet_ns, 15000u);
    job.budget_ns = 14999;
    EXPECT_EQ(mxu_job_admit(&job, &dynamic, &to), MXU_EBUSY);
    EXPECT_EQ(to.wcet_ns, 15000u) << "says what it would need";
    job.budget_ns = 100000;
    job.preemptions = 2;
    EXPECT_EQ(mxu_job_admit(&job, &dynamic, &to), MXU_OK);
    EXPECT_EQ(to.misses, 11u) << "each preemption can cost the larger phase's three";
}

TEST(MxuMisses, X8_WithoutABoundThereIsNoAdmission)
{
    mxu_misses to{};
    mxu_phase phase = phase_of(4);
    mxu_job job{&phase, 1, 0, false, 0, UINT64_MAX};
    mxu_dynamic dynamic{3, MXU_ROUND_ROBIN, 1};
    EXPECT_EQ(mxu_job_admit(&job, &dynamic, &to), MXU_ENOHW);
    phase = phase_of(3);
    dynamic.policy = MXU_RANDOM;
    EXPECT_EQ(mxu_job_admit(&job, &dynamic, &to), MXU_ENOHW);
    job.emptied = true;
    EXPECT_EQ(mxu_job_admit(&job, &dynamic, &to), MXU_OK);
    job.preemptions = 1;
    EXPECT_EQ(mxu_job_admit(&job, &dynamic, &to), MXU_ENOHW) << "slots are not empty after a preemption";
    phase = phase_of(3, 10, 3);
    EXPECT_EQ(mxu_job_admit(&job, &dynamic, &to), MXU_ENOHW) << "random surely keeps two";
    phase = phase_of(3, 10, 4);
    EXPECT_EQ(mxu_job_admit(&job, &dynamic, &to), MXU_EINVAL) << "touches more than there are";
    phase = {3, 0, 10};
    EXPECT_EQ(mxu_job_admit(&job, &dynamic, &to), MXU_EINVAL);
    phase = phase_of(3, 10);
    dynamic.slots = 0;
    EXPECT_EQ(mxu_job_admit(&job, &dynamic, &to), MXU_EINVAL);
}

TEST(MxuMisses, X8_SumsBeyond64BitsAreNoBound)
{
    mxu_misses to{};
    mxu_phase phase = phase_of(40, UINT64_MAX - 1);
    mxu_job job{&phase, 1, 0, false, 0, UINT64_MAX};
    mxu_dynamic dynamic{3, MXU_ROUND_ROBIN, 1};
    EXPECT_EQ(mxu_job_admit(&job, &dynamic, &to), MXU_ENOHW);
    phase = phase_of(40, UINT64_C(1) << 40);
    dynamic.refill_ns = UINT64_C(1) << 24;
    EXPECT_EQ(mxu_job_admit(&job, &dynamic, &to), MXU_EBUSY) << "2^64 ns";
    dynamic.refill_ns = UINT64_C(1) << 20;
    EXPECT_EQ(mxu_job_admit(&job, &dynamic, &to), MXU_OK);
    EXPECT_EQ(to.cost_ns, ((UINT64_C(1) << 40) + 1) << 20);
}

} // namespace
} // namespace mxu_misses_test
