// SPDX-License-Identifier: Apache-2.0
// Changes ranges of frames; see the header.
#include "machine/frames.h"

#include <algorithm>

namespace bulkhead::machine {

template <class Change> void frames::change(phys_addr start, byte_count size, const Change &change_one)
{
    constexpr std::uint64_t offset_mask = (std::uint64_t{1} << bits) - 1;
    if (size.value == 0 || start.value + size.value <= base_) {
        return;
    }
    const std::uint64_t first = (std::max(start.value, base_) - base_) >> bits;
    const std::uint64_t end = (start.value + size.value - base_ + offset_mask) >> bits;
    for (std::uint64_t number = first; number < std::min(end, count_); ++number) {
        change_one(frames_[number]);
        follow(number);
    }
}

// A frame has changed. Whether the frames of its block are alike again is looked at only when the last of
// them changes: code that maps a whole block changes that one last.
void frames::follow(std::uint64_t number)
{
    block &own = blocks_[number >> block_bits];
    const std::uint64_t begin = number >> block_bits << block_bits;
    const std::uint64_t end = std::min(begin + (std::uint64_t{1} << block_bits), count_);
    if (number + 1 != end) {
        own.alike = own.alike && frames_[number] == own.all;
        return;
    }
    own.all = frames_[begin];
    own.alike = std::all_of(frames_.begin() + static_cast<std::ptrdiff_t>(begin),
                            frames_.begin() + static_cast<std::ptrdiff_t>(end),
                            [&own](const frame &one) { return one == own.all; });
}

const frames::frame *frames::find_other(phys_addr address) const
{
    for (const frames &one : others_) {
        if (const frame *found = one.find(address)) {
            return found;
        }
    }
    return nullptr;
}

void frames::set_owner(phys_addr start, byte_count size, owner_id owner)
{
    change(start, size, [&](frame &one) { one.owner = owner; });
    for (frames &one : others_) {
        one.set_owner(start, size, owner);
    }
}

void frames::set_shared(phys_addr start, byte_count size, bool shared)
{
    change(start, size, [&](frame &one) { one.shared = shared; });
    for (frames &one : others_) {
        one.set_shared(start, size, shared);
    }
}

} // namespace bulkhead::machine
