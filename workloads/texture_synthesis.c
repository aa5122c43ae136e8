// SPDX-License-Identifier: Apache-2.0
//
// Texture synthesis (Wei and Levoy, with the candidates of Ashikhmin): an image grows pixel by pixel from a
// sample. For each pixel, candidates are the sample's pixels next to those from which its finished neighbours
// came; the one with the most similar surroundings is taken. The sample repeats a tile, so the image must
// repeat it, too.
#include "workloads/catalog.h"
#include "workloads/checksum.h"
#include "workloads/image.h"

enum { reach = 3, tile = 16, candidates = 2 * reach * (reach + 1), nearly = 24 };

struct place {
    int32_t x, y; // in the sample
};

struct synthesis {
    struct image sample;
    struct image made;
    struct place *source; // position in the sample of each pixel that was made
    uint64_t seed;
};

static void draw_sample(struct image sample, uint64_t seed)
{
    struct rectangle one = {.right = tile, .bottom = tile};

    image_fill_part(sample, one, seed, 0, 0);
    for (int32_t y = 0; y < sample.height; y++) {
        for (int32_t x = 0; x < sample.width; x++)
            sample.pixels[y * sample.width + x] = sample.pixels[y % tile * sample.width + x % tile];
    }
}

static void *prepare(const struct workload_setup *setup)
{
    struct synthesis *kept = arena_take(setup->arena, 1, sizeof(*kept));
    struct synthesis s = {.seed = setup->seed};
    uint64_t side = workload_value(setup, "sample");

    if (!image_size(setup, &s.made) || side < IMAGE_LEAST_SIDE || side > IMAGE_MOST_SIDE)
        return NULL;
    s.sample = (struct image){.width = (int32_t)side, .height = (int32_t)side};
    s.sample = image_take(setup->arena, s.sample);
    s.made = image_take(setup->arena, s.made);
    s.source = arena_take(setup->arena, (uint64_t)s.made.width * (uint64_t)s.made.height, sizeof(*s.source));
    if (setup->arena->exhausted)
        return NULL;
    draw_sample(s.sample, setup->seed);
    *kept = s;
    return kept;
}

static bool is_within(const struct image *sample, struct place p)
{
    return p.x >= reach && p.y >= reach && p.x < sample->width - reach && p.y < sample->height;
}

// Compares the pixels before (x, y) within reach, in the order of rows, with those before the place.
static uint32_t difference(const struct synthesis *s, int32_t x, int32_t y, struct place p, uint32_t least)
{
    uint32_t sum = 0;

    for (int32_t row = -reach; row <= 0 && sum < least; row++) {
        const uint8_t *made = s->made.pixels + (y + row) * s->made.width + x;
        const uint8_t *from = s->sample.pixels + (p.y + row) * s->sample.width + p.x;
        for (int32_t column = -reach; column <= (row < 0 ? reach : -1); column++) {
            int32_t more = made[column] - from[column];
            sum += (uint32_t)(more * more);
        }
    }
    return sum;
}

static struct place any_place(const struct synthesis *s, struct random *random)
{
    return (struct place){
        reach + (int32_t)random_below(random, (uint64_t)(s->sample.width - 2 * reach)),
        reach + (int32_t)random_below(random, (uint64_t)(s->sample.height - reach)),
    };
}

// Lists each candidate once: for each pixel before (x, y), where (x, y) would be in the sample relative to
// that pixel's origin.
static uint32_t find_candidates(const struct synthesis *s, int32_t x, int32_t y,
                                struct place found[candidates])
{
    uint32_t count = 0;

    for (int32_t row = -reach; row <= 0; row++) {
        for (int32_t column = -reach; column <= (row < 0 ? reach : -1); column++) {
            struct place p = s->source[(y + row) * s->made.width + x + column];
            uint32_t same = 0;
            p.x -= column;
            p.y -= row;
            if (!is_within(&s->sample, p))
                continue;
            while (same < count && (found[same].x != p.x || found[same].y != p.y))
                same++;
            found[same] = p;
            count += same == count;
        }
    }
    return count;
}

static struct place best_place(const struct synthesis *s, int32_t x, int32_t y, struct random *random)
{
    struct place found[candidates];
    struct place best = any_place(s, random);
    uint32_t least = difference(s, x, y, best, UINT32_MAX);
    uint32_t count = find_candidates(s, x, y, found);

    for (uint32_t i = 0; i < count; i++) {
        uint32_t here = difference(s, x, y, found[i], least);
        best = here < least ? found[i] : best;
        least = here < least ? here : least;
    }
    return best;
}

// The first rows and the sides have too few pixels before them, and are copied from the sample.
static void iterate(void *state)
{
    struct synthesis *s = state;
    struct random random = {.state = s->seed};
    int32_t width = s->made.width;

    for (int32_t y = 0; y < s->made.height; y++) {
        for (int32_t x = 0; x < width; x++) {
            bool whole = y >= reach && x >= reach && x < width - reach;
            struct place p = {reach + x % tile, reach + y % tile};
            p = whole ? best_place(s, x, y, &random) : p;
            s->source[y * width + x] = p;
            s->made.pixels[y * width + x] = s->sample.pixels[p.y * s->sample.width + p.x];
        }
    }
}

static uint64_t checksum(const void *state)
{
    const struct synthesis *s = state;

    return checksum_bytes(0, s->made.pixels, (size_t)s->made.width * (size_t)s->made.height);
}

// Counts pixels that are nearly the same one tile further.
static uint32_t correct(const void *state)
{
    const struct synthesis *s = state;
    uint64_t right = 0;
    uint64_t all = 0;

    for (int32_t y = tile; y < s->made.height; y++) {
        for (int32_t x = tile; x < s->made.width; x++) {
            const uint8_t *p = &s->made.pixels[y * s->made.width + x];
            int32_t left = p[0] - p[-tile];
            int32_t up = p[0] - p[-tile * s->made.width];
            right += left < nearly && left > -nearly && up < nearly && up > -nearly;
            all++;
        }
    }
    return (uint32_t)(right * 1000 / all);
}

static const struct workload_parameter parameters[] = {
    {"width", 1920, 96, "of the image that is made"},
    {"height", 1080, 64, "of the image that is made"},
    {"sample", 128, 64, "side of the sample"},
    {0},
};

const struct workload workload_texture_synthesis = {"texture_synthesis",
                                                    "an image like a sample, pixel by pixel",
                                                    parameters,
                                                    1,
                                                    prepare,
                                                    iterate,
                                                    checksum,
                                                    correct};
