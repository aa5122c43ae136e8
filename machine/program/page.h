// SPDX-License-Identifier: Apache-2.0
// The entries that an instrumented program's accesses are checked against: one per page of a window, read by
// every callback. An entry is a frame's physical address and, in its low bits, the forbidden kinds of access
// and whether the fast path may be used, so that one test per access decides.
#pragma once

#include "machine/program/ram.h"

namespace bulkhead::machine {

using page_entry = std::uint64_t;

namespace page {

inline constexpr page_entry no_read = 1;    // not mapped
inline constexpr page_entry no_write = 2;   // not mapped, or not writable
inline constexpr page_entry free = 4;       // host memory that is not simulated: allowed, and takes no time
inline constexpr page_entry past = 8;       // uncached
inline constexpr page_entry fast_read = 16; // reads may go directly to the frame
inline constexpr page_entry fast_write = 32;
inline constexpr page_entry fast = fast_read | fast_write;
inline constexpr page_entry flags = page_bytes - 1;
inline constexpr page_entry nothing = no_read | no_write;

[[nodiscard]] constexpr bool valid(page_entry entry)
{
    return (entry & no_read) == 0;
}
[[nodiscard]] constexpr phys_addr frame(page_entry entry)
{
    return {entry & ~flags};
}
// The entry with the fast flags that its other flags allow.
[[nodiscard]] constexpr page_entry with_fast(page_entry entry)
{
    const bool slow = (entry & (no_read | free | past)) != 0;
    return (entry & ~fast) | (slow ? 0 : fast_read | ((entry & no_write) != 0 ? 0 : fast_write));
}

} // namespace page

// The part of a window that callbacks use.
struct page_view {
    std::uint64_t low = 0;   // host address of the first page
    std::uint64_t pages = 0; // 0: every access is outside
    const page_entry *entries = nullptr;
};

} // namespace bulkhead::machine
