/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Color arithmetic (C1-C3). A color is the value of certain physical-address bits: cache set-index bits, DRAM
 * bank bits, or both together. A colored range is the sequence of all granules, in address order, whose color
 * is in a set; this file converts between offsets in such a range and physical addresses. Pure functions;
 * they never look at memory.
 */
#ifndef BULKHEAD_CORE_COLOR_H
#define BULKHEAD_CORE_COLOR_H

#include "core/address.h"
#include <bulkhead_layout.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The physical-address bits that form a color, at most 8: bit i of a color is the i-th lowest of them. With
 * no bits, memory is not colored: a range is contiguous and color sets are ignored. */
struct color_space {
    uint64_t bits;
};

/* Colors 0..255, bit c % 64 of word c / 64. Same layout as color_set_record. */
struct color_set {
    uint64_t word[BH_COLOR_SET_WORDS];
};

/* A colored range: `bytes` of memory from `first`, whose color must be in the set. */
struct color_range {
    struct color_space space;
    const struct color_set *set;
    paddr_t first;
};

/* Number of colors: 2^(number of color bits). */
uint32_t color_count(struct color_space space);

/* Bytes of a granule: 2^(lowest color bit); 4096 in uncolored memory. */
uint64_t color_granule_bytes(struct color_space space);

/* Color of an address. */
uint32_t color_of(struct color_space space, paddr_t pa);

bool color_set_has(const struct color_set *set, uint32_t color);

/* The set of the colors that are in both. */
struct color_set color_set_intersection(const struct color_set *a, const struct color_set *b);

/* Start of the first granule at or after `pa` whose color is in the set; `pa` itself if its granule qualifies
 * and `pa` is its start. False if the set holds no color of the space or the address would wrap. */
bool color_next(struct color_space space, const struct color_set *set, paddr_t pa, paddr_t *next);

/* Start of the next granule of the range after the granule that contains `pa`, an address of the range. A few
 * operations if the color bits are one contiguous field of at most 6 bits, else as slow as color_next(). */
paddr_t color_after(const struct color_range *range, paddr_t pa);

/* Physical address of byte `offset` of a range. O(number of color bits and the free bits between them). */
paddr_t color_at(const struct color_range *range, uint64_t offset);

/* Offset of `pa`, which must be an address of the range: the inverse of color_at(). */
uint64_t color_offset(const struct color_range *range, paddr_t pa);

/* One past the last physical byte of a range of `bytes` > 0. */
paddr_t color_end(const struct color_range *range, uint64_t bytes);

#ifdef __cplusplus
}
#endif

#endif
