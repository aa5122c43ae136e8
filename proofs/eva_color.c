/* SPDX-License-Identifier: Apache-2.0
 *
 * Entry points for Frama-C's EVA over core/color.c: every set, every address, every color space, also those
 * that manifest_check() refuses. scripts/prove.py runs each function named prove_*.
 */
#include "core/color.h"
#include "frama_c.h"

static struct color_space any_space(void)
{
    return (struct color_space){any_u64()};
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

    (void)color_set_has(&set, (uint32_t)any_u64());
}

void prove_color_set_intersection(void)
{
    struct color_set a = any_set();
    struct color_set b = any_set();

    (void)color_set_intersection(&a, &b);
}

void prove_color_next(void)
{
    struct color_set set = any_set();
    paddr_t next;

    (void)color_next(any_space(), &set, paddr(any_u64()), &next);
}

static struct color_range any_range(const struct color_set *set)
{
    return (struct color_range){any_space(), set, paddr(any_u64())};
}

void prove_color_at(void)
{
    struct color_set set = any_set();
    struct color_range range = any_range(&set);

    (void)color_at(&range, any_u64());
}

void prove_color_offset(void)
{
    struct color_set set = any_set();
    struct color_range range = any_range(&set);

    (void)color_offset(&range, paddr(any_u64()));
}

void prove_color_end(void)
{
    struct color_set set = any_set();
    struct color_range range = any_range(&set);

    (void)color_end(&range, any_u64());
}
