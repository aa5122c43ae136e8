/* SPDX-License-Identifier: Apache-2.0
 *
 * Lets C++ tests include the hypervisor's C headers, because C++20 has no _Atomic. The tests run on one host
 * thread, so plain objects of the same layout suffice. C sources get the compiler's own header.
 */
#ifndef __cplusplus
#include_next <stdatomic.h>
#else
#ifndef BULKHEAD_HOSTED_STDATOMIC_H
#define BULKHEAD_HOSTED_STDATOMIC_H

#define _Atomic
#define _Noreturn [[noreturn]]
#define _Static_assert static_assert

constexpr int memory_order_relaxed = __ATOMIC_RELAXED;
constexpr int memory_order_acquire = __ATOMIC_ACQUIRE;
constexpr int memory_order_release = __ATOMIC_RELEASE;
constexpr int memory_order_acq_rel = __ATOMIC_ACQ_REL;
constexpr int memory_order_seq_cst = __ATOMIC_SEQ_CST;

extern "C++" {

/* On one thread, no atomicity is needed. The order argument is only for the reader. */
template <typename T> inline T atomic_load_explicit(const T *object, int)
{
    return *object;
}

template <typename T, typename V> inline void atomic_store_explicit(T *object, V value, int)
{
    *object = static_cast<T>(value);
}

template <typename T, typename V> inline T atomic_fetch_add_explicit(T *object, V value, int)
{
    T before = *object;

    *object = static_cast<T>(before + static_cast<T>(value));
    return before;
}

} /* extern "C++" */

#endif
#endif
