// SPDX-License-Identifier: Apache-2.0
// A record is a byte of kind (bit 0), size (bits 1 to 3) and gap (bits 4 to 7; 15: more follows), then, if it
// follows, the rest of the gap, then the distance from the last address of the same kind, zigzag; both as
// variable length integers of 7 bits a byte.
#include "machine/trace/format.h"

namespace bulkhead::machine::trace {

namespace {

constexpr std::uint8_t more = 0x80;
constexpr unsigned gap_shift = 4;
constexpr unsigned bits_per_byte = 7;

void append_varint(bytes &to, std::uint64_t value)
{
    for (; value >= more; value >>= bits_per_byte) {
        to.push_back(static_cast<std::uint8_t>(value | more));
    }
    to.push_back(static_cast<std::uint8_t>(value));
}

std::uint64_t zigzag(std::uint64_t difference)
{
    return difference << 1 ^ (0 - (difference >> 63));
}

std::uint64_t unzigzag(std::uint64_t value)
{
    return value >> 1 ^ (0 - (value & 1));
}

// Reads from the front of what is left. After the first byte that is missing or wrong, `good` is false.
struct cursor {
    std::span<const std::uint8_t> left;
    bool good = true;

    std::uint8_t next_byte()
    {
        if (left.empty()) {
            good = false;
            return 0;
        }
        const std::uint8_t byte = left.front();
        left = left.subspan(1);
        return byte;
    }

    std::uint64_t next_varint()
    {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += bits_per_byte) {
            const std::uint8_t byte = next_byte();
            const std::uint64_t part = byte & (more - 1U);
            good = good && part << shift >> shift == part;
            value |= part << shift;
            if ((byte & more) == 0) {
                return value;
            }
        }
        good = false;
        return 0;
    }
};

} // namespace

void append_u32(bytes &to, std::uint32_t value)
{
    for (unsigned shift = 0; shift < 32; shift += 8) {
        to.push_back(static_cast<std::uint8_t>(value >> shift));
    }
}

void append_u64(bytes &to, std::uint64_t value)
{
    append_u32(to, static_cast<std::uint32_t>(value));
    append_u32(to, static_cast<std::uint32_t>(value >> 32));
}

std::uint32_t read_u32(std::span<const std::uint8_t> from, std::size_t offset)
{
    std::uint32_t value = 0;
    for (unsigned byte = 0; byte < 4; ++byte) {
        value |= static_cast<std::uint32_t>(from[offset + byte]) << 8 * byte;
    }
    return value;
}

std::uint64_t read_u64(std::span<const std::uint8_t> from, std::size_t offset)
{
    return read_u32(from, offset) | static_cast<std::uint64_t>(read_u32(from, offset + 4)) << 32;
}

void encode(std::span<const record> records, bytes &to)
{
    std::array<std::uint64_t, 2> last{};
    for (const record &each : records) {
        const bool is_write = each.kind == access_kind::write;
        const std::uint64_t gap = each.instructions < inline_gaps ? each.instructions : inline_gaps;
        to.push_back(static_cast<std::uint8_t>((is_write ? 1U : 0U) | unsigned{each.size_log2} << 1U |
                                               gap << gap_shift));
        if (gap == inline_gaps) {
            append_varint(to, each.instructions - inline_gaps);
        }
        append_varint(to, zigzag(each.address - last[is_write]));
        last[is_write] = each.address;
    }
}

result<std::vector<record>> decode(std::span<const std::uint8_t> from, std::size_t count)
{
    std::vector<record> records(count);
    std::array<std::uint64_t, 2> last{};
    cursor at{from};
    for (record &each : records) {
        const std::uint8_t first = at.next_byte();
        const bool is_write = (first & 1) != 0;
        each.kind = is_write ? access_kind::write : access_kind::read;
        each.size_log2 = first >> 1 & 7;
        each.instructions = first >> gap_shift;
        if (each.instructions == inline_gaps) {
            each.instructions += at.next_varint();
        }
        last[is_write] += unzigzag(at.next_varint());
        each.address = last[is_write];
        if (!at.good || each.size_log2 > most_size_log2) {
            return refusal{"a record is none"};
        }
    }
    if (!at.left.empty()) {
        return refusal{"a block holds more than its records"};
    }
    return records;
}

} // namespace bulkhead::machine::trace
