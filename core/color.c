/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Color arithmetic. The colors of successive granules repeat with a period of 2^(highest color bit + 1)
 * bytes. Both conversions therefore split off whole periods and then walk down the address bits of one
 * period, counting the allowed granules in the branches that are not taken.
 *
 * If the color bits are one contiguous field and the colors fit in a word, as with a cache's own index, the
 * walk is a population count, and its inverse is a search for a bit.
 *
 * Some shift counts are taken modulo the width, and an index modulo its table, as the machine's own
 * instructions do. This changes nothing for a color space that manifest_check() accepts, and it makes it
 * evident (also to a prover, see docs/design/proofs.md) that no argument leads out of bounds.
 */
#include "core/color.h"

#define PAGE_SHIFT 12u

static uint32_t lowest_bit(uint64_t value)
{
    return (uint32_t)__builtin_ctzll(value);
}

static uint32_t highest_bit(uint64_t value)
{
    return 63u - (uint32_t)__builtin_clzll(value);
}

/* Without the FP registers there is no population-count instruction, and no library to call. */
static uint32_t count_ones(uint64_t value)
{
    value -= (value >> 1) & 0x5555555555555555ull;
    value = (value & 0x3333333333333333ull) + ((value >> 2) & 0x3333333333333333ull);
    value = (value + (value >> 4)) & 0x0F0F0F0F0F0F0F0Full;
    return (uint32_t)((value * 0x0101010101010101ull) >> 56);
}

uint32_t color_count(struct color_space space)
{
    return 1u << (count_ones(space.bits) % 32);
}

static uint32_t granule_shift(struct color_space space)
{
    return space.bits == 0 ? PAGE_SHIFT : lowest_bit(space.bits);
}

uint64_t color_granule_bytes(struct color_space space)
{
    return 1ull << granule_shift(space);
}

uint32_t color_of(struct color_space space, paddr_t pa)
{
    uint32_t color = 0;
    uint32_t position = 0;

    for (uint64_t bits = space.bits; bits != 0; bits &= bits - 1) {
        color |= (uint32_t)((pa.value >> lowest_bit(bits)) & 1u) << (position % 32);
        position++;
    }
    return color;
}

bool color_set_has(const struct color_set *set, uint32_t color)
{
    return ((set->word[color / 64 % BH_COLOR_SET_WORDS] >> (color % 64)) & 1u) != 0;
}

struct color_set color_set_intersection(const struct color_set *a, const struct color_set *b)
{
    struct color_set both;

    for (uint32_t i = 0; i < BH_COLOR_SET_WORDS; i++) {
        both.word[i] = a->word[i] & b->word[i];
    }
    return both;
}

/* How many colors of [prefix << free, (prefix + 1) << free) are in the set. */
static uint64_t count_with_prefix(const struct color_set *set, uint32_t prefix, uint32_t free)
{
    uint32_t first = prefix << free;
    uint64_t count = 0;

    if (free >= 6) {
        for (uint32_t i = 0; i < (1u << free) / 64; i++) {
            count += count_ones(set->word[first / 64 + i]);
        }
        return count;
    }
    return count_ones((set->word[first / 64] >> (first % 64)) & ((1ull << (1u << free)) - 1));
}

/* State of the walk down the address bits of a period. */
struct walk {
    const struct color_set *set;
    uint64_t bits;    /* color bits not yet decided */
    uint32_t bit;     /* the next address bit to decide; later the bits below it */
    uint32_t granule; /* log2 of the bytes of a granule: the walk ends here */
    uint32_t prefix;  /* color bits decided so far */
};

/* Allowed granules below the undecided bit if it is zero, and advances over that bit as if it were `one`. */
static uint64_t walk_zero_branch(const struct walk *walk)
{
    bool is_color = ((walk->bits >> walk->bit) & 1u) != 0;
    uint32_t colors_below = count_ones(walk->bits & ((1ull << walk->bit) - 1));
    uint32_t free_below = walk->bit - walk->granule - colors_below;
    uint64_t colors = is_color ? count_with_prefix(walk->set, walk->prefix << 1, colors_below)
                               : count_with_prefix(walk->set, walk->prefix, colors_below);

    return colors << free_below;
}

static void walk_take(struct walk *walk, bool one)
{
    if (((walk->bits >> walk->bit) & 1u) != 0) {
        walk->prefix = (walk->prefix << 1) | (one ? 1u : 0u);
        walk->bits &= ~(1ull << walk->bit);
    }
    walk->bit--;
}

static struct walk walk_start(struct color_space space, const struct color_set *set)
{
    return (struct walk){
        .set = set,
        .bits = space.bits,
        .bit = highest_bit(space.bits),
        .granule = granule_shift(space),
        .prefix = 0,
    };
}

static uint64_t granules_per_period(struct color_space space, const struct color_set *set)
{
    uint32_t colors = count_ones(space.bits);
    uint32_t free = highest_bit(space.bits) + 1 - granule_shift(space) - colors;

    return count_with_prefix(set, 0, colors) << free;
}

/* Whether the colors of successive granules are 0, 1, ..., `last`: the color bits are adjacent and start at
 * the granule. */
