// SPDX-License-Identifier: Apache-2.0
// Stacks of instrumented programs. A stack's bytes are the host's, in a window's annex above: the runtime and
// the machine's models run on it too, and a push must never fault. For timing it stands for pages of the
// domain's memory, which keep their own bytes (nobody sees a stack through another window or by DMA). It ends
// in pages that nobody may touch.
#pragma once

#include "machine/program/window.h"

namespace bulkhead::machine {

// Below a program's own stack, for the machine's functions that are called on it.
inline constexpr byte_count stack_reserve{256 * 1024};

// What a stack takes of the annex.
[[nodiscard]] constexpr byte_count stack_space(byte_count stack)
{
    return {page_bytes + stack_reserve.value + stack.value};
}

// Makes one at `offset` of the annex above, standing for `stack` bytes from `ipa`; returns its top.
[[nodiscard]] result<std::byte *> make_stack(window &space, std::uint64_t offset, byte_count stack,
                                             std::uint64_t ipa);

} // namespace bulkhead::machine
