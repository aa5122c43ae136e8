// SPDX-License-Identifier: Apache-2.0
// The command bus of a channel: one command in a clock. Commands are planned ahead and not in the order in
// which they go out, so the clocks that are taken are remembered in a window that moves with time.
#pragma once

#include <array>
#include <bit>

#include "machine/dram/timing.h"

namespace bulkhead::machine::dram {

class command_bus {
public:
    // Commands planned at one time are within this many clocks of each other; the timing's check sees to it.
    static constexpr clocks window = 64 * 1024;

    // Takes and returns the first free clock from `earliest` on.
    clocks take(clocks earliest)
    {
        for (clocks block = earliest / 64, from = earliest % 64;; ++block, from = 0) {
            const std::size_t slot = block % blocks;
            if (block_[slot] != block) {
                block_[slot] = block;
                taken_[slot] = 0;
            }
            const std::uint64_t free = ~taken_[slot] & ~std::uint64_t{0} << from;
            if (free != 0) {
                taken_[slot] |= free & (~free + 1);
                return block * 64 + static_cast<clocks>(std::countr_zero(free));
            }
        }
    }

private:
    static constexpr std::size_t blocks = window / 64;
    std::array<clocks, blocks> block_{}; // which 64 clocks a slot stands for
    std::array<std::uint64_t, blocks> taken_{};
};

} // namespace bulkhead::machine::dram
