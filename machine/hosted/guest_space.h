// SPDX-License-Identifier: Apache-2.0
// The address space of a guest as a window: its own IPAs, and, of a broker, what it sees of physical memory
// behind an IPA far above them (BH_BROKER_WINDOW). A window that reached so far would be mostly gap, so what
// is up there lies in the window right behind the guest's own IPAs. What maps what is stage 2's affair.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "machine/program/window.h"

namespace bulkhead::machine::hosted {

class guest_space {
public:
    // IPAs up to `memory_end`, and `memory` from IPA `others_at` + its own address on; 0: the guest sees no
    // memory but its own.
    static result<std::unique_ptr<guest_space>> make(const ram &bytes, memory_range memory,
                                                     std::uint64_t memory_end, std::uint64_t others_at);

    [[nodiscard]] window &pages() { return pages_; }
    // Host address of an IPA, mapped or not.
    [[nodiscard]] std::byte *host(std::uint64_t ipa) const { return pages_.host(in_window(ipa)); }
    // The IPA of an address in the window, and back.
    [[nodiscard]] std::uint64_t ipa_at(std::uint64_t in_window) const;
    [[nodiscard]] std::uint64_t in_window(std::uint64_t ipa) const;
    // Other domains have it, too.
    [[nodiscard]] bool is_others(std::uint64_t ipa) const;
    // What the guest's own tables would say, which it does not have here: that it has mapped some of its IPAs
    // so that no cache may serve them; that it maps none so.
    void map_past_caches(std::uint64_t ipa, byte_count bytes) { past_.push_back({ipa, bytes}); }
    void map_all_cached() { past_.clear(); }
    struct piece {
        std::uint64_t ipa;
        byte_count bytes;
    };
    [[nodiscard]] const std::vector<piece> &mapped_past_caches() const { return past_; }
    // The first IPA of the guest's own that the window has, and one past the last.
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
