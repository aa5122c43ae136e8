/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Bitmaps, processed word by word; no function here is on a frequent path.
 */
#include "core/mpam_portions.h"

bool mpam_portions_has(const struct mpam_portions *portions, uint32_t portion)
{
    return portions->word[portion / 32] >> portion % 32 & 1;
}

uint32_t mpam_portions_count(const struct mpam_portions *portions)
{
    uint32_t count = 0;

    for (uint32_t word = 0; word < MPAM_PORTION_WORDS; word++) {
        for (uint32_t bits = portions->word[word]; bits != 0; bits &= bits - 1)
            count++;
    }
    return count;
}

bool mpam_portions_overlap(const struct mpam_portions *a, const struct mpam_portions *b)
{
    for (uint32_t word = 0; word < MPAM_PORTION_WORDS; word++) {
        if (a->word[word] & b->word[word])
            return true;
    }
    return false;
}

bool mpam_portions_below(const struct mpam_portions *portions, uint32_t count)
{
    for (uint32_t portion = count; portion < MPAM_MAX_PORTIONS; portion++) {
        if (mpam_portions_has(portions, portion))
            return false;
    }
    return true;
}

struct mpam_portions mpam_portions_run(uint32_t first, uint32_t count)
{
    struct mpam_portions run = {0};

    for (uint32_t portion = first; portion < first + count; portion++)
        run.word[portion / 32] |= UINT32_C(1) << portion % 32;
    return run;
}

bool mpam_portions_find(const struct mpam_portions *taken, uint32_t of, uint32_t count, uint32_t *first)
{
    uint32_t free = 0; /* consecutive free portions before this one */

    for (uint32_t portion = 0; portion < of && free < count; portion++) {
        free = mpam_portions_has(taken, portion) ? 0 : free + 1;
        *first = portion + 1 - free;
    }
    return count > 0 && free == count;
}
