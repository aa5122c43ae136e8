/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Rounds a share up or down to steps, in integers: a share times 2^w has at most 48 bits.
 */
#include "core/mpam_fraction.h"

static uint32_t steps(uint32_t width)
{
    return UINT32_C(1) << width;
}

static uint16_t aligned(uint32_t value, uint32_t width)
{
    return (uint16_t)(value << (MPAM_FRACTION_BITS - width));
}

struct mpam_share mpam_limit_of(uint16_t field, uint32_t width)
{
    uint32_t value = (uint32_t)field >> (MPAM_FRACTION_BITS - width);

    return (struct mpam_share){value + 1, steps(width)};
}

struct mpam_share mpam_guarantee_of(uint16_t field, uint32_t width)
{
    uint32_t value = (uint32_t)field >> (MPAM_FRACTION_BITS - width);

    return (struct mpam_share){value, steps(width)};
}

bool mpam_limit(struct mpam_share share, uint32_t width, struct mpam_fraction *to)
{
    uint64_t whole = (uint64_t)share.part * steps(width) / share.of; /* whole steps within the share */
    bool fits = whole > 0;

    to->field = aligned(fits ? (uint32_t)whole - 1 : 0, width);
    to->got = mpam_limit_of(to->field, width);
    return fits;
}

bool mpam_guarantee(struct mpam_share share, uint32_t width, struct mpam_fraction *to)
{
    uint64_t begun = ((uint64_t)share.part * steps(width) + share.of - 1) / share.of;
    bool fits = begun < steps(width);

    to->field = aligned(fits ? (uint32_t)begun : steps(width) - 1, width);
    to->got = mpam_guarantee_of(to->field, width);
    return fits;
}
