// SPDX-License-Identifier: Apache-2.0
// What an instrumented program's access is checked against: one entry per page of a window, read by every
// callback. An entry is a frame's physical address and, in its low bits, what is not allowed and whether the
// access may go the fast way, so that one test per access decides.
#pragma once

#include "machine/program/ram.h"

namespace bulkhead::machine {

using page_entry = std::uint64_t;

namespace page {

inline constexpr page_entry no_read = 1;    // nothing is mapped here
inline constexpr page_entry no_write = 2;   // nothing, or not for writing
inline constexpr page_entry free = 4;       // the host's memory, not simulated: allowed, and costs no time
inline constexpr page_entry past = 8;       // no cache may serve it
inline constexpr page_entry fast_read = 16; // at once, to the frame
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
// The same with the fast ways that its other flags leave.
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
