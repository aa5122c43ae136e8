// SPDX-License-Identifier: Apache-2.0
// The text of an instrumented program as its core fetches it: basic block after basic block, each as long as
// the target's instructions are that it stands for (the host's are others, and more). Each block has a word
// with a bit for each core that must fetch it before it executes; the code itself looks at the word
// (scripts/instrument/fetches.py), so that what stays in L1I costs nothing. An image knows its blocks, an
// instance has the words.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "machine/fetch_unit.h"

namespace bulkhead::machine {

// Where blocks are, by their instructions.
class text_blocks {
public:
    static constexpr std::uint64_t instruction_bytes = 4;

    text_blocks() = default;
    explicit text_blocks(std::span<const std::uint32_t> instructions);

    [[nodiscard]] std::size_t count() const { return begins_.size() - 1; }
    [[nodiscard]] std::uint64_t bytes() const { return begins_.back(); }
    [[nodiscard]] std::uint64_t begin(std::size_t block) const { return begins_[block]; }
    [[nodiscard]] std::uint64_t end(std::size_t block) const { return begins_[block + 1]; }
    // The first block that ends behind an offset.
    [[nodiscard]] std::size_t block_at(std::uint64_t offset) const;

private:
    std::vector<std::uint64_t> begins_{0}; // and where the last one ends
};

class program_text final : public fetched_text {
public:
    // `missing`: a word for each block, of the program's linkage; it must outlive the text's use. `first`:
    // address of the first block in the window, a whole page.
    program_text(const text_blocks &blocks, std::uint16_t *missing, std::uint64_t first)
        : blocks_(blocks), missing_(missing), first_(first)
    {
    }

    void left(std::uint64_t core_bit, std::uint64_t offset, std::uint64_t bytes) override;

    // A core is about to execute the block of this word: which part of the text it is, and that the core has
    // it from now on.
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
