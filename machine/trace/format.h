// SPDX-License-Identifier: Apache-2.0
// The format of a recorded trace, in memory and in the file (docs/guide/traces.md describes the layout).
// Writer and reader include this; no other code may use the numbers. All integers in the file are
// little-endian.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "machine/types.h"

namespace bulkhead::machine::trace {

// One data access. `instructions` counts from the instruction of the previous record to this one's: 0 if both
// belong to one instruction, 1 if it is the next instruction. Addresses are virtual.
struct record {
    std::uint64_t address = 0;
    std::uint64_t instructions = 0;
    access_kind kind = access_kind::read;
    std::uint8_t size_log2 = 0; // up to most_size_log2
    auto operator<=>(const record &) const = default;
};

// Totals of a whole trace. `instructions` includes those after the last access.
struct totals {
    std::uint64_t records = 0;
    std::uint64_t instructions = 0;
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
    auto operator<=>(const totals &) const = default;
};

inline constexpr std::array<char, 8> magic{'B', 'H', 'T', 'R', 'A', 'C', 'E', '\n'};
inline constexpr std::uint32_t version = 1;
inline constexpr std::uint32_t block_tag = 0x314B4C42; // "BLK1"
inline constexpr std::uint32_t end_tag = 0x31444E45;   // "END1"
inline constexpr std::size_t header_bytes = 16;        // before the description; a CRC follows the
                                                       // description
inline constexpr std::size_t block_header_bytes = 20;
inline constexpr std::size_t end_bytes = 44;
inline constexpr std::size_t crc_bytes = 4;
inline constexpr std::size_t most_description_bytes = 65536;
inline constexpr std::size_t block_records = 65536;
inline constexpr std::uint8_t most_size_log2 = 6;
inline constexpr std::uint64_t inline_gaps = 15; // smaller gaps are stored in the first byte of a record
inline constexpr std::size_t most_record_bytes = 1 + 10 + 10;

using bytes = std::vector<std::uint8_t>;

void append_u32(bytes &to, std::uint32_t value);
void append_u64(bytes &to, std::uint64_t value);
[[nodiscard]] std::uint32_t read_u32(std::span<const std::uint8_t> from, std::size_t offset);
[[nodiscard]] std::uint64_t read_u64(std::span<const std::uint8_t> from, std::size_t offset);

// Encodes the records of a block, each relative to the previous one; blocks are independent of each other.
void encode(std::span<const record> records, bytes &to);

// The reverse; refuses data that encode() does not write.
[[nodiscard]] result<std::vector<record>> decode(std::span<const std::uint8_t> from, std::size_t count);

} // namespace bulkhead::machine::trace
