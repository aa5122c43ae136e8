/* SPDX-License-Identifier: Apache-2.0
 *
 * Ticket lock: fair, so that a core's waiting time is bounded by the number of cores times the longest hold.
 * Taken at EL2 with interrupts masked, never held across an entry to a guest. Holders must do bounded work.
 */
#ifndef BULKHEAD_SPINLOCK_H
#define BULKHEAD_SPINLOCK_H

#include <stdatomic.h>
#include <stdint.h>

struct spinlock {
    _Atomic uint32_t next;
    _Atomic uint32_t owner;
};

static inline void spin_lock(struct spinlock *lock)
{
    uint32_t ticket = atomic_fetch_add_explicit(&lock->next, 1, memory_order_relaxed);

    while (atomic_load_explicit(&lock->owner, memory_order_acquire) != ticket) {
    }
}

static inline void spin_unlock(struct spinlock *lock)
{
    uint32_t owner = atomic_load_explicit(&lock->owner, memory_order_relaxed);

    atomic_store_explicit(&lock->owner, owner + 1, memory_order_release);
}

#endif
