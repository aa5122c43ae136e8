// SPDX-License-Identifier: Apache-2.0
// Which DRAM place a physical address is: each bit of channel, rank, bank group, bank, row and column is one
// address bit or the exclusive or of several. Checked to be a bijection between addresses and places, so that
// no two lines share a place and no place is lost; it never looks at the contents.
#pragma once

#include <array>
#include <bit>
#include <vector>

#include "machine/dram/organization.h"

namespace bulkhead::machine::dram {

// Bit i of a field is the parity of (address & masks[i]).
using bit_masks = std::vector<std::uint64_t>;

struct mapping_bits {
    bit_masks channel, rank, group, bank, row, column;
};

class mapping {
public:
    // `base`: address of the first byte of DRAM, a multiple of the DRAM's size rounded to its lowest used
    // bit. Refuses a field whose number of bits does not fit the shape, address bits inside of a burst or
    // beyond the memory, and bits used twice so that two addresses meet.
    static result<mapping> make(const organization &shape, const mapping_bits &bits, phys_addr base);

    // The usual order where nothing else is known, from low to high: column, group, bank, channel, rank, row;
    // consecutive lines of one row stay together.
    static mapping_bits row_bank_column(const organization &shape);

    [[nodiscard]] place of(phys_addr address) const
    {
        const std::uint64_t offset = address.value - base_;
        return place{.channel = gather(channel_, offset),
                     .bank = gather(bank_, offset),
                     .row = gather(row_, offset),
                     .column = gather(column_, offset)};
    }

private:
    // A run of neighbouring address bits that becomes a run of neighbouring field bits.
    struct run {
        std::uint64_t mask;
        std::uint32_t right;
        std::uint32_t left;
    };
    struct parity {
        std::uint64_t mask;
        std::uint32_t left;
    };
    struct field {
        std::vector<run> runs;
        std::vector<parity> parities;
    };

    static field compile(const bit_masks &masks);

    static std::uint32_t gather(const field &field, std::uint64_t offset)
    {
        std::uint64_t value = 0;
        for (const run &run : field.runs) {
            value |= ((offset & run.mask) >> run.right) << run.left;
        }
        for (const parity &parity : field.parities) {
            value |= static_cast<std::uint64_t>(std::popcount(offset & parity.mask) & 1) << parity.left;
        }
        return static_cast<std::uint32_t>(value);
    }

    mapping(const mapping_bits &bits, phys_addr base);

    std::uint64_t base_;
    field channel_, bank_, row_, column_;
};

} // namespace bulkhead::machine::dram
