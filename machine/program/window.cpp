// SPDX-License-Identifier: Apache-2.0
// See window.h. Entries are changed first and the host's mapping after them, so that only one function
// computes host mappings from pages.
#include "machine/program/window.h"
#include "machine/program/text.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <utility>

#include <sys/mman.h>

namespace bulkhead::machine {

namespace {

// The kernel limits the number of mappings of a process; some are left for the host's own use.
std::uint64_t mappings_of_all_windows = 0;
constexpr std::uint64_t kept_for_host = 2048;

std::uint64_t mapping_limit()
{
    std::uint64_t limit = 65530;
    std::ifstream("/proc/sys/vm/max_map_count") >> limit;
    return limit - std::min(limit, kept_for_host);
}

constexpr std::uint64_t pages_of(std::uint64_t bytes)
{
    return bytes / page_bytes;
}
constexpr bool whole_pages(std::uint64_t bytes)
{
    return bytes % page_bytes == 0;
}

// One host mapping can hold two neighbouring pages if they are as far apart in the file.
bool one_piece(page_entry left, page_entry right)
{
    if (!page::valid(left) || !page::valid(right)) {
        return page::valid(left) == page::valid(right);
    }
    return page::frame(right).value - page::frame(left).value == page_bytes &&
           ((left ^ right) & page::no_write) == 0;
}

} // namespace

result<window> window::make(const ram &memory, const shape &wanted)
{
    const std::uint64_t sizes[] = {wanted.first, wanted.bytes.value, wanted.below.value, wanted.above.value};
    std::uint64_t total = 0;
    for (const std::uint64_t size : sizes) {
        if (!whole_pages(size)) {
            return refusal{"a window must be whole pages"};
        }
        if (size > (std::uint64_t{1} << 46) || (total += size) > (std::uint64_t{1} << 46)) {
            return refusal{"a window beyond the host's address space"};
        }
    }
    total -= wanted.first;
    if (wanted.bytes.value == 0) {
        return refusal{"an empty window"};
    }
    void *low = mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (low == MAP_FAILED) {
        return refusal{sentence("no room for a window of ", total, " bytes: ", std::strerror(errno))};
    }
    return window(memory, wanted, static_cast<std::byte *>(low));
}

window::window(const ram &memory, const shape &wanted, std::byte *low)
    : memory_(&memory), shape_(wanted), low_(low), origin_(low + wanted.below.value),
      entries_(pages_of(wanted.below.value + wanted.bytes.value + wanted.above.value), page::nothing)
{
    view_ = {reinterpret_cast<std::uint64_t>(low), entries_.size(), entries_.data()};
}

window::window(window &&other) noexcept
    : memory_(other.memory_), shape_(other.shape_), low_(std::exchange(other.low_, nullptr)),
      origin_(other.origin_), view_(std::exchange(other.view_, {})), entries_(std::move(other.entries_)),
      aliases_(std::move(other.aliases_)), mappings_(std::exchange(other.mappings_, 0))
{
}

window &window::operator=(window &&other) noexcept
{
    if (this != &other) {
        release();
        memory_ = other.memory_;
        shape_ = other.shape_;
        low_ = std::exchange(other.low_, nullptr);
        origin_ = other.origin_;
        view_ = std::exchange(other.view_, {});
        entries_ = std::move(other.entries_);
        aliases_ = std::move(other.aliases_);
        mappings_ = std::exchange(other.mappings_, 0);
    }
    return *this;
}

window::~window()
{
    release();
}

void window::release()
{
    if (low_ != nullptr) {
        munmap(low_, entries_.size() * page_bytes);
        mappings_of_all_windows -= mappings_;
        low_ = nullptr;
    }
}

std::uint64_t window::host_mappings()
{
    return mappings_of_all_windows;
}

std::uint64_t window::index_of(std::uint64_t ipa) const
{
    return pages_of(ipa - shape_.first + shape_.below.value);
}

std::string window::bad(const mapping_run &run) const
{
    const std::uint64_t offset = run.ipa - shape_.first;
    if (!whole_pages(run.ipa | run.pa.value | run.bytes.value) || run.bytes.value == 0) {
        return sentence("IPA ", hex{run.ipa}, ", ", run.bytes.value, " bytes at ", hex{run.pa.value},
                        ": not whole pages");
    }
    if (run.ipa < shape_.first || offset >= shape_.bytes.value ||
        run.bytes.value > shape_.bytes.value - offset) {
        return sentence("IPA ", hex{run.ipa}, ", ", run.bytes.value, " bytes: outside of the window ",
                        hex{shape_.first}, ", ", shape_.bytes.value, " bytes");
    }
    if (memory_->offset_of(run.pa, run.bytes) == ram::absent) {
        return sentence("PA ", hex{run.pa.value}, ", ", run.bytes.value, " bytes: not memory of the machine");
    }
    return "";
}

// The number of mappings that begin in these pages or right after them.
std::uint64_t window::pieces(std::uint64_t first_page, std::uint64_t pages) const
{
    const std::uint64_t begin = std::max<std::uint64_t>(first_page, 1);
    const std::uint64_t end = std::min(first_page + pages + 1, view_.pages);
    std::uint64_t count = 0;
    for (std::uint64_t page = begin; page < end; ++page) {
        count += one_piece(entries_[page - 1], entries_[page]) ? 0 : 1;
    }
    return count;
}

std::optional<refusal> window::map(std::span<const mapping_run> runs, page_attributes attributes)
{
    for (const mapping_run &run : runs) {
        if (std::string reason = bad(run); !reason.empty()) {
            return refusal{std::move(reason)};
        }
    }
    const page_entry flags =
        (attributes.writable ? 0 : page::no_write) | (attributes.past_caches ? page::past : 0);
    std::vector<std::vector<page_entry>> before;
    std::uint64_t mappings = mappings_;
    for (const mapping_run &run : runs) {
        const std::uint64_t first = index_of(run.ipa);
        const std::uint64_t pages = pages_of(run.bytes.value);
        const auto entry = entries_.begin() + static_cast<std::ptrdiff_t>(first);
        before.emplace_back(entry, entry + static_cast<std::ptrdiff_t>(pages));
        mappings -= pieces(first, pages);
        for (std::uint64_t page = 0; page < pages; ++page) {
            entries_[first + page] = page::with_fast((run.pa.value + page * page_bytes) | flags);
        }
        mappings += pieces(first, pages);
    }
    const std::uint64_t all = mappings_of_all_windows - mappings_ + mappings;
    if (const std::uint64_t limit = mapping_limit(); all > limit) {
        for (std::size_t i = runs.size(); i-- > 0;) {
            std::ranges::copy(before[i],
                              entries_.begin() + static_cast<std::ptrdiff_t>(index_of(runs[i].ipa)));
        }
        return refusal{sentence(all, " separate pieces of memory; the host maps ", limit,
                                " (vm.max_map_count): use fewer or larger colors, or less memory")};
    }
    mappings_of_all_windows = all;
    mappings_ = mappings;
    for (std::size_t i = 0; i < runs.size();) {
        std::size_t next = i + 1; // runs that follow each other may share a mapping
        std::uint64_t end = runs[i].ipa + runs[i].bytes.value;
        for (; next < runs.size() && runs[next].ipa == end; ++next) {
            end += runs[next].bytes.value;
        }
        refresh(runs[i].ipa, end - runs[i].ipa);
        tell(index_of(runs[i].ipa), pages_of(end - runs[i].ipa));
        if (!map_on_host(index_of(runs[i].ipa), pages_of(end - runs[i].ipa))) {
            return refusal{
                sentence("the host did not map IPA ", hex{runs[i].ipa}, ": ", std::strerror(errno))};
        }
        i = next;
    }
    return std::nullopt;
}

void window::unmap(std::uint64_t ipa, byte_count bytes)
{
    const std::uint64_t first = index_of(ipa);
    const std::uint64_t end =
        std::min(first + pages_of(bytes.value), index_of(shape_.first + shape_.bytes.value));
    if (ipa < shape_.first || first >= end) {
        return;
    }
    const std::uint64_t had = pieces(first, end - first);
    std::fill(entries_.begin() + static_cast<std::ptrdiff_t>(first),
              entries_.begin() + static_cast<std::ptrdiff_t>(end), page::nothing);
    const std::uint64_t has = pieces(first, end - first);
    mappings_ += has - had;
    mappings_of_all_windows += has - had;
    refresh(ipa, (end - first) * page_bytes);
    tell(first, end - first);
    map_on_host(first, end - first);
}

void window::tell(std::uint64_t first_page, std::uint64_t pages) const
{
    for (window_follower *each : followers_) {
        each->changed(first_page, pages);
    }
}

// Makes the host's mappings of these pages agree with their entries, with one call for each piece.
bool window::map_on_host(std::uint64_t first_page, std::uint64_t pages)
{
    const std::uint64_t end = first_page + pages;
    for (std::uint64_t page = first_page; page < end;) {
        std::uint64_t next = page + 1;
        while (next < end && one_piece(entries_[next - 1], entries_[next])) {
            ++next;
        }
        const page_entry entry = entries_[page];
        const std::uint64_t size = (next - page) * page_bytes;
        void *where = low_ + page * page_bytes;
        void *mapped = MAP_FAILED;
        if (!page::valid(entry)) {
            mapped =
                mmap(where, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
        } else {
            const int protection = PROT_READ | ((entry & page::no_write) != 0 ? 0 : PROT_WRITE);
            const std::uint64_t offset = memory_->offset_of(page::frame(entry), {size});
            mapped = mmap(where, size, protection, MAP_SHARED | MAP_FIXED, memory_->file(),
                          static_cast<off_t>(offset));
        }
        if (mapped == MAP_FAILED) {
            return false;
        }
        page = next;
    }
    return true;
}

void window::stand_for(const std::byte *annex, byte_count bytes, std::uint64_t ipa)
{
    aliases_.push_back({pages_of(static_cast<std::uint64_t>(annex - low_)), pages_of(bytes.value), ipa});
    refresh(ipa, bytes.value);
}

// Copies the entries of IPAs that annexes map again.
void window::refresh(std::uint64_t ipa, std::uint64_t bytes)
{
    for (const alias &each : aliases_) {
        const std::uint64_t begin = std::max(each.ipa, ipa);
        const std::uint64_t end = std::min(each.ipa + each.pages * page_bytes, ipa + bytes);
        for (std::uint64_t at = begin; at < end; at += page_bytes) {
            const bool inside = at >= shape_.first && at - shape_.first < shape_.bytes.value;
            entries_[each.page + pages_of(at - each.ipa)] = inside ? entries_[index_of(at)] : page::nothing;
        }
        if (begin < end) {
            tell(each.page + pages_of(begin - each.ipa), pages_of(end - begin + page_bytes - 1));
        }
    }
}

void window::make_free(const std::byte *annex, byte_count bytes, bool writable)
{
    const std::uint64_t first = pages_of(static_cast<std::uint64_t>(annex - low_));
    std::fill_n(entries_.begin() + static_cast<std::ptrdiff_t>(first), pages_of(bytes.value),
                page::free | (writable ? 0 : page::no_write));
}

std::optional<std::uint64_t> window::ipa_of(std::uint64_t host_address) const
{
    const std::uint64_t offset = host_address - reinterpret_cast<std::uint64_t>(origin_);
    if (host_address >= reinterpret_cast<std::uint64_t>(origin_) && offset < shape_.bytes.value) {
        return shape_.first + offset;
    }
    const std::uint64_t page = pages_of(host_address - view_.low);
    for (const alias &each : aliases_) {
        if (host_address >= view_.low && page >= each.page && page < each.page + each.pages) {
            return each.ipa + (host_address - view_.low - each.page * page_bytes);
        }
    }
    return std::nullopt;
}

std::optional<phys_addr> window::translate(std::uint64_t ipa) const
{
    if (ipa < shape_.first || ipa - shape_.first >= shape_.bytes.value) {
        return std::nullopt;
    }
    const page_entry entry = entries_[index_of(ipa)];
    if (!page::valid(entry)) {
        return std::nullopt;
    }
    return phys_addr{page::frame(entry).value + ipa % page_bytes};
}

bool window::write(std::uint64_t ipa, std::span<const std::byte> data) const
{
    while (!data.empty()) {
        const std::optional<phys_addr> pa = translate(ipa);
        if (!pa) {
            return false;
        }
        const std::size_t size = std::min<std::size_t>(data.size(), page_bytes - ipa % page_bytes);
        std::ranges::copy(data.first(size), memory_->bytes(*pa, {size}).begin());
        data = data.subspan(size);
        ipa += size;
    }
    return true;
}

} // namespace bulkhead::machine
