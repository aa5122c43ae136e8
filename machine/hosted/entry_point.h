// SPDX-License-Identifier: Apache-2.0
// At the address where a core would fetch its first instruction, hosted programs have a record in their data:
// a mark, and the distance from the record to a function of the image (guests/arch/hosted/start.c,
// hypervisor/arch/hosted/entry.c). The record is read from simulated memory, like an instruction, so a
// program that was not loaded is not entered.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace bulkhead::machine::hosted {

inline constexpr std::uint64_t entry_point_bytes = 16;
inline constexpr std::uint64_t entry_point_alignment = 16;

// The distance from the record to the function; nothing if these 16 bytes are not a record.
inline std::optional<std::int64_t> entry_point_distance(std::span<const std::byte> record)
{
    constexpr std::array<char, 8> mark = {'H', 'O', 'S', 'T', 'E', 'D', '-', '>'};
    if (record.size() != entry_point_bytes || std::memcmp(record.data(), mark.data(), mark.size()) != 0) {
        return std::nullopt;
    }
    std::int64_t distance = 0;
    std::memcpy(&distance, record.data() + mark.size(), sizeof distance);
    return distance + static_cast<std::int64_t>(mark.size()); // it is stored relative to its own position
}

} // namespace bulkhead::machine::hosted
