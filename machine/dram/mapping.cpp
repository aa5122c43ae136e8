// SPDX-License-Identifier: Apache-2.0
// Checks and prepares an address mapping; see the header. Called once, before a run.
#include "machine/dram/mapping.h"

#include <algorithm>
#include <array>

namespace bulkhead::machine::dram {

namespace {

std::uint32_t bits_for(std::uint64_t count)
{
    return static_cast<std::uint32_t>(std::countr_zero(count));
}

// The masks of all fields, lowest first.
bit_masks joined(std::initializer_list<const bit_masks *> fields)
{
    bit_masks all;
    for (const bit_masks *field : fields) {
        all.insert(all.end(), field->begin(), field->end());
    }
    return all;
}

// Gauss elimination over GF(2): whether no mask is the exclusive or of others.
bool independent(bit_masks masks)
{
    for (std::size_t i = 0; i < masks.size(); ++i) {
        if (masks[i] == 0) {
            return false;
        }
        const std::uint64_t pivot = masks[i] & (~masks[i] + 1);
        for (std::size_t j = i + 1; j < masks.size(); ++j) {
            if ((masks[j] & pivot) != 0) {
                masks[j] ^= masks[i];
            }
        }
    }
    return true;
}

} // namespace

result<mapping> mapping::make(const organization &shape, const mapping_bits &bits, phys_addr base)
{
    const organization::counts &counts = shape.of();
    struct expected {
        const char *name;
        const bit_masks &masks;
        std::uint64_t count;
    };
    const std::array<expected, 6> fields{{{"channel", bits.channel, counts.channels},
                                          {"rank", bits.rank, counts.ranks},
                                          {"bank group", bits.group, counts.groups},
                                          {"bank", bits.bank, counts.banks},
                                          {"row", bits.row, counts.rows},
                                          {"column", bits.column, counts.columns}}};
    const std::uint64_t usable = (shape.size().value - 1) & ~(counts.burst.value - 1);
    for (const expected &field : fields) {
        if (field.masks.size() != bits_for(field.count)) {
            return refusal{std::string(field.name) + ": " + std::to_string(field.masks.size()) +
                           " address bits given, " + std::to_string(bits_for(field.count)) + " needed for " +
                           std::to_string(field.count)};
        }
        for (const std::uint64_t mask : field.masks) {
            if ((mask & ~usable) != 0) {
                return refusal{std::string(field.name) + ": address bit " +
                               std::to_string(std::countr_zero(mask & ~usable)) +
                               " is inside of a burst or beyond the memory"};
            }
        }
    }
    if (!independent(joined({&bits.channel, &bits.rank, &bits.group, &bits.bank, &bits.row, &bits.column}))) {
        return refusal{"an address bit is used twice: two addresses would be at one place"};
    }
    return mapping{shape, bits, base};
}

mapping_bits mapping::row_bank_column(const organization &shape)
{
    const organization::counts &counts = shape.of();
    std::uint32_t next = bits_for(counts.burst.value);
    const auto take = [&next](std::uint64_t count) {
        bit_masks masks;
        for (std::uint32_t i = 0; i < bits_for(count); ++i) {
            masks.push_back(std::uint64_t{1} << (next++ % 64));
        }
        return masks;
    };
    mapping_bits bits;
    bits.column = take(counts.columns);
    bits.group = take(counts.groups);
    bits.bank = take(counts.banks);
    bits.channel = take(counts.channels);
    bits.rank = take(counts.ranks);
    bits.row = take(counts.rows);
    return bits;
}

mapping::mapping(const organization &shape, const mapping_bits &bits, phys_addr base)
    : base_(base.value), burst_bits_(bits_for(shape.of().burst.value)),
      part_bits_((bits_for(shape.size().value) - burst_bits_ + part_count - 1) / part_count),
      part_mask_((std::uint64_t{1} << part_bits_) - 1)
{
    struct packed_field {
        bit_masks masks;
        std::uint32_t at; // in the packed position
    };
    const std::array<packed_field, 4> fields{{{bits.channel, 0},
                                              {joined({&bits.bank, &bits.group, &bits.rank}), 8},
                                              {bits.column, 16},
                                              {bits.row, 32}}};
    const auto place_of = [&fields](std::uint64_t offset) {
        std::uint64_t packed = 0;
        for (const packed_field &field : fields) {
            for (std::size_t i = 0; i < field.masks.size(); ++i) {
                const auto parity = static_cast<std::uint64_t>(std::popcount(offset & field.masks[i]) & 1);
                packed |= parity << (field.at + i);
            }
        }
        return packed;
    };
    for (std::uint32_t part = 0; part < part_count; ++part) {
        for (std::uint64_t value = 0; value <= part_mask_; ++value) {
            parts_.push_back(place_of(value << part * part_bits_ << burst_bits_));
        }
    }
}

} // namespace bulkhead::machine::dram
