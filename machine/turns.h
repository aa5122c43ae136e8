// SPDX-License-Identifier: Apache-2.0
// Which cores act next, and when: the few that do not run, in order of time, equal times by number. The
// engine (machine/engine.h) owns one and asks it at every change of cores.
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
    static constexpr std::uint32_t most = 64; // cores
    static constexpr picoseconds never{~std::uint64_t{0}};

    // never: no core is here.
    [[nodiscard]] picoseconds first_due() const
    {
        return turns_[count_] == none ? never : picoseconds{turns_[count_] >> core_bits};
    }
    [[nodiscard]] bool empty() const { return count_ == 0; }
    // The number of the first core, which is not here any more then; not of none.
    std::size_t take_first() { return turns_[count_--] & (most - 1); }

    // A core that is not here. Times are below 2^58 ps; core clocks end before (machine/time.h).
    void add(core_id core, picoseconds due)
    {
        const std::uint64_t added = due.value << core_bits | core.value;
        std::size_t place = ++count_;
        for (; turns_[place - 1] < added; --place) {
            turns_[place] = turns_[place - 1];
        }
        turns_[place] = added;
    }
    // A core that may be here at another time; never: it is not any more.
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

    // Time and core in one word, which one comparison orders; the first one last. Below all of them is one
    // that never comes, so that nobody looks further.
    std::array<std::uint64_t, most + 1> turns_{none};
    std::size_t count_ = 0;
};

} // namespace bulkhead::machine
