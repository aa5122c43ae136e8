/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions whose results EVA takes for any value. Used by the entry points in this directory only.
 */
#ifndef BULKHEAD_PROOFS_FRAMA_C_H
#define BULKHEAD_PROOFS_FRAMA_C_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern volatile uint64_t frama_c_any;
extern volatile uint8_t frama_c_any_byte;

static inline uint64_t any_u64(void)
{
    return frama_c_any;
}

static inline bool any_bool(void)
{
    return (frama_c_any & 1) != 0;
}

static inline uint32_t any_u32_between(uint32_t low, uint32_t high)
{
    uint32_t value = (uint32_t)frama_c_any;

    return value < low ? low : value > high ? high : value;
}

static inline void any_bytes(void *to, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        ((uint8_t *)to)[i] = frama_c_any_byte;
    }
}

#endif
