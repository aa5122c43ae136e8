// SPDX-License-Identifier: Apache-2.0
// Says quickly that no entry of a fully associative cache of translations has an address, which is the answer
// to most lookups that the last translation did not serve. It counts the entries by a hash of the part of the
// address that they translate. A count of zero is certain; another one means that the entries must be
// searched. The cache (machine/tlb.h) tells it of each entry that comes and goes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace bulkhead::machine {

class translation_filter {
public:
    // `shift`: log2 of the number of addresses that an entry translates; below 64.
    [[nodiscard]] bool none(std::uint64_t address, std::uint32_t shift) const
    {
        return counts_[slot(address >> shift)] == 0;
    }
    void came(std::uint64_t address, std::uint32_t shift) { ++counts_[slot(address >> shift)]; }
    void gone(std::uint64_t address, std::uint32_t shift) { --counts_[slot(address >> shift)]; }

private:
    static constexpr std::uint32_t slot_bits = 7; // many times the entries of a first-level TLB

    static std::size_t slot(std::uint64_t number) { return number * 0x9E3779B97F4A7C15U >> (64 - slot_bits); }

    std::array<std::uint32_t, std::size_t{1} << slot_bits> counts_{};
};

} // namespace bulkhead::machine
