/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Counts the ranges that one instruction can need. An access that extends into the next range uses at least
 * one word of the range before it.
 */
#include "core/mxu_crossing.h"
#include "core/mxu_mpu.h"

#define WORD_BYTES       4u
#define SURELY_BY_RANDOM 2u /* the slot that was loaded last is not evicted next */

uint32_t mxu_crossing_kept(enum mxu_policy policy, uint32_t slots)
{
    return policy == MXU_RANDOM && slots > SURELY_BY_RANDOM ? SURELY_BY_RANDOM : slots;
}

static bool is_dynamic(const struct mxu_regions *regions, const struct mxu_range *range)
{
    return !mxu_regions_pinned(regions, range);
}

static bool is_code(const struct mxu_range *range)
{
    return (range->word[1] & MXU_RASR_XN) == 0;
}

/* Dynamic ranges of an access that begins in the last word of a range and continues through adjacent
 * ranges. */
static uint32_t from_end_of(const struct mxu_trie *trie, const struct mxu_regions *regions,
                            const struct mxu_range *range, uint32_t bytes)
{
    uint32_t needed = is_dynamic(regions, range);
    uint32_t left = bytes - WORD_BYTES; /* beyond the end of `range` */

    /* bound: bytes / MXU_GRANULE + 1 */
    while (left > 0 && range->next != MXU_NONE && trie->ranges[range->next].first == range->last + 1u) {
        range = &trie->ranges[range->next];
        needed += is_dynamic(regions, range);
        left -= range->last - range->first < left ? range->last - range->first + 1u : left;
    }
    return needed;
}

uint32_t mxu_crossing_needed(const struct mxu_trie *trie, const struct mxu_regions *regions, uint32_t bytes)
{
    uint32_t data = 0;
    uint32_t code = 0;

    for (int16_t i = trie->first; i != MXU_NONE; i = trie->ranges[i].next) {
        const struct mxu_range *range = &trie->ranges[i];
        uint32_t needed = from_end_of(trie, regions, range, bytes);

        data = needed > data ? needed : data;
        if (is_code(range) && is_dynamic(regions, range)) {
            const struct mxu_range *next = range->next != MXU_NONE ? &trie->ranges[range->next] : 0;
            bool both =
                next != 0 && next->first == range->last + 1u && is_code(next) && is_dynamic(regions, next);

            code = both ? 2 : code > 0 ? code : 1;
        }
    }
    return data + code;
}

enum mxu_status mxu_crossing_check(const struct mxu_trie *trie, struct mxu_regions *regions, uint32_t bytes)
{
    uint32_t kept = mxu_crossing_kept((enum mxu_policy)regions->policy, mxu_regions_dynamic(regions));

    regions->watched = mxu_crossing_needed(trie, regions, bytes) > kept;
    return regions->watched ? MXU_ENOHW : MXU_OK;
}
