/* SPDX-License-Identifier: Apache-2.0
 *
 * Bounds of a guest's number as an index, hosted backend: the value without the barrier.
 */
#ifndef BULKHEAD_ARCH_SPECULATION_H
#define BULKHEAD_ARCH_SPECULATION_H

#include <stdint.h>

static inline uint64_t arch_index_mask(uint64_t index, uint64_t count)
{
    return index < count ? UINT64_MAX : 0;
}

#endif
