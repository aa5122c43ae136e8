// SPDX-License-Identifier: Apache-2.0
// An event counter of one core as in hardware: 32 bits, with an overflow interrupt, counting or stopped. The
// driver of a core's budget (core_driver.h) preloads and reads it as EL2 does with PMEVCNTR<n>_EL0.
#pragma once

#include <functional>
#include <utility>

#include "machine/core.h"

namespace bulkhead::machine::regulation {

class event_unit {
public:
    static constexpr std::uint32_t bits = 32; // as on a Cortex-A53: PMUv3 without long counters

    event_unit(core &counted, core_event which, std::function<void()> overflow)
        : counted_(counted), which_(which), overflow_(std::move(overflow))
    {
    }

    // Counts from this value on. `overflow` is called during the access that causes the overflow.
    void start(std::uint64_t value)
    {
        value_ = value;
        begin_ = counted_.count_of(which_);
        counting_ = true;
        counted_.watch(which_, begin_ + range - value, overflow_);
    }

    // Stops counting; returns the value, which is kept.
    std::uint64_t stop()
    {
        if (counting_) {
            value_ = (value_ + counted()) % range;
            counting_ = false;
            counted_.watch(which_, 0, nullptr);
        }
        return value_;
    }

    // Events since start(); 0 while it is stopped.
    [[nodiscard]] std::uint64_t counted() const { return counting_ ? counted_.count_of(which_) - begin_ : 0; }

private:
    static constexpr std::uint64_t range = std::uint64_t{1} << bits;

    core &counted_;
    core_event which_;
    std::function<void()> overflow_;
    std::uint64_t value_ = 0;
    std::uint64_t begin_ = 0; // the core's count at start()
    bool counting_ = false;
};

} // namespace bulkhead::machine::regulation
