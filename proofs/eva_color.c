/* SPDX-License-Identifier: Apache-2.0
 *
 * Entry points for Frama-C's EVA over core/color.c: every set, every address, every color space that
 * manifest_check() can accept (at most eight address bits, none below a page and none above bit 38).
 * scripts/prove.py runs each function named prove_*.
 */
#include "core/color.h"
#include "frama_c.h"

/* The tightest that EVA can be told of "at most eight bits of 12 to 38". */
static struct color_space any_space(void)
{
    struct color_space space = {0};

    for (int i = 0; i < 8; i++) {
        if (any_bool()) {
            space.bits |= 1ull << any_u32_between(12, 38);
        }
    }
    return space;
}

static struct color_set any_set(void)
{
    struct color_set set;

    for (int i = 0; i < BH_COLOR_SET_WORDS; i++) {
        set.word[i] = any_u64();
    }
    return set;
}

void prove_color_of(void)
{
    (void)color_of(any_space(), paddr(any_u64()));
}

void prove_color_count(void)
{
    (void)color_count(any_space());
}

void prove_color_granule_bytes(void)
{
    (void)color_granule_bytes(any_space());
}

void prove_color_set_has(void)
{
    struct color_set set = any_set();

    (void)color_set_has(&set, any_u32_between(0, 255));
}

void prove_color_set_intersection(void)
{
    struct color_set a = any_set();
    struct color_set b = any_set();

    (void)color_set_intersection(&a, &b);
}
