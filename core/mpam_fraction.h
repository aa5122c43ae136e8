/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Shares of a resource as MPAM's registers have them: fractions of w bits, left-aligned in 16, the binary
 * point before bit 15 (IHI 0099, 9.3). A value v of w bits stands for the band from v / 2^w to (v + 1) / 2^w.
 *
 * A component may use any value of the band; Arm recommends the greatest one for maxima and the smallest one
 * for minima (as above, ISJMHV), which is what `got` says:
 * - a limit (CMAX, MBW_MAX) permits up to the band's upper end: all ones are 100 %, 0x3F of 8 bits is 25 %;
 * - a guarantee (CMIN, MBW_MIN) is at least the band's lower end, so that 100 % cannot be expressed.
 * Limits are rounded down and guarantees up by these ends: nobody gets more than its limit or less than its
 * guarantee whichever value of the band the component uses.
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

/* What a share became: the field's 16 bits, and the share that the component makes of it. */
struct mpam_fraction {
    uint16_t field;
    struct mpam_share got;
};

/* The largest limit that is at most `share`, of `width` implemented bits, 1 to 16. False if the smallest
 * limit is more than that: 1 / 2^width, which is in *to then. */
bool mpam_limit(struct mpam_share share, uint32_t width, struct mpam_fraction *to);

/* The smallest guarantee that is at least `share`. False if the largest is less: 1 - 1 / 2^width, which is in
 * *to. */
bool mpam_guarantee(struct mpam_share share, uint32_t width, struct mpam_fraction *to);

/* What a field means; bits that are not implemented count as 0. */
struct mpam_share mpam_limit_of(uint16_t field, uint32_t width);
struct mpam_share mpam_guarantee_of(uint16_t field, uint32_t width);

#ifdef __cplusplus
}
#endif

#endif
