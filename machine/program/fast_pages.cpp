// SPDX-License-Identifier: Apache-2.0
// See fast_pages.h.
#include "machine/program/fast_pages.h"

namespace bulkhead::machine {

// The host zeroes it page by page on first access, since windows are large and mostly unused.
fast_pages::fast_pages(const window &space, std::uint32_t entries)
    : space_(space), view_(space.view()),
      entries_(static_cast<page_entry *>(std::calloc(view_.pages, sizeof(page_entry)))), pages_of_(entries)
{
    if (!entries_) {
        std::abort();
    }
    space_.follow(*this);
}

fast_pages::~fast_pages()
{
    space_.leave(*this);
}

void fast_pages::allow(std::uint64_t address, std::uint32_t entry, bool writable)
{
    const std::uint64_t page = (address - view_.low) / page_bytes;
    if (page >= view_.pages) {
        return;
    }
    const page_entry whole = page::with_fast(view_.entries[page]);
    if ((whole & page::fast) == 0) {
        return;
    }
    if (entries_[page] == 0) {
        pages_of_.at(entry).push_back(page);
    }
    entries_[page] = writable ? whole : whole & ~page::fast_write;
}

void fast_pages::dropped(std::uint32_t entry)
{
    std::vector<std::uint64_t> &gone = pages_of_.at(entry);
    for (const std::uint64_t page : gone) {
        entries_[page] = 0;
    }
    gone.clear();
}

void fast_pages::changed(std::uint64_t first_page, std::uint64_t pages)
{
    for (std::vector<std::uint64_t> &some : pages_of_) {
        std::erase_if(some, [&](std::uint64_t page) {
            const bool there = page - first_page < pages;
            if (there) {
                entries_[page] = 0;
            }
            return there;
        });
    }
}

} // namespace bulkhead::machine
