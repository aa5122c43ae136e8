// SPDX-License-Identifier: Apache-2.0
// Searching, placing and invalidating translations; see the header.
#include "machine/tlb.h"

#include <algorithm>
#include <bit>

namespace bulkhead::machine {

result<tlb> tlb::make(const tlb_settings &wanted)
{
    const std::uint32_t ways = wanted.ways == 0 ? wanted.entries : wanted.ways;
    if (wanted.entries != 0 && (ways > wanted.entries || wanted.entries % ways != 0 ||
                                !std::has_single_bit(wanted.entries / ways))) {
        return refusal{std::to_string(wanted.entries) + " entries in " + std::to_string(ways) +
                       " ways: sets must be a power of two"};
    }
    if (wanted.lockable_entries != 0 && wanted.lockable_entries >= std::max(1U, ways)) {
        return refusal{std::to_string(wanted.lockable_entries) + " lockable entries leave a set of " +
                       std::to_string(ways) + " none that is free"};
    }
    return tlb{wanted};
}

tlb::tlb(const tlb_settings &wanted)
    : ways_(wanted.ways == 0 ? wanted.entries : wanted.ways), sets_(ways_ == 0 ? 1 : wanted.entries / ways_),
      lockable_(wanted.lockable_entries), entries_(wanted.entries)
{
}

tlb::entry *tlb::search(const page_key &key)
{
    const std::size_t first = first_of(key.page);
    for (std::size_t i = first; i < first + ways_; ++i) {
        entry &one = entries_[i];
        if (one.used != 0 && one.key.page == key.page && one.key.vmid == key.vmid &&
            (one.key.global || one.key.asid == key.asid)) {
            return &one;
        }
    }
    return nullptr;
}

std::optional<page_translation> tlb::find(const page_key &key)
{
    entry *const found = search(key);
    if (found == nullptr) {
        return std::nullopt;
    }
    found->used = ++clock_;
    return found->what;
}

// Null if there are no entries at all.
tlb::entry *tlb::place(const page_key &key, const page_translation &what)
{
    entry *into = search(key);
    const std::size_t first = first_of(key.page);
    for (std::size_t i = first; into == nullptr && i < first + ways_; ++i) {
        entry &one = entries_[i];
        bool oldest = !one.locked;
        for (std::size_t j = first; oldest && j < first + ways_; ++j) {
            oldest = entries_[j].locked || one.used <= entries_[j].used;
        }
        into = oldest ? &one : nullptr;
    }
    if (into != nullptr) {
        into->key = key;
        into->what = what;
        into->used = ++clock_;
    }
    return into;
}

void tlb::insert(const page_key &key, const page_translation &what)
{
    place(key, what);
}

bool tlb::lock(const page_key &key, const page_translation &what)
{
    if (locked_ == lockable_) {
        return false;
    }
    entry *const placed = place(key, what);
    if (placed == nullptr) {
        return false;
    }
    locked_ += placed->locked ? 0 : 1;
    placed->locked = true;
    return true;
}

template <class Which> void tlb::invalidate(Which &&which)
{
    for (entry &one : entries_) {
        if (one.used != 0 && which(one.key)) {
            locked_ -= one.locked ? 1 : 0;
            one = {};
        }
    }
}

void tlb::invalidate_all()
{
    invalidate([](const page_key &) { return true; });
}

void tlb::invalidate_vmid(std::uint16_t vmid)
{
    invalidate([=](const page_key &key) { return key.vmid == vmid; });
}

void tlb::invalidate_asid(std::uint16_t vmid, std::uint16_t asid)
{
    invalidate([=](const page_key &key) { return key.vmid == vmid && key.asid == asid && !key.global; });
}

void tlb::invalidate_page(std::uint16_t vmid, std::uint64_t page)
{
    invalidate([=](const page_key &key) { return key.vmid == vmid && key.page == page; });
}

} // namespace bulkhead::machine
