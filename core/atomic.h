/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Ordered accesses to words that several cores share. Compiler builtins on plain words instead of
 * <stdatomic.h>, which neither C++ nor a Linux module has. Only for the modules of core/ that say that they
 * are called from several cores.
 */
#ifndef BULKHEAD_CORE_ATOMIC_H
#define BULKHEAD_CORE_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

static inline uint64_t atomic_word_load(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/* What was stored before the word was, is seen after this. */
static inline uint64_t atomic_word_load_acquire(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* NOLINTBEGIN(readability-non-const-parameter): builtins write through these */

static inline void atomic_word_store(uint64_t *word, uint64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

static inline void atomic_word_store_release(uint64_t *word, uint64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* Replaces `*expected` by `desired`; else `*expected` becomes what is there. May fail for no reason. */
static inline bool atomic_word_exchange(uint64_t *word, uint64_t *expected, uint64_t desired)
{
    return __atomic_compare_exchange_n(word, expected, desired, true, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

static inline void atomic_word_add(uint64_t *word, uint64_t value)
{
    (void)__atomic_fetch_add(word, value, __ATOMIC_RELAXED);
}

/* NOLINTEND(readability-non-const-parameter) */

/* Loads before this are done before stores and loads after it; stores before it before stores after it. */
static inline void atomic_acquire_fence(void)
{
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
}

/* For whoever looks on the same core after this program was ended: it finds stores in the order in which they
 * are written down. */
static inline void atomic_program_order(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline void atomic_release_fence(void)
{
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

/* And stores before this are done before loads after it. */
static inline void atomic_full_fence(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

#ifdef __cplusplus
}
#endif

#endif
