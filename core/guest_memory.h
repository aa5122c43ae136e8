/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * A guest's memory, as its devices access it. The program that links core/ implements these functions: at EL2
 * with windows into the frames of the domain, in tests with an array. The guest may write to its memory at
 * any moment: data is copied once, and checked in the copy.
 */
#ifndef BULKHEAD_CORE_GUEST_MEMORY_H
#define BULKHEAD_CORE_GUEST_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct guest_memory;

/* Whether all `bytes` bytes from guest-physical address `at` on are memory of the guest. With 0 bytes:
 * whether `at` is. */
bool guest_memory_owns(const struct guest_memory *memory, uint64_t at, uint64_t bytes);

/* Copies bytes from or to guest memory. Returns false and copies nothing if the guest does not own all of
 * them. 16 and 32 bits at an aligned address are one access. */
bool guest_memory_read(struct guest_memory *memory, uint64_t at, void *to, uint32_t bytes);
bool guest_memory_write(struct guest_memory *memory, uint64_t at, const void *from, uint32_t bytes);

/* How many of the `most` bytes from `at` on, all owned by the guest, are physically contiguous; `*physical`
 * is the physical address of the first. */
uint64_t guest_memory_run(const struct guest_memory *memory, uint64_t at, uint64_t most, uint64_t *physical);

#ifdef __cplusplus
}
#endif

#endif
