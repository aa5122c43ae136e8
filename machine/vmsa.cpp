// SPDX-License-Identifier: Apache-2.0
// Bits of descriptors and of the registers that locate tables; see the header. Names are those of DDI 0487,
// D8.3 and D23.
#include "machine/vmsa.h"

namespace bulkhead::machine::vmsa {

namespace {

constexpr std::uint64_t bit(std::uint32_t number)
{
    return std::uint64_t{1} << number;
}

constexpr std::uint64_t write_back_tables = 1; // of IRGN0 and ORGN0
constexpr std::uint64_t write_back_no_allocate = 3;

// TCR_ELx and VTCR_EL2 have both fields in the same place.
bool tables_cached(std::uint64_t control)
{
    const auto write_back = [](std::uint64_t field) {
        return field == write_back_tables || field == write_back_no_allocate;
    };
    return write_back(control >> 8U & 3U) && write_back(control >> 10U & 3U);
}

constexpr std::uint64_t write_back_memory = 0xFF; // inner and outer, with allocation
constexpr std::uint64_t root_mask = 0x0000'FFFF'FFFF'FFFE;

} // namespace

descriptor decode(std::uint64_t raw, std::uint32_t level)
{
    const bool table_or_page = (raw & bit(1)) != 0;
    if ((raw & bit(0)) == 0 || (!table_or_page && (level == 0 || level == last_level))) {
        return {};
    }
    if (table_or_page && level != last_level) {
        return {descriptor::kind::table, raw & address_mask, 0};
    }
    const std::uint32_t shift = shift_of(level) + ((raw & bit(52)) != 0 ? contiguous_bits : 0);
    return {descriptor::kind::leaf, raw & address_mask & ~(bit(shift) - 1), shift};
}

stage1_attributes stage1_of(std::uint64_t raw, std::uint64_t mair)
{
    const std::uint64_t attributes = mair >> 8U * (raw >> 2U & 7U) & 0xFFU;
    return {.writable = (raw & bit(7)) == 0, // AP[2]
            .global = (raw & bit(11)) == 0,  // nG
            .user = (raw & bit(6)) != 0,     // AP[1]
            .device = (attributes & 0xF0U) == 0,
            .cached = attributes == write_back_memory};
}

stage2_attributes stage2_of(std::uint64_t raw)
{
    return {.readable = (raw & bit(6)) != 0,  // S2AP[0]
            .writable = (raw & bit(7)) != 0,  // S2AP[1]
            .device = (raw >> 4U & 3U) == 0}; // MemAttr[3:2]
}

translation_stage stage2_from(std::uint64_t vttbr, std::uint64_t vtcr)
{
    return {.on = true,
            .root = phys_addr{vttbr & root_mask},
            .input_bits = static_cast<std::uint32_t>(64 - (vtcr & 0x3FU)),
            .start_level = static_cast<std::uint32_t>(2 - (vtcr >> 6U & 3U)), // SL0: 0 level 2 to 2 level 0
            .cached = tables_cached(vtcr)};
}

translation_stage stage1_from(std::uint64_t ttbr0, std::uint64_t tcr)
{
    const auto bits = static_cast<std::uint32_t>(64 - (tcr & 0x3FU));
    return {.on = true,
            .root = phys_addr{ttbr0 & root_mask},
            .input_bits = bits,
            .start_level = bits > 39   ? 0U
                           : bits > 30 ? 1U
                                       : 2U,
            .cached = tables_cached(tcr)};
}

} // namespace bulkhead::machine::vmsa
