// SPDX-License-Identifier: Apache-2.0
// Tells the address sanitizer about switches of stacks; does nothing where it is not built in. For
// machine/fiber.cpp only.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define BULKHEAD_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BULKHEAD_ADDRESS_SANITIZER 1
#endif
#endif

#ifdef BULKHEAD_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace bulkhead::machine::sanitizer {

#ifdef BULKHEAD_ADDRESS_SANITIZER
// `keep`: where the state of the stack that is left is stored; null if it is left for ever.
inline void leave(void **keep, const void *bottom, std::size_t bytes)
{
    __sanitizer_start_switch_fiber(keep, bottom, bytes);
}
inline void enter(void *kept, const void *&left_bottom, std::size_t &left_bytes)
{
    __sanitizer_finish_switch_fiber(kept, &left_bottom, &left_bytes);
}
// Clears the sanitizer's marks on the memory of a new stack: an earlier, abandoned fiber may have left some
// there.
inline void forget(const void *bottom, std::size_t bytes)
{
    __asan_unpoison_memory_region(bottom, bytes);
}
#else
inline void forget(const void * /*bottom*/, std::size_t /*bytes*/) {}
inline void leave(void ** /*keep*/, const void * /*bottom*/, std::size_t /*bytes*/) {}
inline void enter(void * /*kept*/, const void *& /*left_bottom*/, std::size_t & /*left_bytes*/) {}
#endif

} // namespace bulkhead::machine::sanitizer
