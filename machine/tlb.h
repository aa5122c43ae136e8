// SPDX-License-Identifier: Apache-2.0
// A translation lookaside buffer: recent translations of 4 KiB pages, told apart by address space and virtual
// machine, and beside them some that software locks (as Cortex-A9's, DDI 0388I 6.2). Larger mappings are kept
// page by page. machine/mmu.h fills it; it knows neither tables nor time.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "machine/settings.h"
#include "machine/types.h"

namespace bulkhead::machine {

// What a translation is found by.
struct page_key {
    std::uint64_t page; // virtual page number
    std::uint16_t vmid = 0;
    std::uint16_t asid = 0;
    bool global = false; // of any address space of the virtual machine
};

struct page_translation {
    phys_addr frame;
    bool writable = false;
    bool device = false; // not to be cached
    auto operator<=>(const page_translation &) const = default;
};

class tlb {
public:
    // Refuses ways that do not divide the entries, and a number of sets that is no power of two.
    static result<tlb> make(const tlb_settings &wanted);

    // Nothing: a miss. A found one is the most recently used of its set.
    std::optional<page_translation> find(const page_key &key);

    // In place of the least recently used entry of its set. Nothing if it is locked.
    void insert(const page_key &key, const page_translation &what);

    // Stays until invalidated, whatever is inserted. False: all lockable entries are used.
    bool lock(const page_key &key, const page_translation &what);

    // Locked ones too. Of a virtual machine; of one address space of it; of one page in any address space.
    void invalidate_all();
    void invalidate_vmid(std::uint16_t vmid);
    void invalidate_asid(std::uint16_t vmid, std::uint16_t asid);
    void invalidate_page(std::uint16_t vmid, std::uint64_t page);

private:
    struct entry {
        page_key key{};
        page_translation what;
        std::uint64_t used = 0; // 0: empty
    };

    explicit tlb(const tlb_settings &wanted);
    std::span<entry> set_of(std::uint64_t page)
    {
        return std::span{entries_}.subspan((page & (sets_ - 1)) * ways_, ways_);
    }
    entry *search(const page_key &key);
    template <class Which> void invalidate(Which &&which);

    std::uint32_t ways_;
    std::uint32_t sets_;
    std::uint64_t clock_ = 0;
    std::vector<entry> entries_; // set by set
    std::vector<entry> locked_;  // empty ones among them
};

} // namespace bulkhead::machine
