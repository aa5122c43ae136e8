// SPDX-License-Identifier: Apache-2.0
// The pages of a window that a program may access without a call to its core's MMU: those whose translations
// are in the first-level data TLB, where hits take no time and change nothing (the oldest entry is replaced
// first). The runtime's callbacks read it on every access (callbacks.cpp). It follows changes of the window,
// and its owner reports when a TLB entry is dropped.
#pragma once

#include <cstdlib>
#include <memory>
#include <vector>

#include "machine/program/window.h"

namespace bulkhead::machine {

class fast_pages final : public window_follower {
public:
    // `entries`: number of entries of the TLB. The window must outlive it.
    fast_pages(const window &space, std::uint32_t entries);
    ~fast_pages();
    fast_pages(const fast_pages &) = delete;
    fast_pages &operator=(const fast_pages &) = delete;

    [[nodiscard]] page_view view() const { return {view_.low, view_.pages, entries_.get()}; }

    // Allows the page at this host address, which the given TLB entry translates. `writable`: according to
    // the TLB.
    void allow(std::uint64_t address, std::uint32_t entry, bool writable);
    // The TLB entry was replaced or invalidated.
    void dropped(std::uint32_t entry);

    void changed(std::uint64_t first_page, std::uint64_t pages) override;

private:
    struct free_memory {
        void operator()(page_entry *entries) const { std::free(entries); }
    };

    const window &space_;
    page_view view_;
    std::unique_ptr<page_entry[], free_memory> entries_; // 0: the MMU must be called
    std::vector<std::vector<std::uint64_t>> pages_of_;   // pages allowed by each entry of the TLB
};

} // namespace bulkhead::machine
