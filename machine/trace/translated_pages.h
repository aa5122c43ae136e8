// SPDX-License-Identifier: Apache-2.0
// Pages of a recorded program on its core's MMU: as with page_map, a page gets the next frame at its first
// access, as from an operating system, and its own descriptor in stage 1. Addresses are packed, 2 MiB by 2
// MiB in the order of first accesses, so that a program with a large address space fits into tables of few
// levels; each 2 MiB keep their last-level table.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

#include "machine/trace/pages.h"
#include "machine/translated.h"

namespace bulkhead::machine::trace {

class translated_pages {
public:
    // The program has `frames` pages, which the space maps from `first` on.
    translated_pages(std::unique_ptr<translated> space, std::uint64_t first, std::uint64_t frames)
        : space_(std::move(space)), first_(first), frames_(frames)
    {
    }

    // Returns when the core has the translation. Nothing: all frames are in use, or there is no room for
    // tables.
    [[nodiscard]] std::optional<phys_addr> translate(std::uint64_t address, access_kind kind)
    {
        const std::uint64_t page = address / page_bytes;
        if (page != last_page_) {
            const auto found = find(page);
            if (!found) {
                return std::nullopt;
            }
            last_page_ = page;
            last_packed_ = *found;
        }
        const phys_addr found = space_->of(last_packed_ + address % page_bytes, kind);
        return found == translated::nowhere ? std::nullopt : std::optional{found};
    }

    [[nodiscard]] std::size_t used() const { return pages_.size(); }

private:
    static constexpr std::uint64_t pages_of_block = address_space::block_bytes / page_bytes;

    std::optional<std::uint64_t> find(std::uint64_t page)
    {
        if (const auto known = pages_.find(page); known != pages_.end()) {
            return known->second;
        }
        if (pages_.size() == frames_) {
            return std::nullopt;
        }
        const std::uint64_t block = blocks_.try_emplace(page / pages_of_block, blocks_.size()).first->second;
        const std::uint64_t packed =
            space_->space().end() + block * address_space::block_bytes + page % pages_of_block * page_bytes;
        if (space_->space().map_page(packed, first_ + pages_.size() * page_bytes)) {
            return std::nullopt;
        }
        pages_.emplace(page, packed);
        return packed;
    }

    std::unique_ptr<translated> space_;
    std::uint64_t first_;
    std::uint64_t frames_;
    std::unordered_map<std::uint64_t, std::uint64_t> pages_;  // page number to packed address
    std::unordered_map<std::uint64_t, std::uint64_t> blocks_; // block number to packed number
    std::uint64_t last_page_ = ~std::uint64_t{0};
    std::uint64_t last_packed_ = 0;
};

} // namespace bulkhead::machine::trace
