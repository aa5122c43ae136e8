// SPDX-License-Identifier: Apache-2.0
// The text of an instrumented program as its core fetches it: a sequence of basic blocks, each as long as the
// target's instructions that it stands for (the host's instructions differ and are more). Each block has a
// word with a bit for each core that must fetch it before executing it. The code itself tests the word
// (scripts/instrument/fetches.py), so that code that stays in L1I costs nothing. An image has the blocks, an
// instance the words.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "machine/fetch_unit.h"

namespace bulkhead::machine {

// Offsets of blocks, from their numbers of instructions.
class text_blocks {
public:
    static constexpr std::uint64_t instruction_bytes = 4;

    text_blocks() = default;
    explicit text_blocks(std::span<const std::uint32_t> instructions);

    [[nodiscard]] std::size_t count() const { return begins_.size() - 1; }
    [[nodiscard]] std::uint64_t bytes() const { return begins_.back(); }
    [[nodiscard]] std::uint64_t begin(std::size_t block) const { return begins_[block]; }
    [[nodiscard]] std::uint64_t end(std::size_t block) const { return begins_[block + 1]; }
    // The first block that ends after an offset.
    [[nodiscard]] std::size_t block_at(std::uint64_t offset) const;

private:
    std::vector<std::uint64_t> begins_{0}; // ends with the end of the last block
};

class program_text final : public fetched_text {
public:
    // `missing`: a word for each block, in the program's linkage; must outlive the use of the text. `first`:
    // address of the first block in the window, page-aligned.
    program_text(const text_blocks &blocks, std::uint16_t *missing, std::uint64_t first)
        : blocks_(blocks), missing_(missing), first_(first)
    {
    }

    void left(std::uint64_t core_bit, std::uint64_t offset, std::uint64_t bytes) override;

    // A core is about to execute the block of this word: returns its part of the text, and marks the block as
    // fetched by the core.
    struct part {
        std::uint64_t begin;
        std::uint64_t end;
    };
    part entered(std::uint16_t *missing, std::uint64_t core_bit);
    [[nodiscard]] std::uint64_t address_of(std::uint64_t offset) const { return first_ + offset; }

private:
    const text_blocks &blocks_;
    std::uint16_t *missing_;
    std::uint64_t first_;
};

} // namespace bulkhead::machine
