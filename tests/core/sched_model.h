// SPDX-License-Identifier: Apache-2.0
// The required behaviour of VCPUs on a core, written from the requirement's table (B2) and not from the
// scheduler. Used by the test that compares the two in every state.
#pragma once

#include "sched_bench.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <optional>
#include <vector>

// The requirement as a program: no counters, no timer; events are known when they happen.
class model {
public:
    model(const std::vector<sched_setup> &setups, uint64_t slice)
        : setups_(setups), slice_(slice), of_(setups.size())
    {
    }

    void start(unsigned i, uint64_t now)
    {
        if (of_[i].state != SCHED_RESET) {
            return;
        }
        const uint64_t period = setups_[i].period_ticks;
        if (!of_[i].end || *of_[i].end <= now) {
            of_[i].end = (now / period + 1) * period;
            of_[i].used = 0;
        }
        becomes_ready(i);
    }

    void stop(unsigned i)
    {
        if (resident_ == int(i)) {
            resident_ = -1;
        }
        leaves(i, SCHED_RESET);
    }

    void wake(unsigned i)
    {
        if (of_[i].state == SCHED_PAUSED) {
            becomes_ready(i);
        }
    }

    void block()
    {
        if (running_ >= 0) {
            const auto i = unsigned(running_);
            leaves(i, has_budget(i) ? SCHED_PAUSED : SCHED_RECHARGE);
        }
    }

    void use(uint64_t events)
    {
        switched_ = false;
        if (running_ >= 0) {
            of_[unsigned(running_)].used += events;
        }
    }

    bool is_spent() const { return running_ >= 0 && !has_budget(unsigned(running_)); }

    void recharge(uint64_t now)
    {
        for (unsigned i = 0; i < of_.size(); i++) {
            if (of_[i].state != SCHED_RESET && *of_[i].end <= now) {
                of_[i].end = (now / setups_[i].period_ticks + 1) * setups_[i].period_ticks;
                of_[i].used = 0;
                if (of_[i].state == SCHED_RECHARGE) {
                    becomes_ready(i);
                }
            }
        }
    }

    // The first VCPU in order of priority and turn that has a budget; those before it have none and wait for
    // it.
    void dispatch(uint64_t now)
    {
        if (is_spent()) {
            leaves(unsigned(running_), SCHED_RECHARGE);
        }
        if (running_ >= 0 && slice_ != 0 && now >= slice_end_) {
            std::erase(turns_, unsigned(running_));
            turns_.push_back(unsigned(running_));
            slice_end_ = now + slice_;
        }
        std::vector<unsigned> candidates = turns_;
        std::stable_sort(candidates.begin(), candidates.end(),
                         [&](unsigned a, unsigned b) { return setups_[a].priority < setups_[b].priority; });
        int chosen = -1;
        for (const unsigned i : candidates) {
            if (has_budget(i)) {
                chosen = int(i);
                break;
            }
            leaves(i, SCHED_RECHARGE);
        }
        if (chosen != running_) {
            if (running_ >= 0) {
                of_[unsigned(running_)].state = SCHED_READY;
            }
            running_ = chosen;
            slice_end_ = now + slice_;
        }
        switched_ = false;
        if (chosen >= 0) {
            of_[unsigned(chosen)].state = SCHED_RUNNING;
            switched_ = chosen != resident_;
            resident_ = chosen;
        }
    }

    uint64_t deadline() const
    {
        uint64_t earliest = BUDGET_NO_DEADLINE;
        for (const auto &vcpu : of_) {
            if (vcpu.state != SCHED_RESET) {
                earliest = std::min(earliest, *vcpu.end);
            }
        }
        const bool shares = std::any_of(turns_.begin(), turns_.end(), [&](unsigned i) {
            return running_ >= 0 && int(i) != running_ &&
                   setups_[i].priority == setups_[unsigned(running_)].priority;
        });
        return slice_ != 0 && shares ? std::min(earliest, slice_end_) : earliest;
    }

    void expect_same(sched_bench &bench) const
    {
        ASSERT_EQ(bench.running(), running_);
        ASSERT_EQ(bench.last.vcpu, bench.core.running);
        ASSERT_EQ(bench.last.switched, switched_);
        ASSERT_EQ(sched_deadline(&bench.core), deadline());
        for (unsigned i = 0; i < of_.size(); i++) {
            ASSERT_EQ(bench.vcpus[i].state, of_[i].state) << i;
            ASSERT_EQ(bench.used(i), of_[i].used) << i;
            ASSERT_EQ(bench.vcpus[i].budget.reservation.counting, running_ == int(i)) << i;
            ASSERT_EQ(bench.vcpus[i].budget.reservation.throttled, of_[i].state == SCHED_RECHARGE) << i;
        }
    }

    // All state that the future depends on. Of a period that has ended it does not matter how long ago it
    // ended.
    std::vector<uint64_t> key(uint64_t now, uint64_t cycle) const
    {
        std::vector<uint64_t> key{now % cycle, uint64_t(running_ + 1), uint64_t(resident_ + 1)};
        key.push_back(running_ < 0 || slice_end_ <= now ? 0 : slice_end_ - now);
        for (const auto &vcpu : of_) {
            const bool over = !vcpu.end || *vcpu.end <= now;
            key.insert(key.end(), {uint64_t(vcpu.state), vcpu.used, over ? 0 : *vcpu.end - now});
        }
        key.insert(key.end(), turns_.begin(), turns_.end());
        return key;
    }

private:
    struct account {
        sched_state state = SCHED_RESET;
        uint64_t used = 0;
        std::optional<uint64_t> end;
    };

    bool has_budget(unsigned i) const { return of_[i].used < setups_[i].budget_events; }

    void becomes_ready(unsigned i)
    {
        of_[i].state = SCHED_READY;
        turns_.push_back(i);
    }

    void leaves(unsigned i, sched_state state)
    {
        of_[i].state = state;
        std::erase(turns_, i);
        if (running_ == int(i)) {
            running_ = -1;
        }
    }

    std::vector<sched_setup> setups_;
    uint64_t slice_;
    std::vector<account> of_;
    std::vector<unsigned> turns_; // READY and RUNNING ones, in order of arrival
    int running_ = -1;
    int resident_ = -1;
    uint64_t slice_end_ = 0;
    bool switched_ = false;
};
