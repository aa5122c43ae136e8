/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * A guest's memory as its devices reach it. Whoever links core/ says what it is: at EL2 windows into the
 * frames of the domain, in tests an array. A guest writes to it at any moment: what is read is copied once
 * and checked in the copy.
 */
#ifndef BULKHEAD_CORE_GUEST_MEMORY_H
#define BULKHEAD_CORE_GUEST_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct guest_memory;

/* Whether all bytes from guest-physical address `at` on are memory of the guest. No bytes: `at` is. */
bool guest_memory_owns(const struct guest_memory *memory, uint64_t at, uint64_t bytes);

/* False, and nothing is copied, if the guest does not own them all. 16 and 32 bits at an aligned address are
 * one access. */
bool guest_memory_read(struct guest_memory *memory, uint64_t at, void *to, uint32_t bytes);
bool guest_memory_write(struct guest_memory *memory, uint64_t at, const void *from, uint32_t bytes);

/* How many of the `most` bytes from `at` on, which the guest owns, lie one after the other physically;
 * `*physical`: where. */
uint64_t guest_memory_run(const struct guest_memory *memory, uint64_t at, uint64_t most, uint64_t *physical);

#ifdef __cplusplus
}
#endif

#endif
