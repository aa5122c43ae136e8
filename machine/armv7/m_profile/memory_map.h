// SPDX-License-Identifier: Apache-2.0
// The default memory map of Armv7-M, without an MPU (Arm DDI 0403E.e B3.1, table B3-1), and the encoding of a
// region's attributes (B3.5.9, table B3-13). Plain functions that know no core.
#pragma once

#include <cstdint>

namespace bulkhead::machine::armv7::m_profile {

enum class memory_type : std::uint8_t { normal, device, strongly_ordered };

struct memory_attributes {
    memory_type type = memory_type::normal;
    bool cacheable = false; // Normal memory: the core's own caches may hold it
    bool operator==(const memory_attributes &) const = default;
};

// Permitted accesses. Execution also needs the right to read, which is not contained in `execute`.
struct permissions {
    bool privileged_read = false;
    bool privileged_write = false;
    bool unprivileged_read = false;
    bool unprivileged_write = false;
    bool execute = false;
    bool operator==(const permissions &) const = default;

    [[nodiscard]] bool allow(bool privileged, bool write) const
    {
        return privileged ? (write ? privileged_write : privileged_read)
                          : (write ? unprivileged_write : unprivileged_read);
    }
    [[nodiscard]] bool allow_fetch(bool privileged) const { return execute && allow(privileged, false); }
};

// Addresses from `first` to `last`, which all have the same answer.
struct answered_span {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    bool mapped = false; // false: no region and no background map: every access faults
    memory_attributes attributes{};
    permissions rights{};
};

// The private peripheral bus, to which the MPU does not apply.
[[nodiscard]] constexpr bool is_private_bus(std::uint32_t address)
{
    return address >> 20U == 0xE00;
}
// System space is never executable, whatever a region's attributes are.
[[nodiscard]] constexpr bool is_system_space(std::uint32_t address)
{
    return address >> 29U == 7;
}

// The answer of the default memory map.
[[nodiscard]] answered_span default_map(std::uint32_t address);

// AP[2:0] and XN of MPU_RASR. A reserved AP allows nothing.
[[nodiscard]] permissions permissions_of(std::uint32_t ap, bool execute_never);
// TEX[2:0], C and B of MPU_RASR. Reserved encodings are treated as Strongly-ordered memory.
[[nodiscard]] memory_attributes attributes_of(std::uint32_t tex, bool c, bool b);

} // namespace bulkhead::machine::armv7::m_profile
