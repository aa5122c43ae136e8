// SPDX-License-Identifier: Apache-2.0
// Maps the pages of a recorded program to the memory of the replaying program. A page gets a frame at its
// first access, in the order in which the frames were given; so the frames may be of certain colors only, as
// the planner chose them. If there are no frames left, the access is not made and the program ends with an
// error.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "machine/types.h"

namespace bulkhead::machine::trace {

inline constexpr std::uint64_t page_bytes = 4096;

class page_map {
public:
    // `frames`: start addresses of 4 KiB frames.
    explicit page_map(std::vector<phys_addr> frames) : frames_(std::move(frames)) {}

    // Nothing: all frames are in use.
    [[nodiscard]] std::optional<phys_addr> translate(std::uint64_t address, access_kind /*kind*/)
    {
        const std::uint64_t page = address / page_bytes;
        if (page != last_page_ || !last_valid_) {
            const auto found = find(page);
            if (!found) {
                return std::nullopt;
            }
            last_frame_ = *found;
            last_page_ = page;
            last_valid_ = true;
        }
        return phys_addr{last_frame_.value + address % page_bytes};
    }

    [[nodiscard]] std::size_t used() const { return pages_.size(); }

private:
    std::optional<phys_addr> find(std::uint64_t page)
    {
        const auto [entry, is_new] = pages_.try_emplace(page);
        if (is_new) {
            if (pages_.size() > frames_.size()) {
                pages_.erase(entry);
                return std::nullopt;
            }
            entry->second = frames_[pages_.size() - 1];
        }
        return entry->second;
    }

    std::vector<phys_addr> frames_;
    std::unordered_map<std::uint64_t, phys_addr> pages_;
    std::uint64_t last_page_ = 0;
    phys_addr last_frame_;
    bool last_valid_ = false;
};

} // namespace bulkhead::machine::trace
