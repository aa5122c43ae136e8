// SPDX-License-Identifier: Apache-2.0
// Stacks of instrumented programs. A stack's bytes are host memory in a window's annex above, because the
// runtime and the machine's models run on it too, and a push must never fault. For timing it stands for pages
// of the domain's memory, whose own bytes are separate (no stack is read through another window or by DMA).
// It ends in inaccessible pages.
#pragma once

#include "machine/program/window.h"

namespace bulkhead::machine {

// Space below a program's own stack, for the machine's functions that are called on it.
inline constexpr byte_count stack_reserve{256 * 1024};

// Size of a stack in the annex.
[[nodiscard]] constexpr byte_count stack_space(byte_count stack)
{
    return {page_bytes + stack_reserve.value + stack.value};
}

// Makes a stack at `offset` of the annex above, standing for `stack` bytes from `ipa`; returns its top.
[[nodiscard]] result<std::byte *> make_stack(window &space, std::uint64_t offset, byte_count stack,
                                             std::uint64_t ipa);

} // namespace bulkhead::machine
