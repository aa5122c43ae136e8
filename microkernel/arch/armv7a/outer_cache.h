/* SPDX-License-Identifier: Apache-2.0
 *
 * The outer cache, a PL310 (DDI 0246H).
 */
#ifndef BULKHEAD_MICROKERNEL_ARMV7A_OUTER_CACHE_H
#define BULKHEAD_MICROKERNEL_ARMV7A_OUTER_CACHE_H

#include <stdbool.h>
#include <stdint.h>

/* Turns it on, empty, unless a boot loader has. */
void outer_cache_start(void);

/* Brings memory of the kernel's, of which the first-level cache has nothing, into so many ways, each with
 * `bytes` of it. Nothing else is allocated in these from now on. Once. */
void outer_cache_hold(const uint32_t *memory, uint32_t bytes, uint32_t ways);

/* Nothing is allocated in these ways either, by data and instructions, from now on. False: there are not so
 * many. */
bool outer_cache_lock(uint32_t ways);

/* Cleans and invalidates all of it but what it holds for the kernel. */
void outer_cache_clean(void);

#endif
