// SPDX-License-Identifier: Apache-2.0
// Two event counters of n bits as in hardware: they wrap, and a wrap sets the overflow flag. The tests of
// budgets use them as a driver uses registers.
#pragma once

#include "core/budget.h"
#include <array>

class fake_counters {
public:
    explicit fake_counters(unsigned bits) : mask_(UINT64_MAX >> (64 - bits)) {}

    void load(const uint64_t *preload)
    {
        values_ = {preload[0], preload[1]};
        overflowed_ = false;
        counts_ = true;
    }

    void count(unsigned counter, uint64_t events)
    {
        if (counts_) {
            const uint64_t before = values_[counter];
            overflowed_ |= events > mask_ - before;
            values_[counter] = (before + events) & mask_;
        }
    }

    // Events until the next overflow of counter `counter`; at least 1.
    uint64_t until_overflow(unsigned counter) const { return mask_ - values_[counter] + 1; }

    bool overflowed() const { return overflowed_; }

    // Stops the counters, as every driver does before it calls the budget.
    const uint64_t *stop()
    {
        counts_ = false;
        overflowed_ = false;
        return values_.data();
    }

    // Executes an answer; returns whether the guest runs.
    bool obey(const budget_action &action)
    {
        if (action.runs) {
            load(action.preload);
        }
        return action.runs;
    }

private:
    uint64_t mask_;
    std::array<uint64_t, 2> values_{};
    bool counts_ = false;
    bool overflowed_ = false;
};

// One counter of 32 bits, a budget of `events` in periods of `period_ticks` from tick 0 on.
inline reservation_parameters reservation_of(uint64_t events, uint64_t period_ticks)
{
    reservation_parameters parameters{};
    parameters.kind = RESERVATION_ONE;
    parameters.counter_bits = 32;
    parameters.limit_events[0] = events;
    parameters.grid.length_ticks = period_ticks;
    return parameters;
}

inline budget budget_of(const reservation_parameters &parameters, reclaim *reclaim = nullptr)
{
    budget made{};
    if (reservation_check(&parameters) != RESERVATION_ERROR_NONE ||
        !budget_init(&made, &parameters, reclaim)) {
        std::abort();
    }
    return made;
}

// A core with a guest that causes events when the test says so, and a driver that reacts at once.
struct fake_core {
    explicit fake_core(unsigned bits) : counters(bits) {}

    void start(const ::budget &made)
    {
        budget = made;
        budget_start(&budget, 0);
        runs = counters.obey(budget_load(&budget, 0));
    }

    // Causes events one at a time, while the guest runs; returns their number.
    uint64_t use(uint64_t events, uint64_t now)
    {
        uint64_t used = 0;
        for (; used < events && runs; used++) {
            counters.count(0, 1);
            if (counters.overflowed()) {
                runs = counters.obey(budget_overflow(&budget, now, counters.stop()));
            }
        }
        return used;
    }

    void timer(uint64_t now) { runs = counters.obey(budget_timer(&budget, now, counters.stop())); }

    ::budget budget{};
    fake_counters counters;
    bool runs = false;
};
