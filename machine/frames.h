// SPDX-License-Identifier: Apache-2.0
// What the machine knows of each 4 KiB frame of its memory (DRAM, and cacheable on-chip memory): its owner,
// and whether several cores use it at once. Read on a miss of a private cache only; written before a run, or
// by code that maps memory during it.
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

    // Adds memory other than the DRAM, in whole frames. Before the machine runs.
    void add(phys_addr base, byte_count size) { others_.emplace_back(base, size); }

    // The frame of an address; null if there is no memory at it.
    [[nodiscard]] const frame *find(phys_addr address) const
    {
        const std::uint64_t number = (address.value - base_) >> bits;
        return number < count_ ? &frames_[number] : find_other(address);
    }
    [[nodiscard]] bool is_dram(phys_addr address) const { return (address.value - base_) >> bits < count_; }

    // Base and size of the DRAM.
    [[nodiscard]] phys_addr base() const { return phys_addr{base_}; }
    [[nodiscard]] byte_count size() const { return byte_count{std::uint64_t{frames_.size()} << bits}; }

    // Apply to all frames that the range touches; addresses without memory are skipped.
    void set_owner(phys_addr start, byte_count size, owner_id owner);
    void set_shared(phys_addr start, byte_count size, bool shared);

private:
    [[gnu::noinline]] const frame *find_other(phys_addr address) const;

    std::uint64_t base_;
    std::uint64_t count_;
    std::vector<frame> frames_;
    std::vector<frames> others_;
};

} // namespace bulkhead::machine
