/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Ticket lock. It is fair, so a core waits at most the number of cores times the longest time that the lock
 * is held. Taken with interrupts masked and never held across an entry to a guest. Holders must do bounded
 * work.
 */
#ifndef BULKHEAD_CORE_SPINLOCK_H
#define BULKHEAD_CORE_SPINLOCK_H

#include <stdint.h>

struct spinlock {
    uint32_t next;
    uint32_t owner;
};

/* NOLINTBEGIN(readability-non-const-parameter): builtins write through these */

/* Hint that this core waits for another core; it may do nothing. An emulator that executes one core at a time
 * then switches to the next one at once and not after milliseconds. */
static inline void spin_hint(void)
{
#ifdef __aarch64__
    __asm__ volatile("yield");
#endif
}

static inline void spin_lock(struct spinlock *lock)
{
    uint32_t ticket = __atomic_fetch_add(&lock->next, 1, __ATOMIC_RELAXED);

    while (__atomic_load_n(&lock->owner, __ATOMIC_ACQUIRE) != ticket) {
        spin_hint();
    }
}

static inline void spin_unlock(struct spinlock *lock)
{
    uint32_t owner = __atomic_load_n(&lock->owner, __ATOMIC_RELAXED);

    __atomic_store_n(&lock->owner, owner + 1, __ATOMIC_RELEASE);
}

/* NOLINTEND(readability-non-const-parameter) */

#endif
