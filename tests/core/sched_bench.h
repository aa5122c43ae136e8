// SPDX-License-Identifier: Apache-2.0
// A core with VCPUs and counters, driven as EL2 does: account, event, dispatch. Used by the tests of the
// scheduler. Its state can be copied and restored, because it has no pointers to moving parts.
#pragma once

#include "core/vcpu_sched.h"
#include "fake_counters.h"
#include <vector>

struct sched_setup {
    uint64_t budget_events;
    uint64_t period_ticks;
    uint32_t priority;
};

class sched_bench {
public:
    sched_bench(const std::vector<sched_setup> &setups, uint64_t slice_ticks,
                sched_policy policy = SCHED_FIXED_PRIORITY)
        : counters_(32)
    {
        sched_init(&core, policy, slice_ticks);
        for (size_t i = 0; i < setups.size(); i++) {
            vcpus[i].budget = budget_of(reservation_of(setups[i].budget_events, setups[i].period_ticks));
            vcpus[i].priority = setups[i].priority;
            EXPECT_TRUE(sched_add(&core, &vcpus[i]));
        }
    }
    sched_bench(const sched_bench &) = delete;

    // EL2's steps at any interrupt or trap: `happened` is called between account and dispatch.
    template <typename Happened> sched_decision at(uint64_t now, Happened happened)
    {
        sched_account(&core, counters_.stop(), now - entered_);
        happened();
        last = sched_dispatch(&core, now);
        entered_ = now;
        if (last.vcpu != nullptr) {
            counters_.load(last.preload);
        }
        return last;
    }

    sched_decision start(unsigned i, uint64_t now)
    {
        return at(now, [&] { sched_start(&core, &vcpus[i], now); });
    }
    sched_decision stop(unsigned i, uint64_t now)
    {
        return at(now, [&] { sched_stop(&core, &vcpus[i], now); });
    }
    sched_decision wake(unsigned i, uint64_t now)
    {
        return at(now, [&] { sched_wake(&core, &vcpus[i]); });
    }
    sched_decision block(uint64_t now)
    {
        return at(now, [&] { sched_block(&core, now); });
    }
    sched_decision timer(uint64_t now)
    {
        return at(now, [&] { sched_timer(&core, now); });
    }

    // The running guest causes events; an overflow is handled at once.
    void use(uint64_t events, uint64_t now)
    {
        last = {core.running, false, {0, 0}};
        if (core.running != nullptr) {
            counters_.count(0, events);
            if (counters_.overflowed()) {
                at(now, [] {});
            }
        }
    }

    // Index of the running VCPU, or -1.
    int running() const { return core.running == nullptr ? -1 : int(core.running - vcpus); }

    // Events of this period, including those in the counter.
    uint64_t used(unsigned i)
    {
        uint64_t in_counter = 0;
        const reservation &reservation = vcpus[i].budget.reservation;
        if (reservation.counting) {
            fake_counters copy = counters_;
            in_counter = (copy.stop()[0] - reservation.counters[0].last) & 0xFFFFFFFF;
        }
        return reservation.used_events[0] + in_counter;
    }

    sched_core core{};
    sched_vcpu vcpus[4]{};
    sched_decision last{};

    struct snapshot {
        sched_core core;
        std::array<sched_vcpu, 4> vcpus;
        fake_counters counters;
    };
    snapshot save() const { return {core, {vcpus[0], vcpus[1], vcpus[2], vcpus[3]}, counters_}; }
    void restore(const snapshot &saved)
    {
        core = saved.core;
        std::copy(saved.vcpus.begin(), saved.vcpus.end(), vcpus);
        counters_ = saved.counters;
    }

private:
    uint64_t entered_ = 0; // the last decision
    fake_counters counters_;
};
