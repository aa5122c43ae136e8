// SPDX-License-Identifier: Apache-2.0
// Decoded code: blocks of instructions that execute one after the other, found by their address, and ended
// when their memory changes.
#pragma once

#include <array>
#include <memory>
#include <unordered_map>
#include <vector>

#include "machine/armv7/code_lines.h"
#include "machine/armv7/decode.h"
#include "machine/armv7/profile.h"

namespace bulkhead::machine::armv7 {

// State that identifies a block at the point of execution.
struct block_place {
    std::uint32_t address = 0;
    std::uint8_t it = 0;
    bool thumb = false;
    bool operator==(const block_place &) const = default;
};

struct block {
    block_place place;
    phys_addr where{};
    std::uint32_t bytes = 0; // from `where` on
    bool cached = true;
    // Physical address of the second half, if the single instruction of the block extends beyond its span of
    // code.
    std::optional<phys_addr> rest;
    code_line *line = nullptr; // line of the first instruction; null: no line needs to be fetched
    std::vector<operation> operations;
    // The interpreter's epoch in which the profile last allowed the block, by privilege (0: unprivileged, 1:
    // privileged).
    std::array<std::uint64_t, 2> allowed_in{};
    // The blocks that followed last: after the last instruction, and at another address. They may have
    // ended, and are then allowed in no epoch.
    std::array<block *, 2> followers{};
    bool ended = false;
};

class blocks {
public:
    // The span of code with the first halfword, and the span in which it continues if the first one does not
    // contain a whole instruction.
    struct code {
        code_span span;
        std::optional<code_span> rest;
    };

    explicit blocks(const core &on, const features &has) : has_(has), lines_(std::make_shared<code_lines>(on))
    {
    }

    // A block at that place whose code has not changed.
    [[nodiscard]] block *find(const block_place &place, const code &of);
    [[nodiscard]] block &decode(const block_place &place, const code &of);
    // Whether the first instruction extends beyond `span`.
    [[nodiscard]] static bool goes_beyond(const code_span &span);

    // Ends the blocks that contain any of these bytes; true: there were some.
    bool end(phys_addr where, std::uint32_t bytes);
    void end_all();
    // Frees the blocks that have ended, which must not be executing.
    void collect();
    [[nodiscard]] bool has_ended_ones() const { return !ended_.empty(); }

    [[nodiscard]] bool in_page(std::uint64_t number) const
    {
        return filter_[number & (filter_size - 1)] != 0;
    }
    [[nodiscard]] const std::shared_ptr<code_lines> &lines() const { return lines_; }
    [[nodiscard]] std::uint64_t decoded() const { return decoded_; }

    static constexpr std::uint64_t page_bits = 12;

private:
    static constexpr std::size_t filter_size = 4096;
    static constexpr std::size_t most_operations = 64;

    [[nodiscard]] static std::uint64_t key_of(const block_place &place)
    {
        return std::uint64_t{place.address} << 9U | std::uint64_t{place.it} << 1U | (place.thumb ? 1 : 0);
    }
    void note_pages(block &one, bool added);
    void end(block &one);

    features has_;
    std::shared_ptr<code_lines> lines_;
    std::unordered_map<std::uint64_t, std::vector<std::unique_ptr<block>>> by_place_;
    std::unordered_map<std::uint64_t, std::vector<block *>> by_page_; // by physical page
    // number of blocks by low bits of the page number
    std::array<std::uint32_t, filter_size> filter_{};
    std::vector<std::unique_ptr<block>> ended_;
    std::uint64_t decoded_ = 0;
};

} // namespace bulkhead::machine::armv7
