// SPDX-License-Identifier: Apache-2.0
// Lays out a program's tables; see the header. Names of bits are those of DDI 0487, D8.3.
#include "machine/address_space.h"

#include <algorithm>
#include <string>

namespace bulkhead::machine {

namespace {

constexpr std::uint64_t valid_table_or_page = 3;
constexpr std::uint64_t valid_block = 1;
constexpr std::uint64_t accessed = 1U << 10U;
constexpr std::uint64_t not_global = 1U << 11U;         // stage 1
constexpr std::uint64_t stage2_writable = 3U << 6U;     // S2AP
constexpr std::uint64_t stage2_write_back = 0xFU << 2U; // MemAttr
constexpr std::uint64_t normal_memory = 0xFF;           // attribute 0 of MAIR
constexpr std::uint32_t block_shift = 21;
constexpr std::uint32_t most_levels = 4;
constexpr std::uint16_t only_vmid = 1;

constexpr std::uint64_t up_to_blocks(std::uint64_t address)
{
    return (address + address_space::block_bytes - 1) / address_space::block_bytes *
           address_space::block_bytes;
}

std::string bad(const space_settings &wanted)
{
    if (wanted.levels < 2 || wanted.levels > most_levels) {
        return "tables of " + std::to_string(wanted.levels) + " levels: 2 to 4 are possible";
    }
    if (wanted.stages < 1 || wanted.stages > 2) {
        return std::to_string(wanted.stages) + " stages: 1 or 2 are possible";
    }
    const auto page_aligned = [](std::uint64_t value) { return value % address_space::page_bytes == 0; };
    if (!std::ranges::all_of(wanted.frames, page_aligned) ||
        !std::ranges::all_of(wanted.stage2_frames, page_aligned)) {
        return "tables need frames that are aligned to 4 KiB";
    }
    const std::uint64_t end = std::uint64_t{1} << (vmsa::page_bits + vmsa::level_bits * wanted.levels);
    std::uint64_t before = 0;
    for (const space_piece &one : wanted.pieces) { // in order
        if (!page_aligned(one.address | one.output | one.bytes) || one.bytes == 0) {
            return "a piece of an address space that is no whole pages";
        }
        if (one.address < before) {
            return "pieces of an address space that overlap";
        }
        before = one.address + one.bytes;
        if (before > end) {
            return "an address beyond the " + std::to_string(wanted.levels) + " levels of tables";
        }
    }
    return wanted.pieces.empty() ? "an address space without memory" : "";
}

} // namespace

result<address_space> address_space::make(const space_settings &wanted)
{
    space_settings sorted = wanted;
    std::ranges::sort(sorted.pieces, {}, &space_piece::address);
    if (std::string why = bad(sorted); !why.empty()) {
        return refusal{std::move(why)};
    }
    address_space made;
    if (auto refused = made.map_all(sorted)) {
        return *std::move(refused);
    }
    return made;
}

result<std::uint64_t> address_space::frames_for(space_settings wanted)
{
    wanted.frames.clear();
    wanted.stage2_frames.clear();
    std::uint64_t bytes = 0;
    for (const space_piece &one : wanted.pieces) {
        bytes += one.bytes;
    }
    // Upper bound: tables for each block and piece, and some for the levels above. Counting needs no memory
    // for them.
    const std::uint64_t most = 16 + 4 * (bytes / block_bytes + wanted.pieces.size());
    for (std::uint64_t i = 0; i < most; ++i) {
        wanted.frames.push_back(i * page_bytes);
    }
    auto made = make(wanted);
    if (auto *refused = std::get_if<refusal>(&made)) {
        return std::move(*refused);
    }
    return std::uint64_t{std::get<address_space>(made).used_};
}

std::optional<refusal> address_space::map_all(const space_settings &wanted)
{
    pieces_ = wanted.pieces;
    frames_ = wanted.frames;
    stage2_frames_.assign(wanted.stage2_frames.rbegin(), wanted.stage2_frames.rend());
    stage2_apart_ = !wanted.stage2_frames.empty();
    instructions_ = wanted.instructions == 0 ? pieces_.front().address : wanted.instructions;
    const std::uint32_t bits = vmsa::page_bits + vmsa::level_bits * wanted.levels;
    const translation_stage stage{.on = true,
                                  .root = {},
                                  .input_bits = bits,
                                  .start_level = most_levels - wanted.levels,
                                  .cached = wanted.tables_cached};
    tables_at_ = up_to_blocks(pieces_.back().address + pieces_.back().bytes);
    end_ = tables_at_;
    regime_.mair = normal_memory;
    regime_.vmid = only_vmid;
    if (wanted.stages == 2) {
        end_ += up_to_blocks(frames_.size() * page_bytes);
        regime_.stage2 = stage;
        regime_.stage2.cached = stage2_apart_ ? wanted.stage2_cached : wanted.tables_cached;
        const auto root = new_table(2);
        if (!root) {
            return refusal{"the tables do not fit into no frames"};
        }
        regime_.stage2.root = phys_addr{*root};
        for (const space_piece &one : pieces_) {
            if (auto refused = map_range(2, one, wanted.blocks)) {
                return refused;
            }
        }
    }
    regime_.stage1 = stage;
    const auto root = new_table(1);
    if (!root) {
        return refusal{"the tables do not fit into " + std::to_string(frames_.size()) + " frames"};
    }
    regime_.stage1.root = phys_addr{*root};
    if (!two_stages()) {
        for (const space_piece &one : pieces_) {
            if (auto refused = map_range(1, one, wanted.blocks)) {
                return refused;
            }
        }
        return std::nullopt;
    }
    // A guest maps all of its memory in stage 1 alike, whatever stage 2 maps it to: in whole blocks, which
    // may join pieces.
    std::uint64_t done = 0;
    for (const space_piece &one : pieces_) {
        const std::uint64_t size = wanted.blocks ? block_bytes : page_bytes;
        const std::uint64_t first = std::max(done, one.address / size * size);
        const std::uint64_t end = (one.address + one.bytes + size - 1) / size * size;
        if (first < end) {
            if (auto refused = map_range(1, {first, first, end - first}, wanted.blocks)) {
                return refused;
            }
            done = end;
        }
    }
    return std::nullopt;
}

std::optional<refusal> address_space::map_range(std::uint8_t stage, const space_piece &what, bool blocks)
{
    for (std::uint64_t done = 0; done < what.bytes;) {
        const std::uint64_t at = what.address + done;
        const std::uint64_t to = what.output + done;
        const bool block = blocks && (at | to) % block_bytes == 0 && what.bytes - done >= block_bytes;
        if (auto refused = map(stage, at, to, block ? block_shift : vmsa::page_bits)) {
            return refused;
        }
        done += block ? block_bytes : page_bytes;
    }
    return std::nullopt;
}

// Adds an empty table, in a frame from which the walks of `stage` read.
std::optional<std::uint64_t> address_space::new_table(std::uint8_t stage)
{
    if (stage == 2 && stage2_apart_) {
        if (stage2_frames_.empty()) {
            return std::nullopt;
        }
        const std::uint64_t frame = stage2_frames_.back();
        stage2_frames_.pop_back();
        tables_[frame] = {};
        return frame;
    }
    if (used_ == frames_.size()) {
        return std::nullopt;
    }
    const std::size_t number = used_++;
    tables_[frames_[number]] = {};
    if (stage == 2 || !two_stages()) {
        return frames_[number];
    }
    const std::uint64_t where = tables_at_ + number * page_bytes;
    if (map(2, where, frames_[number], vmsa::page_bits)) {
        return std::nullopt;
    }
    return where;
}

address_space::table &address_space::table_at(std::uint8_t stage, std::uint64_t where)
{
    const bool intermediate = stage == 1 && two_stages();
    return tables_.at(intermediate ? frames_.at((where - tables_at_) / page_bytes) : where);
}

std::optional<refusal> address_space::map(std::uint8_t stage, std::uint64_t address, std::uint64_t output,
                                          std::uint32_t shift)
{
    const translation_stage &own = stage == 1 ? regime_.stage1 : regime_.stage2;
    std::uint64_t where = own.root.value;
    for (std::uint32_t level = own.start_level;; ++level) {
        const std::uint32_t here = vmsa::shift_of(level);
        const std::uint64_t index = address >> here & (vmsa::entries - 1);
        const std::uint64_t known = table_at(stage, where).at(index);
        if (here == shift) {
            if (known != 0) {
                return refusal{"an address that is mapped twice"};
            }
            const std::uint64_t attributes = stage == 1 ? not_global : stage2_writable | stage2_write_back;
            table_at(stage, where).at(index) =
                output | attributes | accessed |
                (level == vmsa::last_level ? valid_table_or_page : valid_block);
            return std::nullopt;
        }
        if (known == 0) {
            const auto made = new_table(stage);
            if (!made) {
                return refusal{"the tables do not fit into " + std::to_string(frames_.size()) + " frames"};
            }
            table_at(stage, where).at(index) = *made | valid_table_or_page;
            where = *made;
            continue;
        }
        const vmsa::descriptor below = vmsa::decode(known, level);
        if (below.what != vmsa::descriptor::kind::table) {
            return refusal{"an address that is mapped twice"};
        }
        where = below.output;
    }
}

std::optional<refusal> address_space::map_page(std::uint64_t address, std::uint64_t from)
{
    std::uint64_t output = from;
    if (!two_stages()) {
        const space_piece *piece = piece_of(from);
        if (piece == nullptr) {
            return refusal{"a page of memory that the program does not have"};
        }
        output = piece->output + (from - piece->address);
    }
    if (address >> regime_.stage1.input_bits != 0) {
        return refusal{"an address beyond the levels of tables"};
    }
    return map(1, address, output, vmsa::page_bits);
}

const space_piece *address_space::piece_of(std::uint64_t address) const
{
    const auto behind = std::ranges::upper_bound(pieces_, address, {}, &space_piece::address);
    return behind != pieces_.begin() && address - (behind - 1)->address < (behind - 1)->bytes ? &*(behind - 1)
                                                                                              : nullptr;
}

std::optional<std::uint64_t> address_space::read(phys_addr where) const
{
    const auto found = tables_.find(where.value & ~(page_bytes - 1));
    if (found == tables_.end()) {
        return std::nullopt;
    }
    return found->second.at((where.value & (page_bytes - 1)) / sizeof(std::uint64_t));
}

} // namespace bulkhead::machine
