// SPDX-License-Identifier: Apache-2.0
// The pages of a window that one program may access without asking its core's MMU: those whose translations
// are in the first-level data TLB, in which hits cost nothing and change nothing (its oldest entry goes
// first). The runtime's callbacks read it at every access (callbacks.cpp). It follows the window, and its
// owner tells it when a TLB entry ends.
#pragma once

#include <cstdlib>
#include <memory>
#include <vector>

#include "machine/program/window.h"

namespace bulkhead::machine {

class fast_pages final : public window_follower {
public:
    // `entries`: of the TLB. The window must outlive it.
    fast_pages(const window &space, std::uint32_t entries);
    ~fast_pages();
    fast_pages(const fast_pages &) = delete;
    fast_pages &operator=(const fast_pages &) = delete;

    [[nodiscard]] page_view view() const { return {view_.low, view_.pages, entries_.get()}; }

    // The page at this host address is translated by the TLB's entry. `writable`: so says the TLB.
    void allow(std::uint64_t address, std::uint32_t entry, bool writable);
    // That entry is another's now, or nobody's.
    void dropped(std::uint32_t entry);

    void changed(std::uint64_t first_page, std::uint64_t pages) override;

private:
    struct free_memory {
        void operator()(page_entry *entries) const { std::free(entries); }
    };

    const window &space_;
    page_view view_;
    std::unique_ptr<page_entry[], free_memory> entries_; // 0: ask
    std::vector<std::vector<std::uint64_t>> pages_of_;   // allowed by each entry of the TLB
};

} // namespace bulkhead::machine
