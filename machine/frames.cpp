// SPDX-License-Identifier: Apache-2.0
// Changes ranges of frames; see the header.
#include "machine/frames.h"

#include <algorithm>

namespace bulkhead::machine {

namespace {

template <class Change>
void change(std::vector<frames::frame> &all, std::uint64_t base, phys_addr start, byte_count size,
            Change &&one)
{
    constexpr std::uint64_t offset_mask = (std::uint64_t{1} << frames::bits) - 1;
    if (size.value == 0 || start.value + size.value <= base) {
        return;
    }
    const std::uint64_t first = (std::max(start.value, base) - base) >> frames::bits;
    const std::uint64_t end = (start.value + size.value - base + offset_mask) >> frames::bits;
    for (std::uint64_t number = first; number < std::min<std::uint64_t>(end, all.size()); ++number) {
        one(all[number]);
    }
}

} // namespace

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
    change(frames_, base_, start, size, [&](frame &one) { one.owner = owner; });
    for (frames &one : others_) {
        one.set_owner(start, size, owner);
    }
}

void frames::set_shared(phys_addr start, byte_count size, bool shared)
{
    change(frames_, base_, start, size, [&](frame &one) { one.shared = shared; });
    for (frames &one : others_) {
        one.set_shared(start, size, shared);
    }
}

} // namespace bulkhead::machine
