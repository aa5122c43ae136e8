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
        const clocks wanted = std::uint64_t{1} << earliest % 64;
        block &at = block_of(earliest / 64);
        if ((at.taken & wanted) == 0) {
            at.taken |= wanted;
            return earliest;
        }
        return take_later(earliest);
    }

private:
    struct block {
        clocks number = 0; // which 64 clocks it stands for
        std::uint64_t taken = 0;
    };
    static constexpr std::size_t blocks = window / 64;

    block &block_of(clocks number)
    {
        block &at = blocks_[number % blocks];
        if (at.number != number) {
            at = {number, 0};
        }
        return at;
    }
    [[gnu::noinline]] clocks take_later(clocks earliest)
    {
        for (clocks number = earliest / 64, from = earliest % 64;; ++number, from = 0) {
            block &at = block_of(number);
            const std::uint64_t free = ~at.taken & ~std::uint64_t{0} << from;
            if (free != 0) {
                at.taken |= free & (~free + 1);
                return number * 64 + static_cast<clocks>(std::countr_zero(free));
            }
        }
    }

    std::array<block, blocks> blocks_{};
};

} // namespace bulkhead::machine::dram
