/* SPDX-License-Identifier: Apache-2.0
 *
 * The outer cache, a PL310 (DDI 0246H).
 */
#ifndef BULKHEAD_MICROKERNEL_ARMV7A_OUTER_CACHE_H
#define BULKHEAD_MICROKERNEL_ARMV7A_OUTER_CACHE_H

#include <stdbool.h>
#include <stdint.h>

/* Nothing is allocated in these ways, by data and instructions, from now on. False: there are not so many,
 * or none would be left. */
bool outer_cache_lock(uint32_t ways);

/* Cleans and invalidates all of it. */
void outer_cache_clean(void);

#endif
