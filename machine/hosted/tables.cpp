// SPDX-License-Identifier: Apache-2.0
// Walks of translation tables as the architecture describes them; see the header.
#include "machine/hosted/tables.h"

#include <cstring>

namespace bulkhead::machine::hosted {
namespace {

constexpr std::uint64_t valid = 1;
constexpr std::uint64_t table_or_page = 3;
constexpr std::uint64_t address_bits = 0x0000FFFFFFFFF000;
constexpr std::uint32_t last_level = 3;
constexpr std::uint32_t entries = 512;

constexpr std::uint32_t shift_of(std::uint32_t level)
{
    return 12 + 9 * (last_level - level);
}

} // namespace

std::optional<std::uint64_t> descriptor_at(const ram &memory, phys_addr where)
{
    const auto bytes = memory.bytes(where, {sizeof(std::uint64_t)});
    if (bytes.empty()) {
        return std::nullopt;
    }
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}

std::variant<translation, walk_fault> tables::walk(const ram &memory, std::uint64_t input) const
{
    if (input >> input_bits != 0) {
        return walk_fault{0};
    }
    std::uint64_t table = root.value;
    for (std::uint32_t level = start_level;; ++level) {
        const std::uint32_t shift = shift_of(level);
        const std::uint64_t index = level == start_level ? input >> shift : input >> shift & (entries - 1);
        const std::optional<std::uint64_t> found = descriptor_at(memory, phys_addr{table + index * 8});
        if (!found || (*found & valid) == 0 ||
            (level == last_level && (*found & table_or_page) != table_or_page) ||
            (level == 0 && (*found & table_or_page) != table_or_page)) {
            return walk_fault{level};
        }
        if (level == last_level || (*found & table_or_page) != table_or_page) {
            const std::uint64_t size = std::uint64_t{1} << shift;
            const std::uint64_t base = *found & address_bits & ~(size - 1);
            return translation{phys_addr{base | (input & (size - 1))}, size, *found & ~address_bits, level};
        }
        table = *found & address_bits;
    }
}

std::vector<mapping_run> tables::runs(const ram &memory, std::uint64_t first, std::uint64_t bytes) const
{
    std::vector<mapping_run> found;
    std::uint64_t attributes = 0; // of the last run
    const std::uint64_t end = first + bytes;
    for (std::uint64_t at = first; at < end;) {
        const auto answer = walk(memory, at);
        if (const auto *fault = std::get_if<walk_fault>(&answer)) {
            const std::uint64_t size = std::uint64_t{1} << shift_of(fault->level);
            at = fault->level == 0 ? end : (at & ~(size - 1)) + size;
            continue;
        }
        const auto &here = std::get<translation>(answer);
        const std::uint64_t next = std::min(end, (at & ~(here.bytes - 1)) + here.bytes);
        const std::uint64_t size = next - at;
        if (memory.offset_of(here.pa, {size}) != ram::absent) {
            if (!found.empty() && here.attributes == attributes &&
                found.back().ipa + found.back().bytes.value == at &&
                found.back().pa.value + found.back().bytes.value == here.pa.value) {
                found.back().bytes.value += size;
            } else {
                found.push_back({at, here.pa, {size}});
                attributes = here.attributes;
            }
        }
        at = next;
    }
    return found;
}

tables stage2_tables(std::uint64_t vttbr, std::uint64_t vtcr)
{
    const auto bits = static_cast<std::uint32_t>(64 - (vtcr & 0x3F));
    const auto level =
        static_cast<std::uint32_t>(2 - (vtcr >> 6 & 3)); // SL0: 0 level 2, 1 level 1, 2 level 0
    return {phys_addr{vttbr & 0x0000FFFFFFFFFFFE}, level, bits};
}

tables el2_tables(std::uint64_t ttbr0, std::uint64_t tcr)
{
    const auto bits = static_cast<std::uint32_t>(64 - (tcr & 0x3F));
    const std::uint32_t level = bits > 39 ? 0 : bits > 30 ? 1 : 2;
    return {phys_addr{ttbr0 & 0x0000FFFFFFFFFFFE}, level, bits};
}

bool stage1_writable(std::uint64_t attributes)
{
    return (attributes >> 7 & 1) == 0;
}

bool stage1_cached(std::uint64_t attributes, std::uint64_t mair)
{
    constexpr std::uint64_t write_back = 0xFF; // inner and outer, with allocation
    return (mair >> (attributes >> 2 & 7) * 8 & 0xFF) == write_back;
}

bool stage2_writable(std::uint64_t attributes)
{
    return (attributes >> 7 & 1) != 0;
}

// DDI 0487, D8.6, rules R_VRJSW and R_RHWZM: without FWB the more restrictive stage decides.
stage2_caching stage2_cached(std::uint64_t attributes, bool force)
{
    constexpr std::uint64_t write_back = 0xF;
    constexpr std::uint64_t forced_write_back = 0x6;
    constexpr std::uint64_t forced_as_stage1 = 0x7;
    const std::uint64_t kind = attributes >> 2 & 0xF;
    if (kind == (force ? forced_as_stage1 : write_back)) {
        return stage2_caching::as_stage1;
    }
    return force && kind == forced_write_back ? stage2_caching::always : stage2_caching::never;
}

} // namespace bulkhead::machine::hosted
