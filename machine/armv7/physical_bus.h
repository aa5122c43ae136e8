// SPDX-License-Identifier: Apache-2.0
// The contents of physical addresses of a 32-bit board: bytes of memory, or registers of a device. Both
// profiles use it after translation and checks. It knows no time: the accessing code charges the core.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "machine/program/ram.h"

namespace bulkhead::machine::armv7 {

class physical_bus {
public:
    // Registers of 32 bits by offset. A narrower access accesses the whole register; for a write, the other
    // bytes are zero.
    struct device {
        std::uint64_t base = 0;
        std::uint64_t bytes = 0;
        std::function<std::uint32_t(std::uint32_t offset)> read;
        std::function<void(std::uint32_t offset, std::uint32_t value)> write;
    };

    // `memory` must outlive it; `ranges`: those that `memory` was made from.
    physical_bus(const ram &memory, std::vector<memory_range> ranges);
    physical_bus(const physical_bus &) = delete;
    physical_bus &operator=(const physical_bus &) = delete;

    void add(device one) { devices_.push_back(std::move(one)); }

    // Host address of the bytes; null: not all of them are memory.
    [[nodiscard]] std::uint8_t *memory(std::uint64_t address, std::uint32_t bytes) const
    {
        const std::uint64_t offset = address - last_->first;
        if (offset < last_->bytes && bytes <= last_->bytes - offset) [[likely]] {
            return last_->host + offset;
        }
        return other_memory(address, bytes);
    }
    // Bytes of memory from `address` to the end of its range; 0: it is not memory.
    [[nodiscard]] std::uint64_t memory_left(std::uint64_t address) const;
    [[nodiscard]] const device *device_at(std::uint64_t address) const;

private:
    struct piece {
        std::uint64_t first;
        std::uint64_t bytes;
        std::uint8_t *host;
    };

    [[nodiscard]] std::uint8_t *other_memory(std::uint64_t address, std::uint32_t bytes) const;

    std::vector<piece> pieces_;
    mutable const piece *last_; // piece of the last access
    std::vector<device> devices_;
};

} // namespace bulkhead::machine::armv7
