// SPDX-License-Identifier: Apache-2.0
//
// Ties are up to 1024, values up to 2^20: a sum of four products and its multiple of 2^32 / ties stay within
// 64 bits.
#include "workloads/ncut.h"

#include "guests/runtime/random.h"

enum {
    one = 1 << 20,
    strongest = 1024,
    alike_grays = 12, // difference of grays at which a tie is half of the strongest
    least_share = 32, // a half has at least this part of the ties
    weak_share = 2,   // a border's ties are on average weaker than this part of the strongest
};

static int64_t pixel_count(const struct ncut_level *level)
{
    return (int64_t)level->width * level->height;
}

// With a row of 0 before and behind it.
static void *take_padded(struct arena *arena, int32_t width, int32_t height, uint64_t bytes)
{
    uint64_t all = ((uint64_t)height + 2) * (uint64_t)width * bytes;
    unsigned char *start = arena_take(arena, all, 1);

    for (uint64_t i = 0; start != NULL && i < all; i++)
        start[i] = 0;
    return start != NULL ? start + (uint64_t)width * bytes : NULL;
}

struct ncut_level ncut_take(struct arena *arena, int32_t width, int32_t height)
{
    uint64_t pixels = (uint64_t)width * (uint64_t)height;

    return (struct ncut_level){
        .width = width,
        .height = height,
        .gray = arena_take(arena, pixels, 1),
        .value = take_padded(arena, width, height, sizeof(int32_t)),
        .next = take_padded(arena, width, height, sizeof(int32_t)),
        .pixels = take_padded(arena, width, height, sizeof(struct ncut_pixel)),
        .sums = arena_take(arena, 1, sizeof(struct ncut_sums)),
    };
}

// Falls with the fourth power of the distance.
static void fill_strengths(int32_t strength[256])
{
    const int64_t half = (int64_t)alike_grays * alike_grays * alike_grays * alike_grays;

    for (int64_t d = 0; d < 256; d++)
        strength[d] = (int32_t)(1 + (strongest - 1) * half / (half + d * d * d * d));
}

static int32_t distance(uint8_t a, uint8_t b)
{
    return a > b ? a - b : b - a;
}

void ncut_tie(const struct ncut_level *level)
{
    int32_t strength[256];
    int32_t width = level->width;
    const uint8_t *gray = level->gray;

    fill_strengths(strength);
    for (int32_t y = 0; y < level->height; y++) {
        for (int32_t x = 0; x < width; x++) {
            int64_t i = (int64_t)y * width + x;
            struct ncut_pixel *p = &level->pixels[i];
            bool right = x + 1 < width && p[0].part == p[1].part;
            bool down = y + 1 < level->height && p[0].part == p[width].part;
            p->right = right ? strength[distance(gray[i], gray[i + 1])] : 0;
            p->down = down ? strength[distance(gray[i], gray[i + width])] : 0;
            p->degree = p[0].right + p[-1].right + p[0].down + p[-width].down;
            p->inverse = p->degree != 0 ? UINT32_MAX / (uint32_t)p->degree : 0;
        }
    }
}

void ncut_start(const struct ncut_level *level)
{
    for (int64_t i = 0; i < pixel_count(level); i++)
        level->value[i] = (int32_t)(random_mix((uint64_t)i + 1) % (2 * one)) - one;
}

void ncut_refine(const struct ncut_level *level, const struct ncut_level *coarser)
{
    for (int32_t y = 0; y < level->height; y++) {
        const int32_t *from = coarser->value + (int64_t)(y / 2) * coarser->width;
        for (int32_t x = 0; x < level->width; x++)
            level->value[(int64_t)y * level->width + x] = from[x / 2];
    }
}

// Three quarters of the weighted mean of a pixel's neighbours, and a quarter of its own value, minus the
// part's mean in the previous pass.
static void pass(const struct ncut_level *level)
{
    struct ncut_sums *sums = level->sums;
    int32_t width = level->width;
    const int32_t *value = level->value;

    for (int32_t part = 0; part < NCUT_MOST_PARTS; part++)
        sums->value[part] = sums->ties[part] = 0;
    for (int64_t i = 0; i < pixel_count(level); i++) {
        const struct ncut_pixel *p = &level->pixels[i];
        int64_t flow = (int64_t)p[0].right * value[i + 1] + (int64_t)p[-1].right * value[i - 1] +
                       (int64_t)p[0].down * value[i + width] + (int64_t)p[-width].down * value[i - width];
        int64_t average = (flow * p->inverse) >> 32;
        int64_t now = ((value[i] + 3 * average) >> 2) - sums->mean[p->part];
        level->next[i] = (int32_t)now;
        sums->value[p->part] += now * p->degree;
        sums->ties[p->part] += p->degree;
    }
    for (int32_t part = 0; part < NCUT_MOST_PARTS; part++)
        sums->mean[part] = sums->ties[part] != 0 ? sums->value[part] / sums->ties[part] : 0;
}

