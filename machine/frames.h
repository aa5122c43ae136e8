// SPDX-License-Identifier: Apache-2.0
// What the machine knows of each 4 KiB frame of its DRAM: whose it is, and whether several cores use it at
// once. Asked on a miss of a private cache only; set before a run or by whoever maps memory during it.
#pragma once

#include <vector>

#include "machine/types.h"

namespace bulkhead::machine {

class frames {
public:
    static constexpr std::uint32_t bits = 12;

    struct frame {
        owner_id owner;
        bool shared = false; // accesses are ordered with those of other cores even when they hit
    };

    frames(phys_addr base, byte_count size) : base_(base.value), count_(size.value >> bits), frames_(count_)
    {
    }

    // Of an address outside of DRAM: null.
    [[nodiscard]] const frame *find(phys_addr address) const
    {
        const std::uint64_t number = (address.value - base_) >> bits;
        return number < count_ ? &frames_[number] : nullptr;
    }

    [[nodiscard]] phys_addr base() const { return phys_addr{base_}; }
    [[nodiscard]] byte_count size() const { return byte_count{std::uint64_t{frames_.size()} << bits}; }

    // Of all frames that the range touches; what is outside of DRAM is left out.
    void set_owner(phys_addr start, byte_count size, owner_id owner);
    void set_shared(phys_addr start, byte_count size, bool shared);

private:
    std::uint64_t base_;
    std::uint64_t count_;
    std::vector<frame> frames_;
};

} // namespace bulkhead::machine
