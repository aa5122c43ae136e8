// SPDX-License-Identifier: Apache-2.0
// Changes of ranges of frames; see the header.
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

void frames::set_owner(phys_addr start, byte_count size, owner_id owner)
{
    change(frames_, base_, start, size, [&](frame &one) { one.owner = owner; });
}

void frames::set_shared(phys_addr start, byte_count size, bool shared)
{
    change(frames_, base_, start, size, [&](frame &one) { one.shared = shared; });
}

} // namespace bulkhead::machine
