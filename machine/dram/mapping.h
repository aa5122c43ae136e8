// SPDX-License-Identifier: Apache-2.0
// Maps physical addresses to places in DRAM: each bit of channel, rank, bank group, bank, row and column is
// one address bit or the exclusive or of several. The mapping is checked to be a bijection between addresses
// and places, so that no two lines share a place and no place is unused.
#pragma once

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
    // bit. Refuses a field whose number of bits does not fit the organization, address bits inside of a burst
    // or beyond the memory, and fields by which two addresses have the same place.
    static result<mapping> make(const organization &shape, const mapping_bits &bits, phys_addr base);

    // The usual order if nothing else is known, from low to high: column, group, bank, channel, rank, row;
    // consecutive lines of one row stay together.
    static mapping_bits row_bank_column(const organization &shape);

    [[nodiscard]] place of(phys_addr address) const { return unpack(packed(address)); }

    // The place packed in one word, for code that stores many.
    [[nodiscard]] std::uint64_t packed(phys_addr address) const
    {
        std::uint64_t left = (address.value - base_) >> burst_bits_;
        const std::uint64_t *part = parts_.data();
        std::uint64_t place = part[left & part_mask_];
#pragma GCC unroll 4
        for (std::uint32_t i = 1; i < part_count; ++i) {
            left >>= part_bits_;
            part += part_mask_ + 1;
            place ^= part[left & part_mask_];
        }
        return place;
    }
    static place unpack(std::uint64_t packed)
    {
        return place{.channel = channel_of(packed),
                     .bank = static_cast<std::uint32_t>(packed >> 8U & 0xff),
                     .row = static_cast<std::uint32_t>(packed >> 32U),
                     .column = static_cast<std::uint32_t>(packed >> 16U & 0xffff)};
    }
    static std::uint32_t channel_of(std::uint64_t packed)
    {
        return static_cast<std::uint32_t>(packed & 0xff);
    }

private:
    static constexpr std::uint32_t part_count = 4;

    mapping(const organization &shape, const mapping_bits &bits, phys_addr base);

    std::uint64_t base_;
    std::uint32_t burst_bits_;
    // A place is a linear function of the address: the exclusive or of one table entry for each part of the
    // address. Parts have equally many bits, from the lowest bits on.
    std::uint32_t part_bits_;
    std::uint64_t part_mask_;
    std::vector<std::uint64_t> parts_;
};

} // namespace bulkhead::machine::dram