static void normalize(const struct ncut_level *level)
{
    const int64_t *mean = level->sums->mean;
    int64_t largest[NCUT_MOST_PARTS] = {0};
    int64_t factor[NCUT_MOST_PARTS];

    for (int64_t i = 0; i < pixel_count(level); i++) {
        uint32_t part = level->pixels[i].part;
        int64_t value = level->value[i] - mean[part];
        int64_t size = value < 0 ? -value : value;
        largest[part] = size > largest[part] ? size : largest[part];
    }
    for (int32_t part = 0; part < NCUT_MOST_PARTS; part++)
        factor[part] = largest[part] != 0 ? ((int64_t)one << 20) / largest[part] : 0;
    for (int64_t i = 0; i < pixel_count(level); i++) {
        uint32_t part = level->pixels[i].part;
        level->value[i] = (int32_t)(((level->value[i] - mean[part]) * factor[part]) >> 20);
    }
}

void ncut_relax(struct ncut_level *level, int32_t passes)
{
    for (int32_t part = 0; part < NCUT_MOST_PARTS; part++)
        level->sums->mean[part] = 0;
    for (int32_t done = 0; done < passes; done++) {
        int32_t *before = level->value;
        pass(level);
        level->value = level->next;
        level->next = before;
    }
    normalize(level);
}

static uint32_t bin_of(int32_t value)
{
    int32_t bin = ((value + one) * (NCUT_BINS / 2)) >> 20;

    return bin < 0 ? 0 : bin >= NCUT_BINS ? NCUT_BINS - 1 : (uint32_t)bin;
}

// A tie between two bins is cut by every threshold between them: it is added at the lower bin, and subtracted
// at the upper one.
static void add_tie(struct ncut_bins *bins, uint32_t part, uint32_t a, uint32_t b, int32_t tie)
{
    uint32_t low = a < b ? a : b;
    uint32_t high = a < b ? b : a;

    if (low == high || tie == 0)
        return;
    bins->cut[part][low + 1] += tie;
    bins->cut_count[part][low + 1]++;
    if (high + 1 < NCUT_BINS) {
        bins->cut[part][high + 1] -= tie;
        bins->cut_count[part][high + 1]--;
    }
}

static void fill_bins(const struct ncut_level *level, struct ncut_bins *bins)
{
    int32_t width = level->width;

    for (uint32_t part = 0; part < NCUT_MOST_PARTS; part++) {
        for (uint32_t bin = 0; bin < NCUT_BINS; bin++)
            bins->ties[part][bin] = bins->cut[part][bin] = bins->cut_count[part][bin] = 0;
    }
    for (int64_t i = 0; i < pixel_count(level); i++) {
        uint32_t part = level->pixels[i].part;
        uint32_t bin = bin_of(level->value[i]);
        bins->ties[part][bin] += level->pixels[i].degree;
        add_tie(bins, part, bin, bin_of(level->value[i + 1]), level->pixels[i].right);
        add_tie(bins, part, bin, bin_of(level->value[i + width]), level->pixels[i].down);
    }
}

// The bin from which on a part's pixels are its other half; 0: the part is not cut.
static uint32_t best_threshold(const struct ncut_bins *bins, uint32_t part)
{
    int64_t total = 0;
    int64_t below = 0;
    int64_t cut = 0;
    int64_t count = 0;
    int64_t least = INT64_MAX;
    uint32_t best = 0;

    for (uint32_t bin = 0; bin < NCUT_BINS; bin++)
        total += bins->ties[part][bin];
    for (uint32_t bin = 1; bin < NCUT_BINS; bin++) {
        below += bins->ties[part][bin - 1];
        cut += bins->cut[part][bin];
        count += bins->cut_count[part][bin];
        int64_t above = total - below;
        bool even = below * least_share >= total && above * least_share >= total && below > 0 && above > 0;
        if (!even || cut * weak_share > count * strongest)
            continue;
        int64_t normalized = (cut << 20) / below + (cut << 20) / above;
        if (normalized < least) {
            least = normalized;
            best = bin;
        }
    }
    return best;
}

uint32_t ncut_split(const struct ncut_level *level, struct ncut_bins *bins, uint32_t parts)
{
    uint32_t threshold[NCUT_MOST_PARTS];
    uint32_t other[NCUT_MOST_PARTS];
    uint32_t more = parts;

    fill_bins(level, bins);
    for (uint32_t part = 0; part < parts; part++) {
        threshold[part] = more < NCUT_MOST_PARTS ? best_threshold(bins, part) : 0;
        other[part] = more;
        more += threshold[part] != 0;
    }
    for (int64_t i = 0; i < pixel_count(level); i++) {
        uint32_t part = level->pixels[i].part;
        if (threshold[part] != 0 && bin_of(level->value[i]) >= threshold[part])
            level->pixels[i].part = other[part];
    }
    return more;
}
