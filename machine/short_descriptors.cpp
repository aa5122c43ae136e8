// SPDX-License-Identifier: Apache-2.0
// Bits of short descriptors and of the related registers; see the header. Names are those of DDI 0406C.
#include "machine/short_descriptors.h"

namespace bulkhead::machine::short_descriptors {

namespace {

using cause = translation_fault::cause;

constexpr std::uint32_t table_type = 1; // of level 1
constexpr std::uint32_t large_type = 1; // of level 2; 2 and 3 are small pages
constexpr std::uint32_t write_back_allocate = 1, write_through = 2, write_back = 3; // 0: not cacheable

constexpr bool bit(std::uint32_t value, std::uint32_t number)
{
    return (value >> number & 1U) != 0;
}

// A Cortex-A9 caches write-back memory only; its L1 does not allocate write-through lines (DDI 0388I, 7.3).
memory_kind normal(std::uint32_t inner, std::uint32_t outer)
{
    if (inner == write_back_allocate || inner == write_back) {
        return memory_kind::cached;
    }
    return outer != 0 ? memory_kind::outer_cached : memory_kind::uncached;
}

// TEX[2:0], C and B as one number of five bits (table B3-10), or TEX[0], C and B remapped by PRRR and NMRR.
memory_kind memory_of(std::uint32_t tex, std::uint32_t cb, const registers &from)
{
    if (from.tex_remap) {
        const std::uint32_t number = (tex & 1U) << 2U | cb;
        const std::uint32_t type = from.prrr >> (2 * number) & 3U;
        return type == 2 ? normal(from.nmrr >> (2 * number) & 3U, from.nmrr >> (2 * number + 16) & 3U)
                         : memory_kind::ordered;
    }
    if ((tex & 4U) != 0) {
        return normal(cb, tex & 3U);
    }
    switch (tex << 2U | cb) {
    case 2: // outer and inner write-through
        return normal(write_through, write_through);
    case 3:
        return normal(write_back, write_back);
    case 4:
        return normal(0, 0);
    case 7:
        return normal(write_back_allocate, write_back_allocate);
    default: // Strongly-ordered, Device, reserved
        return memory_kind::ordered;
    }
}

// AP[2:0] (table B3-8), or AP[2:1] where AP[0] is the access flag (table B3-9).
std::uint8_t rights_of(std::uint32_t ap, bool execute_never, bool access_flag)
{
    constexpr std::uint8_t all_read = attributes::privileged_read | attributes::user_read;
    constexpr std::uint8_t own = attributes::privileged_read | attributes::privileged_write;
    constexpr std::uint8_t by_ap[] = {0,
                                      own,
                                      own | attributes::user_read,
                                      own | all_read | attributes::user_write,
                                      0,
                                      attributes::privileged_read,
                                      all_read,
                                      all_read};
    const std::uint8_t rights = by_ap[access_flag ? ap | 1U : ap];
    return static_cast<std::uint8_t>(rights | (execute_never ? attributes::execute_never : 0));
}

// Positions of the fields in a kind of descriptor.
struct layout {
    std::uint32_t s, tex, xn, apx, ap;
};

std::uint16_t fields_of(std::uint32_t raw, const layout &at)
{
    return static_cast<std::uint16_t>((raw >> at.s & 1U) | (raw >> 2U & 3U) << 1U |
                                      (raw >> at.tex & 7U) << 3U | (raw >> at.xn & 1U) << 6U |
                                      (raw >> at.ap & 3U) << 7U | (raw >> at.apx & 1U) << 9U);
}

constexpr std::uint32_t ap_shift = 7;

descriptor leaf(std::uint64_t output, std::uint32_t shift, bool global, const attributes &says,
                const registers &from)
{
    return {.what = descriptor::kind::leaf,
            .output = output,
            .shift = shift,
            .accessed = !from.access_flag || bit(says.fields, ap_shift),
            .global = global,
            .says = says};
}

} // namespace

attributes attributes_of(std::uint16_t fields, std::uint8_t domain, std::uint8_t level, const registers &from)
{
    return {.rights = rights_of(std::uint32_t{fields} >> ap_shift, bit(fields, 6), from.access_flag),
            .domain = domain,
            .level = level,
            .memory = memory_of(fields >> 3U & 7U, fields >> 1U & 3U, from),
            .fields = fields};
}

descriptor decode_first(std::uint32_t raw, const registers &from)
{
    descriptor made;
    const auto domain = static_cast<std::uint8_t>(raw >> 5U & 0xFU);
    if ((raw & 3U) == table_type) {
        made.what = descriptor::kind::table;
        made.output = raw & 0xFFFFFC00U;
        made.says.domain = domain;
        return made;
    }
    if ((raw & 3U) != 2) { // 3 is a section with PXN, which this core does not have
        return made;
    }
    const bool super = bit(raw, 18);
    const std::uint16_t fields = fields_of(raw, {.s = 16, .tex = 12, .xn = 4, .apx = 15, .ap = 10});
    const std::uint64_t output = super ? (raw & 0xFF000000U) | std::uint64_t{raw >> 20U & 0xFU} << 32U |
                                             std::uint64_t{raw >> 5U & 0xFU} << 36U
                                       : raw & 0xFFF00000U;
    return leaf(output, super ? supersection_shift : section_shift, !bit(raw, 17),
                attributes_of(fields, super ? std::uint8_t{0} : domain, 1, from), from);
}

descriptor decode_second(std::uint32_t raw, const registers &from, std::uint8_t domain)
{
    descriptor made;
    made.says.domain = domain;
    if ((raw & 3U) == 0) {
        return made;
    }
    const bool large = (raw & 3U) == large_type;
    const std::uint32_t shift = large ? large_page_shift : page_shift;
    const std::uint16_t fields =
        fields_of(raw, large ? layout{.s = 10, .tex = 12, .xn = 15, .apx = 9, .ap = 4}
                             : layout{.s = 10, .tex = 6, .xn = 0, .apx = 9, .ap = 4});
    return leaf(raw >> shift << shift, shift, !bit(raw, 11), attributes_of(fields, domain, 2, from), from);
}

root root_of(const registers &from, std::uint32_t address)
{
    const std::uint32_t size = from.ttbcr & 7U;
    const bool upper = size != 0 && address >> (32 - size) != 0;
    const std::uint32_t base = upper ? from.ttbr1 : from.ttbr0;
    const std::uint32_t bits = upper ? 14 : 14 - size; // of the table's size
    const std::uint32_t index = upper ? address >> section_shift : address << size >> (section_shift + size);
    const std::uint32_t inner = (base & 1U) << 1U | (base >> 6U & 1U);
    const memory_kind memory = normal(inner, base >> 3U & 3U);
    const walk_path path = !from.caches || memory == memory_kind::uncached ? walk_path::memory
                           : memory == memory_kind::cached                 ? walk_path::l1
                                                                           : walk_path::l2;
    return {(base >> bits << bits) + std::uint64_t{index} * 4, path, !bit(from.ttbcr, upper ? 5 : 4)};
}

std::optional<translation_fault> refused(const attributes &says, std::uint32_t dacr, access what)
{
    constexpr std::uint32_t client = 1, manager = 3;
    const auto fault = [&](cause why) {
        return translation_fault{why, 1, says.level, false, 0, says.domain};
    };
    const std::uint32_t domain = dacr >> (2U * says.domain) & 3U;
    if (domain == manager) {
        return std::nullopt;
    }
    if (domain != client) {
        return fault(cause::domain);
    }
    const bool writes = what.what == access::kind::write;
    const std::uint8_t needed = what.privileged
                                    ? (writes ? attributes::privileged_write : attributes::privileged_read)
                                    : (writes ? attributes::user_write : attributes::user_read);
    const bool never = what.what == access::kind::fetch && (says.rights & attributes::execute_never) != 0;
    if ((says.rights & needed) == 0 || never) {
        return fault(cause::permission);
    }
    return std::nullopt;
}

std::uint32_t status_of(const translation_fault &fault)
{
    const std::uint32_t second = fault.level == 2 ? 2 : 0;
    const std::uint32_t domain = std::uint32_t{fault.domain} << 4U;
    switch (fault.why) {
    case cause::translation:
        return domain | 5U | second;
    case cause::access_flag:
        return domain | (fault.level == 2 ? 6U : 3U);
    case cause::domain:
        return domain | 9U | second;
    case cause::permission:
        return domain | 0xDU | second;
    case cause::external_walk:
        return domain | 0xCU | second;
    case cause::external:
    case cause::address_size:
        break;
    }
    return 8; // synchronous external abort
}

} // namespace bulkhead::machine::short_descriptors
