// SPDX-License-Identifier: Apache-2.0
// The architecture's tables; see the header.
#include "machine/armv7/m_profile/memory_map.h"

#include <array>

namespace bulkhead::machine::armv7::m_profile {
namespace {

constexpr memory_attributes cached{memory_type::normal, true};
constexpr memory_attributes device{memory_type::device, false};
constexpr memory_attributes strongly_ordered{memory_type::strongly_ordered, false};

constexpr permissions all{true, true, true, true, true};
constexpr permissions never_executed{true, true, true, true, false};

struct part {
    std::uint32_t last;
    memory_attributes attributes;
    permissions rights;
};

// Write-through and write-back memory are alike here: both are cacheable.
constexpr std::array map{
    part{0x1FFFFFFF, cached, all},                      // Code
    part{0x3FFFFFFF, cached, all},                      // SRAM
    part{0x5FFFFFFF, device, never_executed},           // Peripheral
    part{0x9FFFFFFF, cached, all},                      // RAM
    part{0xDFFFFFFF, device, never_executed},           // Device
    part{0xE00FFFFF, strongly_ordered, never_executed}, // private peripheral bus
    part{0xFFFFFFFF, device, never_executed},           // vendor's system space
};

} // namespace

answered_span default_map(std::uint32_t address)
{
    std::uint32_t first = 0;
    for (const part &one : map) {
        if (address <= one.last) {
            return {first, one.last, true, one.attributes, one.rights};
        }
        first = one.last + 1;
    }
    return {}; // not reached: the last part ends with the address space
}

permissions permissions_of(std::uint32_t ap, bool execute_never)
{
    constexpr std::array<permissions, 8> table{{
        {},
        {.privileged_read = true, .privileged_write = true},
        {.privileged_read = true, .privileged_write = true, .unprivileged_read = true},
        {.privileged_read = true,
         .privileged_write = true,
         .unprivileged_read = true,
         .unprivileged_write = true},
        {}, // reserved
        {.privileged_read = true},
        {.privileged_read = true, .unprivileged_read = true},
        {.privileged_read = true, .unprivileged_read = true},
    }};
    permissions rights = table[ap & 7U];
    rights.execute = !execute_never;
    return rights;
}

memory_attributes attributes_of(std::uint32_t tex, bool c, bool b)
{
    if ((tex & 4U) != 0) { // inner policy in C and B, outer in TEX[1:0]
        return {memory_type::normal, c || b};
    }
    const std::uint32_t encoding = tex << 2U | (c ? 2U : 0) | (b ? 1U : 0);
    switch (encoding) {
    case 1: // shareable Device
    case 8: // non-shareable Device
        return device;
    case 2: // write-through
    case 3: // write-back
    case 7: // write-back, write and read allocate
        return cached;
    case 4: // non-cacheable
        return {memory_type::normal, false};
    default:
        return strongly_ordered;
    }
}

} // namespace bulkhead::machine::armv7::m_profile
