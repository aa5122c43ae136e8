// SPDX-License-Identifier: Apache-2.0
// For tests of timers: one on the timeline of a small machine, with a record of its interrupt.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "machine/devices/device_clock.h"
#include "tests/machine/machine_make.h"

namespace bulkhead::machine::devices::test {

template <class Timer, std::uint64_t clock_hz> class timer_test : public testing::Test {
protected:
    static constexpr device_clock clock{clock_hz};

    static picoseconds tick(std::uint64_t number) { return clock.time_of(number); }
    void set(std::uint32_t offset, std::uint32_t value)
    {
        timer.write(offset, value, whole->timeline().now());
    }

    std::unique_ptr<simulated_machine> whole = machine::test::make_machine(machine::test::small_machine(1));
    std::vector<bool> line; // each change
    Timer timer{whole->timeline(), clock, [this](bool high) { line.push_back(high); }};
};

} // namespace bulkhead::machine::devices::test
