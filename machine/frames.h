// SPDX-License-Identifier: Apache-2.0
// What the machine knows of each 4 KiB frame of its memory (DRAM, and cacheable on-chip memory): its owner,
// and whether several cores use it at once. Read on a miss of a private cache only; written before a run, or
// by code that maps memory during it. Most memory belongs to one owner in large contiguous parts. Therefore
// the frames of a block of 2 MiB are looked up in one record as long as they are alike: the table of these
// records fits in the host's first-level cache, and the table of frames does not.
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

        bool operator==(const frame &) const = default;
    };

    frames(phys_addr base, byte_count size)
        : base_(base.value), count_(size.value >> bits), frames_(count_), blocks_((count_ >> block_bits) + 1)
    {
    }

    // Adds memory other than the DRAM, in whole frames. Before the machine runs.
    void add(phys_addr base, byte_count size) { others_.emplace_back(base, size); }

    // The frame of an address; null if there is no memory at it. What the pointer refers to may change with
    // the next set_owner() or set_shared() of any frame: whoever waits copies what it needs.
    [[nodiscard]] const frame *find(phys_addr address) const
    {
        const std::uint64_t number = (address.value - base_) >> bits;
        if (number >= count_) [[unlikely]] {
            return find_other(address);
        }
        const block &around = blocks_[number >> block_bits];
        return around.alike ? &around.all : &frames_[number];
    }
    [[nodiscard]] bool is_dram(phys_addr address) const { return (address.value - base_) >> bits < count_; }

    // Base and size of the DRAM.
    [[nodiscard]] phys_addr base() const { return phys_addr{base_}; }
    [[nodiscard]] byte_count size() const { return byte_count{std::uint64_t{frames_.size()} << bits}; }

    // Apply to all frames that the range touches; addresses without memory are skipped.
    void set_owner(phys_addr start, byte_count size, owner_id owner);
    void set_shared(phys_addr start, byte_count size, bool shared);

private:
    static constexpr std::uint32_t block_bits = 9; // log2 of the frames of a block
    struct block {
        frame all{};       // what each of its frames is, if `alike`
        bool alike = true; // false: they differ, or it is not known whether they do
    };

    template <class Change> void change(phys_addr start, byte_count size, const Change &change_one);
    void follow(std::uint64_t number);
    [[gnu::noinline]] const frame *find_other(phys_addr address) const;

    std::uint64_t base_;
    std::uint64_t count_;
    std::vector<frame> frames_;
    std::vector<block> blocks_;
    std::vector<frames> others_;
};

} // namespace bulkhead::machine
