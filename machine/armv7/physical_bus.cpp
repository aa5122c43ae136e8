// SPDX-License-Identifier: Apache-2.0
// Searches for memory and devices by address; see the header.
#include "machine/armv7/physical_bus.h"

namespace bulkhead::machine::armv7 {

physical_bus::physical_bus(const ram &memory, std::vector<memory_range> ranges)
{
    for (const memory_range &one : ranges) {
        auto *const host = reinterpret_cast<std::uint8_t *>(memory.bytes(one.first, one.bytes).data());
        pieces_.push_back({one.first.value, one.bytes.value, host});
    }
    last_ = pieces_.data();
}

std::uint8_t *physical_bus::other_memory(std::uint64_t address, std::uint32_t bytes) const
{
    for (const piece &one : pieces_) {
        const std::uint64_t offset = address - one.first;
        if (offset < one.bytes && bytes <= one.bytes - offset) {
            last_ = &one;
            return one.host + offset;
        }
    }
    return nullptr;
}

std::uint64_t physical_bus::memory_left(std::uint64_t address) const
{
    for (const piece &one : pieces_) {
        if (address - one.first < one.bytes) {
            return one.first + one.bytes - address;
        }
    }
    return 0;
}

const physical_bus::device *physical_bus::device_at(std::uint64_t address) const
{
    for (const device &one : devices_) {
        if (address - one.base < one.bytes) {
            return &one;
        }
    }
    return nullptr;
}

} // namespace bulkhead::machine::armv7