static bool colors_count_up(struct color_space space, uint64_t *last)
{
    *last = space.bits >> granule_shift(space);
    return (*last & (*last + 1)) == 0 && *last < 64;
}

/* Bitmap of the colors of a set that are at most `last`. */
static uint64_t colors_to(const struct color_set *set, uint64_t last)
{
    return set->word[0] & (UINT64_MAX >> (63 - last));
}

/* The n-th set bit (counted from zero) of a value that has more than n set bits. */
static uint32_t nth_bit(uint64_t value, uint64_t n)
{
    for (; n > 0 && value != 0; n--) {
        value &= value - 1;
    }
    return value != 0 ? lowest_bit(value) : 0;
}

/* Number of allowed granules in [0, pa). `pa` is the start of a granule. */
static uint64_t rank_of(struct color_space space, const struct color_set *set, uint64_t pa)
{
    struct walk walk;
    uint64_t rank;
    uint64_t last;

    if (colors_count_up(space, &last)) {
        uint64_t granules = pa >> granule_shift(space);
        uint64_t below = (1ull << (granules & last)) - 1;

        return granules / (last + 1) * count_ones(colors_to(set, last)) + count_ones(set->word[0] & below);
    }
    walk = walk_start(space, set);
    rank = (pa >> (walk.bit + 1)) * granules_per_period(space, set);
    for (uint32_t left = walk.bit + 1 - walk.granule; left > 0; left--) {
        bool one = ((pa >> walk.bit) & 1u) != 0;

        if (one) {
            rank += walk_zero_branch(&walk);
        }
        walk_take(&walk, one);
    }
    return rank;
}

/* Start of the allowed granule with this rank; the last address if the set has no colors. */
static uint64_t granule_with_rank(struct color_space space, const struct color_set *set, uint64_t rank)
{
    struct walk walk;
    uint64_t per_period = granules_per_period(space, set);
    uint64_t last;
    uint64_t pa;

    if (per_period == 0) {
        return UINT64_MAX;
    }
    if (colors_count_up(space, &last)) {
        uint64_t granules = rank / per_period * (last + 1);

        return (granules + nth_bit(colors_to(set, last), rank % per_period)) << granule_shift(space);
    }
    walk = walk_start(space, set);
    pa = (rank / per_period) << (walk.bit + 1);
    rank %= per_period;
    for (uint32_t left = walk.bit + 1 - walk.granule; left > 0; left--) {
        uint64_t zero = walk_zero_branch(&walk);
        bool one = rank >= zero;

        if (one) {
            rank -= zero;
            pa |= 1ull << walk.bit;
        }
        walk_take(&walk, one);
    }
    return pa;
}

bool color_next(struct color_space space, const struct color_set *set, paddr_t pa, paddr_t *next)
{
    uint64_t granule = color_granule_bytes(space);
    uint64_t start = (pa.value + granule - 1) & ~(granule - 1);

    if (start < pa.value) {
        return false;
    }
    if (space.bits == 0) {
        *next = paddr(start);
        return true;
    }
    if (granules_per_period(space, set) == 0) {
        return false;
    }
    *next = paddr(granule_with_rank(space, set, rank_of(space, set, start)));
    return next->value >= start;
}

paddr_t color_after(const struct color_range *range, paddr_t pa)
{
    uint32_t shift = granule_shift(range->space) % 64;
    uint64_t granule = 1ull << shift;
    uint64_t start = pa.value & ~(granule - 1);
    uint64_t colors;
    uint64_t last;
    uint64_t color;
    uint64_t above;
    paddr_t next;

    if (range->space.bits == 0) {
        return paddr(start + granule);
    }
    colors = colors_count_up(range->space, &last) ? colors_to(range->set, last) : 0;
    if (colors == 0) {
        return color_next(range->space, range->set, paddr(start + granule), &next) ? next : paddr(UINT64_MAX);
    }
    color = (start >> shift) & last;
    above = colors >> color >> 1;
    if (above != 0) {
        return paddr(start + ((uint64_t)(lowest_bit(above) + 1) << shift));
    }
    start -= color << shift; /* to the first granule of the next period */
    return paddr(start + ((last + 1 + lowest_bit(colors)) << shift));
}

paddr_t color_at(const struct color_range *range, uint64_t offset)
{
    uint32_t shift = granule_shift(range->space);
    uint64_t in_granule = offset & ((1ull << shift) - 1);

    if (range->space.bits == 0) {
        return paddr(range->first.value + offset);
    }
    return paddr(
        granule_with_rank(range->space, range->set,
                          rank_of(range->space, range->set, range->first.value) + (offset >> shift)) +
        in_granule);
}

uint64_t color_offset(const struct color_range *range, paddr_t pa)
{
    uint32_t shift = granule_shift(range->space);
    uint64_t mask = (1ull << shift) - 1;

    if (range->space.bits == 0) {
        return pa.value - range->first.value;
    }
    return ((rank_of(range->space, range->set, pa.value & ~mask) -
             rank_of(range->space, range->set, range->first.value))
            << shift) |
           (pa.value & mask);
}

paddr_t color_end(const struct color_range *range, uint64_t bytes)
{
    return paddr(color_at(range, bytes - 1).value + 1);
}
