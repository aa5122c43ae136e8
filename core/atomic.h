/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Ordered accesses to words that several cores share. They are compiler builtins on plain words, because
 * neither C++ nor a Linux module has <stdatomic.h>. Only for modules of core/ whose head comment says that
 * several cores call them.
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

/* Load with acquire order: stores made before the matching release store are visible after this load. */
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

/* Compare-and-swap: if the word equals `*expected`, stores `desired` and returns true; else writes the word's
 * value to `*expected` and returns false. Weak: it may also fail without a reason. */
static inline bool atomic_word_exchange(uint64_t *word, uint64_t *expected, uint64_t desired)
{
    return __atomic_compare_exchange_n(word, expected, desired, true, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

static inline void atomic_word_add(uint64_t *word, uint64_t value)
{
    (void)__atomic_fetch_add(word, value, __ATOMIC_RELAXED);
}

/* NOLINTEND(readability-non-const-parameter) */

/* Acquire fence: loads before it are done before loads and stores after it. */
static inline void atomic_acquire_fence(void)
{
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
}

/* Compiler barrier, for a reader on the same core that looks after this program was stopped: it finds the
 * stores in program order. */
static inline void atomic_program_order(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline void atomic_release_fence(void)
{
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

/* Full fence: also orders stores before it with loads after it. */
static inline void atomic_full_fence(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

#ifdef __cplusplus
}
#endif

#endif
