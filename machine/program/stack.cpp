// SPDX-License-Identifier: Apache-2.0
// See stack.h.
#include "machine/program/stack.h"

#include <cerrno>
#include <cstring>

#include <sys/mman.h>

namespace bulkhead::machine {

result<std::byte *> make_stack(window &space, std::uint64_t offset, byte_count stack, std::uint64_t ipa)
{
    const window::shape &shape = space.layout();
    const std::uint64_t needed = stack_space(stack).value;
    if ((offset | stack.value | ipa) % page_bytes != 0 || stack.value == 0) {
        return refusal{"a stack must be whole pages"};
    }
    if (offset > shape.above.value || needed > shape.above.value - offset) {
        return refusal{"no room for a stack above the window"};
    }
    std::byte *low = space.host(shape.first + shape.bytes.value) + offset;
    std::byte *first = low + page_bytes; // the page below stays inaccessible
    const std::uint64_t bytes = stack_reserve.value + stack.value;
    if (mprotect(first, bytes, PROT_READ | PROT_WRITE) != 0) {
        return refusal{std::string("no memory for a stack: ") + std::strerror(errno)};
    }
    space.stand_for(first + stack_reserve.value, stack, ipa);
    return first + bytes;
}

} // namespace bulkhead::machine
