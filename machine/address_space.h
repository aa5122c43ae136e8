// SPDX-License-Identifier: Apache-2.0
// Builds a program's translation tables as its operating system and a hypervisor would write them, for front
// ends that have neither. Stage 1 maps what the program sees in the largest possible blocks; stage 2 maps the
// memory behind it in the largest possible blocks (colored memory in pages). The tables lie in frames that
// the caller provides, so that a core's MMU reads them from simulated memory.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "machine/mmu.h"
#include "machine/types.h"

namespace bulkhead::machine {

// Maps `bytes` that the program sees at `address` to `output`. With two stages, the intermediate address
// equals the virtual address.
struct space_piece {
    std::uint64_t address = 0;
    std::uint64_t output = 0;
    std::uint64_t bytes = 0;
};

struct space_settings {
    std::uint32_t stages = 2;            // 1: no stage 2 (no hypervisor)
    std::uint32_t levels = 3;            // levels of tables in each stage: each level translates 9 bits,
                                         // above the 12 bits of a page
    bool blocks = true;                  // use 2 MiB blocks where memory allows it
    bool tables_cached = true;           // memory type of the tables: cacheable or not
    bool stage2_cached = true;           // memory type of the stage 2 tables, if they have frames of their
                                         // own
    std::vector<space_piece> pieces{};   // mappings; whole pages
    std::uint64_t instructions = 0;      // address of the program's instructions, in one of the pieces
    std::vector<std::uint64_t> frames{}; // frames for tables, 4 KiB each
    std::vector<std::uint64_t> stage2_frames{}; // frames for stage 2 tables; empty: they use `frames` too
};

class address_space {
public:
    static constexpr std::uint64_t page_bytes = 4096;
    static constexpr std::uint64_t block_bytes = 2U << 20U;

    // Refuses pieces that are not whole pages or that overlap, addresses beyond the range of the levels, and
    // frames that are unaligned or too few.
    static result<address_space> make(const space_settings &wanted);
    // The number of frames that make() needs.
    static result<std::uint64_t> frames_for(space_settings wanted);

    [[nodiscard]] const translation_regime &regime() const { return regime_; }
    [[nodiscard]] std::uint64_t instructions() const { return instructions_; }
    // The descriptor at an address; nothing if the address is outside of the tables.
    [[nodiscard]] std::optional<std::uint64_t> read(phys_addr where) const;
    // Whether one of the pieces contains the address.
    [[nodiscard]] bool has(std::uint64_t address) const { return piece_of(address) != nullptr; }

    // Adds one page to stage 1 at `address`, mapped to the memory that the program saw at `from` so far.
    // `address` must not be mapped yet.
    [[nodiscard]] std::optional<refusal> map_page(std::uint64_t address, std::uint64_t from);
    // The first address after all mappings, from which on single pages can be mapped.
    [[nodiscard]] std::uint64_t end() const { return end_; }

private:
    using table = std::array<std::uint64_t, page_bytes / sizeof(std::uint64_t)>;

    address_space() = default;
    std::optional<refusal> map(std::uint8_t stage, std::uint64_t address, std::uint64_t output,
                               std::uint32_t shift);
    std::optional<refusal> map_range(std::uint8_t stage, const space_piece &what, bool blocks);
    std::optional<refusal> map_all(const space_settings &wanted);
    std::optional<std::uint64_t> new_table(std::uint8_t stage);
    [[nodiscard]] table &table_at(std::uint8_t stage, std::uint64_t where);
    [[nodiscard]] const space_piece *piece_of(std::uint64_t address) const;
    [[nodiscard]] bool two_stages() const { return regime_.stage2.on; }

    translation_regime regime_;
    std::vector<space_piece> pieces_;
    std::vector<std::uint64_t> frames_;
    std::size_t used_ = 0;
    std::vector<std::uint64_t> stage2_frames_; // unused frames for stage 2 tables; the last one is taken next
    bool stage2_apart_ = false;
    std::uint64_t tables_at_ = 0; // intermediate address of the first frame
    std::uint64_t end_ = 0;
    std::uint64_t instructions_ = 0;
    std::unordered_map<std::uint64_t, table> tables_; // contents of the tables, by address of the frame
};

} // namespace bulkhead::machine
