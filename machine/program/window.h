// SPDX-License-Identifier: Apache-2.0
// A domain's address space: a range of host addresses in which intermediate physical addresses (IPAs) keep
// their distances, so that the host's own MMU mirrors stage 2. Mapped pages are the frames of `ram`; two
// windows that map the same frame share its bytes. Annexes below and above contain host memory: an image's
// text and constants below, stacks above. An annex may stand for IPAs and then has their frames for timing.
// The owner of stage 2 fills in the window; the runtime reads it on each access.
//
//      low                 base + first           base + first + bytes
//      | annex below ...... | IPA first ............ | annex above |
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "machine/program/page.h"

namespace bulkhead::machine {

// A contiguous piece of a map: `bytes` at IPA `ipa` are the physical memory at `pa`.
struct mapping_run {
    std::uint64_t ipa = 0;
    phys_addr pa;
    byte_count bytes;
};

struct page_attributes {
    bool writable = true;
    bool past_caches = false; // uncached
};

// Code that keeps copies of a window's entries (machine/program/fast_pages.h).
class window_follower {
public:
    // The entries of these pages have changed.
    virtual void changed(std::uint64_t first_page, std::uint64_t pages) = 0;

protected:
    ~window_follower() = default;
};

class window {
public:
    struct shape {
        std::uint64_t first = 0; // first IPA
        byte_count bytes;        // size of the range of IPAs
        byte_count below;        // sizes of the annexes; whole pages, as all of these
        byte_count above;
    };

    // `memory` must outlive the window and must not be moved.
    static result<window> make(const ram &memory, const shape &wanted);

    window(window &&other) noexcept;
    window &operator=(window &&other) noexcept;
    ~window();

    // Maps all runs, or none with a reason: a run outside of the window or of memory, or more pieces than the
    // host can map. Earlier mappings there are replaced.
    [[nodiscard]] std::optional<refusal> map(std::span<const mapping_run> runs, page_attributes attributes);
    void unmap(std::uint64_t ipa, byte_count bytes);

    // From now on the pages of an annex have the frames and attributes of the pages at `ipa`, mapped or not.
    void stand_for(const std::byte *annex, byte_count bytes, std::uint64_t ipa);
    // The pages of an annex may be read (and written) at no cost.
    void make_free(const std::byte *annex, byte_count bytes, bool writable);

    // Registers a follower, until leave(). The window must not be moved meanwhile.
    void follow(window_follower &who) const { followers_.push_back(&who); }
    void leave(window_follower &who) const { std::erase(followers_, &who); }

    [[nodiscard]] const shape &layout() const { return shape_; }
    [[nodiscard]] const page_view &view() const { return view_; }
    // Host address of an IPA, mapped or not; IPA `first + bytes` is the start of the annex above.
    [[nodiscard]] std::byte *host(std::uint64_t ipa) const { return origin_ + (ipa - shape_.first); }
    // The IPA of a host address in the window or in an annex that stands for IPAs; nothing: elsewhere.
    [[nodiscard]] std::optional<std::uint64_t> ipa_of(std::uint64_t host_address) const;
    [[nodiscard]] std::optional<phys_addr> translate(std::uint64_t ipa) const;
    [[nodiscard]] const ram &memory() const { return *memory_; }

    // Copies to the frames of the IPAs, page by page, regardless of permissions; false if a page is not
    // mapped; the pages before it are written then.
    [[nodiscard]] bool write(std::uint64_t ipa, std::span<const std::byte> data) const;

    // Host mappings of all windows of this process, as the kernel counts them.
    [[nodiscard]] static std::uint64_t host_mappings();

private:
    struct alias {
        std::uint64_t page; // index of the first page in entries_
        std::uint64_t pages;
        std::uint64_t ipa;
    };

    window(const ram &memory, const shape &wanted, std::byte *low);
    [[nodiscard]] std::string bad(const mapping_run &run) const;
    [[nodiscard]] std::uint64_t index_of(std::uint64_t ipa) const;
    [[nodiscard]] std::uint64_t pieces(std::uint64_t first_page, std::uint64_t pages) const;
    void refresh(std::uint64_t ipa, std::uint64_t bytes);
    void tell(std::uint64_t first_page, std::uint64_t pages) const;
    bool map_on_host(std::uint64_t first_page, std::uint64_t pages);
    void release();

    const ram *memory_;
    shape shape_;
    std::byte *low_;
    std::byte *origin_;
    page_view view_;
    std::vector<page_entry> entries_;
    std::vector<alias> aliases_;
    std::uint64_t mappings_ = 0; // host mappings of this window
    mutable std::vector<window_follower *> followers_;
};

} // namespace bulkhead::machine
