/* SPDX-License-Identifier: Apache-2.0
 *
 * The outer cache, a PL310 (DDI 0246H).
 */
#ifndef BULKHEAD_MICROKERNEL_ARMV7A_OUTER_CACHE_H
#define BULKHEAD_MICROKERNEL_ARMV7A_OUTER_CACHE_H

#include <stdbool.h>
#include <stdint.h>

/* Turns it on, empty, unless a boot loader has turned it on. */
void outer_cache_start(void);

/* Loads kernel memory, of which the first-level cache must hold nothing, into `ways` ways, `bytes` bytes into
 * each. Nothing else is allocated in these ways from now on. Call it once. */
void outer_cache_hold(const uint32_t *memory, uint32_t bytes, uint32_t ways);

/* From now on, neither data nor instructions are allocated in the ways of the mask `ways`, in addition to the
 * ways held for the kernel; replaces an earlier mask. False: the mask has ways that do not exist. */
bool outer_cache_lock(uint32_t ways);

/* Cleans and invalidates all of it except the ways that hold kernel memory. */
void outer_cache_clean(void);

#endif
