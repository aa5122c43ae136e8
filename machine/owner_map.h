// SPDX-License-Identifier: Apache-2.0
// The owner of each 4 KiB frame of physical memory: ranges of RAM in a given order, and one byte per frame
// over all of them. The planner writes these maps; the observer and the simulated machine look up owners in
// them. A map never changes during a run.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "machine/types.h"

namespace bulkhead::machine {

inline constexpr std::uint64_t frame_bytes = 4096;

struct ram_range {
    phys_addr start;
    byte_count size;
};

class owner_map {
public:
    // Refuses unaligned, empty and overlapping ranges, a list of owners whose length is not the number of
    // frames, and owner ids that are not below `owner_count`.
    static result<owner_map> make(std::vector<ram_range> ranges, std::vector<std::uint8_t> owners,
                                  std::size_t owner_count);

    // The position of an address when all ranges are placed one after the other; nothing if it is outside of
    // RAM.
    [[nodiscard]] std::optional<std::uint64_t> offset_of(phys_addr address) const
    {
        std::uint64_t before = 0;
        for (const ram_range &range : ranges_) {
            const std::uint64_t within = address.value - range.start.value;
            if (within < range.size.value) {
                return before + within;
            }
            before += range.size.value;
        }
        return std::nullopt;
    }

    [[nodiscard]] std::optional<phys_addr> address_at(std::uint64_t offset) const
    {
        for (const ram_range &range : ranges_) {
            if (offset < range.size.value) {
                return phys_addr{range.start.value + offset};
            }
            offset -= range.size.value;
        }
        return std::nullopt;
    }

    [[nodiscard]] std::optional<owner_id> owner_of(phys_addr address) const
    {
        const std::optional<std::uint64_t> offset = offset_of(address);
        return offset ? std::optional(owner_id{owners_[*offset / frame_bytes]}) : std::nullopt;
    }

private:
    owner_map(std::vector<ram_range> ranges, std::vector<std::uint8_t> owners)
        : ranges_(std::move(ranges)), owners_(std::move(owners))
    {
    }

    std::vector<ram_range> ranges_;
    std::vector<std::uint8_t> owners_;
};

} // namespace bulkhead::machine
