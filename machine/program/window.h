// SPDX-License-Identifier: Apache-2.0
// A domain's address space: a stretch of the host's addresses in which intermediate physical addresses (IPA)
// keep their distances, so that the host's own MMU mirrors stage 2. Mapped pages are the frames of `ram`, and
// two windows that map the same frame share its bytes. Below and above lie annexes for what is the host's: an
// image's text and constants below, stacks above; they may stand for IPAs, whose frames they then have for
// timing. Filled by whoever owns stage 2; read by the runtime at each access.
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
    bool past_caches = false; // no cache may serve what is there
};

// Who keeps copies of a window's entries (machine/program/fast_pages.h).
class window_follower {
public:
    // These pages have other entries now.
    virtual void changed(std::uint64_t first_page, std::uint64_t pages) = 0;

protected:
    ~window_follower() = default;
};

class window {
public:
    struct shape {
        std::uint64_t first = 0; // IPA
        byte_count bytes;        // of IPAs from `first`
        byte_count below;        // annexes; whole pages, as all of these
        byte_count above;
    };

    // `memory` must outlive the window and stay where it is.
    static result<window> make(const ram &memory, const shape &wanted);

    window(window &&other) noexcept;
    window &operator=(window &&other) noexcept;
    ~window();

    // Maps all runs or, with a reason, none: a run outside of the window or of memory, or more pieces than
    // the host can map. What was mapped there before is replaced.
    [[nodiscard]] std::optional<refusal> map(std::span<const mapping_run> runs, page_attributes attributes);
    void unmap(std::uint64_t ipa, byte_count bytes);

    // From now on the pages of an annex have frame and attributes of the pages at `ipa`, mapped or not.
    void stand_for(const std::byte *annex, byte_count bytes, std::uint64_t ipa);
    // The pages of an annex may be read (and written), for nothing.
    void make_free(const std::byte *annex, byte_count bytes, bool writable);

    // Until the follower leaves. The window must stay where it is meanwhile.
    void follow(window_follower &who) const { followers_.push_back(&who); }
    void leave(window_follower &who) const { std::erase(followers_, &who); }

    [[nodiscard]] const shape &layout() const { return shape_; }
    [[nodiscard]] const page_view &view() const { return view_; }
    // Host address of an IPA, mapped or not; IPA `first + bytes` is where the annex above begins.
    [[nodiscard]] std::byte *host(std::uint64_t ipa) const { return origin_ + (ipa - shape_.first); }
    // What an address in the window or in an annex that stands for IPAs means; nothing: elsewhere.
    [[nodiscard]] std::optional<std::uint64_t> ipa_of(std::uint64_t host_address) const;
    [[nodiscard]] std::optional<phys_addr> translate(std::uint64_t ipa) const;
    [[nodiscard]] const ram &memory() const { return *memory_; }

    // Copies into the frames behind IPAs, page by page, whatever their permission; false if one is missing,
    // with what came before it written.
    [[nodiscard]] bool write(std::uint64_t ipa, std::span<const std::byte> data) const;

    // Of all windows of this process, as the kernel counts them.
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
    std::uint64_t mappings_ = 0; // of the host, in this window
    mutable std::vector<window_follower *> followers_;
};

} // namespace bulkhead::machine
