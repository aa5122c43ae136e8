// SPDX-License-Identifier: Apache-2.0
// A program's translation tables as its operating system and, below it, a hypervisor would write them, for
// front ends that have neither: stage 1 in the largest blocks of what the program sees, stage 2 in the
// largest blocks of what lies behind (colored memory in pages). The tables lie in frames that the caller
// gives, so that a core's MMU reads them where they are.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "machine/mmu.h"
#include "machine/types.h"

namespace bulkhead::machine {

// `bytes` that the program sees at `address` are at `output`. With two stages the intermediate address is the
// virtual one.
struct space_piece {
    std::uint64_t address = 0;
    std::uint64_t output = 0;
    std::uint64_t bytes = 0;
};

struct space_settings {
    std::uint32_t stages = 2;            // 1: there is no hypervisor
    std::uint32_t levels = 3;            // of tables in each stage: 9 bits each, above the 12 of a page
    bool blocks = true;                  // 2 MiB where memory allows it
    bool tables_cached = true;           // the tables' memory type
    bool stage2_cached = true;           // of stage 2's, if they have frames of their own
    std::vector<space_piece> pieces{};   // whole pages
    std::uint64_t instructions = 0;      // where the program's are, in one of the pieces
    std::vector<std::uint64_t> frames{}; // of tables; 4 KiB each
    std::vector<std::uint64_t> stage2_frames{}; // none: stage 2's tables are in `frames`, too
};

class address_space {
public:
    static constexpr std::uint64_t page_bytes = 4096;
    static constexpr std::uint64_t block_bytes = 2U << 20U;

    // Refuses pieces that are no whole pages or overlap, addresses beyond the levels, frames that are not
    // aligned or too few.
    static result<address_space> make(const space_settings &wanted);
    // How many frames make() needs.
    static result<std::uint64_t> frames_for(space_settings wanted);

    [[nodiscard]] const translation_regime &regime() const { return regime_; }
    [[nodiscard]] std::uint64_t instructions() const { return instructions_; }
    // The descriptor that stands there; nothing outside of the tables.
    [[nodiscard]] std::optional<std::uint64_t> read(phys_addr where) const;
    // Whether the pieces have it.
    [[nodiscard]] bool has(std::uint64_t address) const { return piece_of(address) != nullptr; }

    // One page more in stage 1, to what the program so far saw at `from`. Nothing was mapped there.
    [[nodiscard]] std::optional<refusal> map_page(std::uint64_t address, std::uint64_t from);
    // Where a program's pages can begin that are mapped one by one: behind all that is mapped.
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
    std::vector<std::uint64_t> stage2_frames_; // that are left, the next one last
    bool stage2_apart_ = false;
    std::uint64_t tables_at_ = 0; // intermediate address of the first frame
    std::uint64_t end_ = 0;
    std::uint64_t instructions_ = 0;
    std::unordered_map<std::uint64_t, table> tables_; // by frame
};

} // namespace bulkhead::machine
