// SPDX-License-Identifier: Apache-2.0
// The command bus of a channel: one command in a clock. Commands are planned ahead and not in the order in
// which they go out, so the clocks that are taken are remembered in a window that moves with time.
#pragma once

#include <bit>
#include <vector>

#include "machine/dram/timing.h"

namespace bulkhead::machine::dram {

class command_bus {
public:
    // All commands that are planned before one of them has gone out lie within `window` clocks.
    explicit command_bus(clocks window) : taken_(std::bit_ceil(window), ~clocks{0}), mask_(taken_.size() - 1)
    {
    }

    // Takes and returns the first free clock from `earliest` on.
    clocks take(clocks earliest)
    {
        while (taken_[earliest & mask_] == earliest)
            [[unlikely]]
            {
                ++earliest;
            }
        taken_[earliest & mask_] = earliest;
        return earliest;
    }

private:
    std::vector<clocks> taken_; // by the clock's lowest bits: the last one that was taken
    clocks mask_;
};

} // namespace bulkhead::machine::dram
