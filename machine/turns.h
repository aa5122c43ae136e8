// SPDX-License-Identifier: Apache-2.0
// Which cores act next, and when: the cores that do not run, in order of time, equal times by number. The
// engine (machine/engine.h) owns one and uses it at every switch between cores.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "machine/time.h"
#include "machine/types.h"

namespace bulkhead::machine {

class turns {
public:
    static constexpr std::uint32_t most = 64; // number of cores
    static constexpr picoseconds never{~std::uint64_t{0}};

    // never: the queue is empty.
    [[nodiscard]] picoseconds first_due() const
    {
        return turns_[count_] == none ? never : picoseconds{turns_[count_] >> core_bits};
    }
    [[nodiscard]] bool empty() const { return count_ == 0; }
    // Removes the first core and returns its number. Must not be called on an empty queue.
    std::size_t take_first() { return turns_[count_--] & (most - 1); }

    // Adds a core that is not in the queue. Times must be below 2^58 ps; core clocks end before
    // (machine/time.h).
    void add(core_id core, picoseconds due)
    {
        const std::uint64_t added = due.value << core_bits | core.value;
        std::size_t place = ++count_;
        for (; turns_[place - 1] < added; --place) {
            turns_[place] = turns_[place - 1];
        }
        turns_[place] = added;
    }
    // Adds a core, or changes its time if it is in the queue; never: removes it.
    void set(core_id core, picoseconds due)
    {
        const auto end = turns_.begin() + static_cast<std::ptrdiff_t>(count_) + 1;
        count_ -=
            static_cast<std::size_t>(end - std::remove_if(turns_.begin() + 1, end, [core](std::uint64_t one) {
                                         return (one & (most - 1)) == core.value;
                                     }));
        if (due != never) {
            add(core, due);
        }
    }

private:
    static constexpr std::uint32_t core_bits = 6;
    static constexpr std::uint64_t none = ~std::uint64_t{0};

    // Time and core number in one word, so that one comparison orders both; the earliest is last. Element 0
    // is a sentinel that is later than all, so that searches stop there.
    std::array<std::uint64_t, most + 1> turns_{none};
    std::size_t count_ = 0;
};

} // namespace bulkhead::machine
