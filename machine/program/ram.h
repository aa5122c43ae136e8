// SPDX-License-Identifier: Apache-2.0
// The bytes of simulated physical memory: one memory file, which windows map piece by piece, and which the
// machine itself (DMA, walks of translation tables, loaders) accesses through its own mapping. It knows
// neither times nor owners.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "machine/types.h"

namespace bulkhead::machine {

inline constexpr std::uint64_t page_bytes = 4096;

struct memory_range {
    phys_addr first;
    byte_count bytes;
};

class ram {
public:
    // Refuses ranges that are empty, overlap, or are not whole pages. Memory is zero until it is written, and
    // uses no host memory until then.
    static result<ram> make(std::span<const memory_range> ranges);

    ram(ram &&other) noexcept;
    ram &operator=(ram &&other) noexcept;
    ~ram();

    // The machine's own mapping of a range; empty if part of it is not memory.
    [[nodiscard]] std::span<std::byte> bytes(phys_addr first, byte_count count) const;

    // Offset of a range in the file; `absent` if it is not completely in one piece of memory.
    static constexpr std::uint64_t absent = ~std::uint64_t{0};
    [[nodiscard]] std::uint64_t offset_of(phys_addr first, byte_count count) const;
    [[nodiscard]] int file() const { return file_; }

private:
    struct piece {
        memory_range range;
        std::uint64_t offset;
    };

    ram(int file, std::byte *mapping, std::uint64_t size, std::vector<piece> pieces);

    int file_;
    std::byte *mapping_;
    std::uint64_t size_;
    std::vector<piece> pieces_;
};

} // namespace bulkhead::machine
