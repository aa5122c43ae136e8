// SPDX-License-Identifier: Apache-2.0
// Size, ways and line size of a cache, and the check that they are consistent. Configuration code makes a
// geometry from a platform's description; caches take only checked ones.
#pragma once

#include "machine/types.h"

namespace bulkhead::machine {

class cache_geometry {
public:
    // Refuses geometries that plain indexing cannot have: a line size or number of sets that is not a power
    // of two, no ways or more than 64, a size that is not ways * sets * line.
    static result<cache_geometry> make(byte_count size, std::uint32_t ways, byte_count line);

    [[nodiscard]] byte_count size() const { return byte_count{std::uint64_t{ways_} * sets_ << line_bits_}; }
    [[nodiscard]] byte_count line() const { return byte_count{std::uint64_t{1} << line_bits_}; }
    [[nodiscard]] std::uint32_t ways() const { return ways_; }
    [[nodiscard]] std::uint32_t sets() const { return sets_; }
    [[nodiscard]] std::uint32_t line_bits() const { return line_bits_; }

    // The set of an address: index bits directly above the line offset.
    [[nodiscard]] std::uint32_t set_of(phys_addr address) const
    {
        return static_cast<std::uint32_t>(address.value >> line_bits_) & (sets_ - 1);
    }

private:
    cache_geometry(std::uint32_t sets, std::uint32_t ways, std::uint32_t line_bits)
        : sets_(sets), ways_(ways), line_bits_(line_bits)
    {
    }

    std::uint32_t sets_;
    std::uint32_t ways_;
    std::uint32_t line_bits_;
};

} // namespace bulkhead::machine
