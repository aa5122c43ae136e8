/* SPDX-License-Identifier: Apache-2.0
 *
 * Replaces core/atomic.h in EVA's analysis, by the same guard, included before anything else: other cores may
 * have written any value to a shared word at any time.
 */
#ifndef BULKHEAD_CORE_ATOMIC_H
#define BULKHEAD_CORE_ATOMIC_H

#include "frama_c.h"

static inline uint64_t atomic_word_load(const uint64_t *word)
{
    uint64_t ours = *word;

    return any_bool() ? ours : any_u64();
}

static inline uint64_t atomic_word_load_acquire(const uint64_t *word)
{
    return atomic_word_load(word);
}

static inline void atomic_word_store(uint64_t *word, uint64_t value)
{
    *word = value;
}

static inline void atomic_word_store_release(uint64_t *word, uint64_t value)
{
    *word = value;
}

static inline bool atomic_word_exchange(uint64_t *word, uint64_t *expected, uint64_t desired)
{
    *expected = atomic_word_load(word);
    if (any_bool()) {
        *word = desired;
        return true;
    }
    return false;
}

static inline void atomic_word_add(uint64_t *word, uint64_t value)
{
    *word = atomic_word_load(word) + value;
}

static inline void atomic_acquire_fence(void) {}

static inline void atomic_release_fence(void) {}

static inline void atomic_full_fence(void) {}

static inline void atomic_program_order(void) {}

#endif
