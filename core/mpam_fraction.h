/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Shares of a resource as MPAM's registers encode them: fractions of w bits, left-aligned in 16, the binary
 * point before bit 15 (IHI 0099, 9.3). A value v of w bits stands for the band from v / 2^w to (v + 1) / 2^w.
 *
 * A component may use any value of the band; Arm recommends the greatest one for maxima and the smallest one
 * for minima (IHI 0099, ISJMHV). `got` follows this recommendation:
 * - a limit (CMAX, MBW_MAX) permits up to the band's upper end: all ones are 100 %, 0x3F of 8 bits is 25 %;
 * - a guarantee (CMIN, MBW_MIN) is at least the band's lower end, so that 100 % cannot be expressed.
 * Limits are rounded down and guarantees up by these ends: a partition never gets more than its limit or less
 * than its guarantee, whichever value of the band the component uses.
 */
#ifndef BULKHEAD_CORE_MPAM_FRACTION_H
#define BULKHEAD_CORE_MPAM_FRACTION_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MPAM_FRACTION_BITS 16u

/* `part` of `of`, exact: bytes of a cache's size, hundredths of a percent. part <= of, of > 0. */
struct mpam_share {
    uint32_t part;
    uint32_t of;
};

/* A rounded share: the field's 16 bits, and the share that the field means. */
struct mpam_fraction {
    uint16_t field;
    struct mpam_share got;
};

/* Sets *to to the largest limit of `width` bits (1 to 16) that is at most `share`. False if even the smallest
 * limit, 1 / 2^width, is more than `share`; *to is that limit then. */
bool mpam_limit(struct mpam_share share, uint32_t width, struct mpam_fraction *to);

/* Sets *to to the smallest guarantee of `width` bits (1 to 16) that is at least `share`. False if even the
 * largest guarantee, 1 - 1 / 2^width, is less than `share`; *to is that guarantee then. */
bool mpam_guarantee(struct mpam_share share, uint32_t width, struct mpam_fraction *to);

/* The share that a field of `width` implemented bits means; other bits count as 0. */
struct mpam_share mpam_limit_of(uint16_t field, uint32_t width);
struct mpam_share mpam_guarantee_of(uint16_t field, uint32_t width);

#ifdef __cplusplus
}
#endif

#endif
