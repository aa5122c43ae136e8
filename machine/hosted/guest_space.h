// SPDX-License-Identifier: Apache-2.0
// The address space of a guest as a window: its own IPAs and, for a broker, its view of physical memory
// behind an IPA far above them (BH_BROKER_WINDOW). A window of that size would mostly be a gap, so this upper
// part lies directly after the guest's own IPAs in the window. Stage 2 determines what is mapped.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "machine/program/window.h"

namespace bulkhead::machine::hosted {

class guest_space {
public:
    // Covers IPAs up to `memory_end`, and `memory` at IPA `others_at` + its physical address; `others_at` 0:
    // the guest sees only its own memory.
    static result<std::unique_ptr<guest_space>> make(const ram &bytes, memory_range memory,
                                                     std::uint64_t memory_end, std::uint64_t others_at);

    [[nodiscard]] window &pages() { return pages_; }
    // Host address of an IPA, mapped or not.
    [[nodiscard]] std::byte *host(std::uint64_t ipa) const { return pages_.host(in_window(ipa)); }
    // Conversion between IPAs and addresses in the window.
    [[nodiscard]] std::uint64_t ipa_at(std::uint64_t in_window) const;
    [[nodiscard]] std::uint64_t in_window(std::uint64_t ipa) const;
    // Whether the IPA is in the view of physical memory, which other domains also use.
    [[nodiscard]] bool is_others(std::uint64_t ipa) const;
    // Replaces the guest's own tables, which do not exist here: map_past_caches(): the guest has mapped these
    // IPAs as uncached; map_all_cached(): it has mapped none so.
    void map_past_caches(std::uint64_t ipa, byte_count bytes) { past_.push_back({ipa, bytes}); }
    void map_all_cached() { past_.clear(); }
    struct piece {
        std::uint64_t ipa;
        byte_count bytes;
    };
    [[nodiscard]] const std::vector<piece> &mapped_past_caches() const { return past_; }
    // The guest's own IPAs in the window: first, and one past the last.
    [[nodiscard]] std::uint64_t own_first() const { return pages_.layout().first; }
    [[nodiscard]] std::uint64_t own_end() const { return own_end_; }

private:
    guest_space(window pages, std::uint64_t own_end, std::uint64_t others_first, byte_count others);

    window pages_;
    std::uint64_t own_end_;
    std::uint64_t others_first_;
    byte_count others_;
    std::vector<piece> past_;
};

} // namespace bulkhead::machine::hosted
