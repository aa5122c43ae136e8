/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Bitmaps of portions of a cache or of bandwidth, as MPAMCFG_CPBM<n> and MPAMCFG_MBW_PBM<n> have them:
 * portion n is bit n % 32 of word n / 32. A partition may use only portions whose bit is set.
 */
#ifndef BULKHEAD_CORE_MPAM_PORTIONS_H
#define BULKHEAD_CORE_MPAM_PORTIONS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The architecture has up to 32,768 portions of a cache and 4096 of bandwidth. A control with more
 * portions than these is not used (mpam_features.h): its unwritten bits could give other partitions the same
 * portions. */
#define MPAM_MAX_PORTIONS  1024u
#define MPAM_PORTION_WORDS (MPAM_MAX_PORTIONS / 32u)

struct mpam_portions {
    uint32_t word[MPAM_PORTION_WORDS];
};

bool mpam_portions_has(const struct mpam_portions *portions, uint32_t portion);
uint32_t mpam_portions_count(const struct mpam_portions *portions);
bool mpam_portions_overlap(const struct mpam_portions *a, const struct mpam_portions *b);

/* Whether no portion at or beyond `count` is set. */
bool mpam_portions_below(const struct mpam_portions *portions, uint32_t count);

/* `count` portions from `first` on; first + count is at most MPAM_MAX_PORTIONS. */
struct mpam_portions mpam_portions_run(uint32_t first, uint32_t count);

/* Sets *first to the lowest run of `count` portions below `of` that has none of `taken`. False if there is no
 * such run, even if single portions are free. */
bool mpam_portions_find(const struct mpam_portions *taken, uint32_t of, uint32_t count, uint32_t *first);

#ifdef __cplusplus
}
#endif

#endif
