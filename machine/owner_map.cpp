// SPDX-License-Identifier: Apache-2.0
// The checks of an owner map; see the header. Called once, before a run.
#include "machine/owner_map.h"

#include <utility>

namespace bulkhead::machine {

namespace {

std::string describe(const ram_range &range)
{
    return "RAM range of " + std::to_string(range.size.value) + " B at " + std::to_string(range.start.value);
}

bool overlap(const ram_range &one, const ram_range &other)
{
    return one.start.value < other.start.value + other.size.value &&
           other.start.value < one.start.value + one.size.value;
}

} // namespace

result<owner_map> owner_map::make(std::vector<ram_range> ranges, std::vector<std::uint8_t> owners,
                                  std::size_t owner_count)
{
    std::uint64_t frames = 0;
    for (auto range = ranges.begin(); range != ranges.end(); ++range) {
        if (range->size.value == 0 || range->size.value % frame_bytes != 0 ||
            range->start.value % frame_bytes != 0 || range->start.value > ~range->size.value) {
            return refusal{describe(*range) + ": whole frames of 4096 B are needed"};
        }
        if (std::any_of(ranges.begin(), range, [&](const auto &other) { return overlap(*range, other); })) {
            return refusal{describe(*range) + " overlaps another one"};
        }
        frames += range->size.value / frame_bytes;
    }
    if (owners.size() != frames) {
        return refusal{"owners of " + std::to_string(owners.size()) + " frames for RAM of " +
                       std::to_string(frames) + " frames"};
    }
    for (std::size_t frame = 0; frame < owners.size(); ++frame) {
        if (owners[frame] >= owner_count) {
            return refusal{"frame " + std::to_string(frame) + " belongs to owner " +
                           std::to_string(owners[frame]) + " of " + std::to_string(owner_count)};
        }
    }
    return owner_map{std::move(ranges), std::move(owners)};
}

} // namespace bulkhead::machine
