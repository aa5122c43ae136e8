// SPDX-License-Identifier: Apache-2.0
// The APB timer of Arm's Cortex-M System Design Kit (DDI 0479D 4.1): a 32-bit down counter that raises its
// interrupt at 0 and starts again. There is no external input: with EXTIN as its clock or its enable it
// stands still. Callers have made the access in order.
#pragma once

#include <functional>

#include "machine/devices/down_counter.h"

namespace bulkhead::machine::devices {

class cmsdk_timer {
public:
    static constexpr std::uint64_t bytes = 0x1000;

    // `line` is called with each change of the interrupt.
    cmsdk_timer(engine &timeline, device_clock clock, std::function<void(bool)> line);

    [[nodiscard]] std::uint32_t read(std::uint32_t offset, picoseconds now) const;
    void write(std::uint32_t offset, std::uint32_t value, picoseconds now);

private:
    void zero();

    std::function<void(bool)> line_;
    down_counter counter_;
    std::uint32_t control_ = 0;
    bool raised_ = false;
};

} // namespace bulkhead::machine::devices
