// SPDX-License-Identifier: Apache-2.0
// Which blocks are in a line, and which cores must fetch them; see the header.
#include "machine/program/program_text.h"

#include <algorithm>

namespace bulkhead::machine {

text_blocks::text_blocks(std::span<const std::uint32_t> instructions)
{
    begins_.reserve(instructions.size() + 1);
    for (const std::uint32_t each : instructions) {
        begins_.push_back(begins_.back() + each * instruction_bytes);
    }
}

std::size_t text_blocks::block_at(std::uint64_t offset) const
{
    const auto after = std::ranges::upper_bound(begins_, offset);
    return static_cast<std::size_t>(after - begins_.begin()) - 1;
}

void program_text::left(std::uint64_t core_bit, std::uint64_t offset, std::uint64_t bytes)
{
    offset -= first_;
    for (std::size_t i = blocks_.block_at(offset); i < blocks_.count() && blocks_.begin(i) < offset + bytes;
         ++i) {
        missing_[i] = static_cast<std::uint16_t>(missing_[i] | core_bit);
    }
}

// The bit is cleared first: fetching the line may evict lines of the block itself, which sets the bit again.
program_text::part program_text::entered(std::uint16_t *missing, std::uint64_t core_bit)
{
    const std::ptrdiff_t number = missing - missing_;
    if (number < 0 || static_cast<std::size_t>(number) >= blocks_.count()) {
        return {0, 0};
    }
    const auto block = static_cast<std::size_t>(number);
    *missing = static_cast<std::uint16_t>(*missing & ~core_bit);
    return {blocks_.begin(block), blocks_.end(block)};
}

} // namespace bulkhead::machine
