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
    return tlb{wanted};
}

tlb::tlb(const tlb_settings &wanted)
    : ways_(wanted.ways == 0 ? wanted.entries : wanted.ways), sets_(ways_ == 0 ? 1 : wanted.entries / ways_),
      entries_(wanted.entries), locked_(wanted.lockable_entries)
{
}

tlb::entry *tlb::search(const page_key &key)
{
    for (const std::span<entry> some : {std::span{locked_}, set_of(key.page)}) {
        for (entry &one : some) {
            if (one.used != 0 && one.key.page == key.page && one.key.vmid == key.vmid &&
                (one.key.global || one.key.asid == key.asid)) {
                return &one;
            }
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

void tlb::insert(const page_key &key, const page_translation &what)
{
    entry *into = search(key);
    if (into == nullptr && ways_ != 0) {
        into = &*std::ranges::min_element(set_of(key.page), {}, &entry::used);
    }
    if (into != nullptr) {
        *into = {key, what, ++clock_};
    }
}

bool tlb::lock(const page_key &key, const page_translation &what)
{
    if (entry *const known = search(key)) { // it may be locked already
        *known = {};
    }
    const auto free = std::ranges::find(locked_, 0U, &entry::used);
    if (free == locked_.end()) {
        return false;
    }
    *free = {key, what, ++clock_};
    return true;
}

template <class Which> void tlb::invalidate(Which &&which)
{
    for (std::vector<entry> *all : {&entries_, &locked_}) {
        for (entry &one : *all) {
            if (one.used != 0 && which(one.key)) {
                one = {};
            }
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
