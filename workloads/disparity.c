// SPDX-License-Identifier: Apache-2.0
//
// Stereo disparity by block matching: for each shift, the absolute differences of both images as an integral
// image, from which the sum over the window around each pixel costs four reads; each pixel keeps the shift
// with the least sum. The right image is the left one with each rectangle moved by its depth.
#include "workloads/catalog.h"
#include "workloads/checksum.h"
#include "workloads/image.h"

enum { half_window = 3, ground_shift = 2, most_shifts = 200 };

struct disparity {
    struct scene left; // only its image and where rectangles lie
    struct image right;
    uint32_t *integral;
    uint32_t *least;
    uint8_t *shift; // the result
    uint8_t *truth;
    uint32_t shifts;
};

// Paints what the right camera sees; where two surfaces meet, the nearer one. `nearest` is scratch.
static void make_right(struct disparity *d, uint64_t seed, uint8_t *nearest)
{
    int32_t width = d->right.width;

    image_fill(d->right, seed, ground_shift * 16, 0);
    for (int32_t i = 0; i < width * d->right.height; i++) {
        nearest[i] = ground_shift;
        d->truth[i] = ground_shift;
    }
    for (uint32_t i = 0; i < d->left.count; i++) {
        struct rectangle *r = &d->left.rectangles[i];
        r->depth = (uint8_t)(ground_shift + r->depth % (d->shifts - ground_shift));
        for (int32_t y = r->top; y < r->bottom; y++) {
            for (int32_t x = r->left; x < r->right; x++) {
                int32_t at = y * width + x;
                int32_t seen = at - r->depth;
                // A texture of its own: what lies behind it must look different.
                d->left.image.pixels[at] = image_texture(seed + 1 + i, x * 16, y * 16);
                d->truth[at] = r->depth;
                if (x < r->depth || nearest[seen] > r->depth)
                    continue;
                nearest[seen] = r->depth;
                d->right.pixels[seen] = d->left.image.pixels[at];
            }
        }
    }
}

// What a nearer rectangle hides from the right camera has no truth: 0.
static void forget_hidden(struct disparity *d, const uint8_t *nearest)
{
    int32_t pixels = d->right.width * d->right.height;

    for (int32_t i = 0; i < pixels; i++) {
        bool visible = i % d->right.width >= d->truth[i] && nearest[i - d->truth[i]] == d->truth[i];
        d->truth[i] = visible ? d->truth[i] : 0;
    }
}

static void *prepare(const struct workload_setup *setup)
{
    struct disparity *d = arena_take(setup->arena, 1, sizeof(*d));
    struct image size;
    uint64_t shifts = workload_value(setup, "shifts");
    bool sensible = image_size(setup, &size) && shifts > ground_shift && shifts <= most_shifts;
    uint64_t pixels = sensible ? (uint64_t)size.width * (uint64_t)size.height : 0;
    struct scene left = scene_take(setup->arena, sensible ? size : (struct image){0});
    struct image right = image_take(setup->arena, sensible ? size : (struct image){0});
    uint32_t *integral = arena_take(setup->arena, pixels, sizeof(*integral));
    uint32_t *least = arena_take(setup->arena, pixels, sizeof(*least));
    uint8_t *shift = arena_take(setup->arena, pixels, 1);
    uint8_t *truth = arena_take(setup->arena, pixels, 1);

    if (setup->arena->exhausted || !sensible)
        return NULL;
    *d = (struct disparity){left, right, integral, least, shift, truth, (uint32_t)shifts};
    scene_arrange(&d->left, setup->seed);
    image_fill(d->left.image, setup->seed, 0, 0);
    make_right(d, setup->seed, shift);
    forget_hidden(d, shift);
    return d;
}

static uint32_t difference(uint8_t a, uint8_t b)
{
    return (uint32_t)(a > b ? a - b : b - a);
}

// Of the differences at this shift. The first columns, which the right image does not show, count as
// different.
static void integrate(const struct disparity *d, int32_t shift)
{
    int32_t width = d->right.width;

    for (int32_t y = 0; y < d->right.height; y++) {
        const uint8_t *left = d->left.image.pixels + y * width;
        const uint8_t *right = d->right.pixels + y * width;
        uint32_t *row = d->integral + y * width;
        uint32_t sum = 0;
        for (int32_t x = 0; x < width; x++) {
            sum += x < shift ? 255 : difference(left[x], right[x - shift]);
            row[x] = sum + (y > 0 ? row[x - width] : 0);
        }
    }
}

static void keep_least(const struct disparity *d, int32_t shift)
{
    int32_t width = d->right.width;
    int32_t down = half_window * width;

    for (int32_t y = half_window + 1; y < d->right.height - half_window; y++) {
        for (int32_t x = half_window + 1; x < width - half_window; x++) {
            int32_t at = y * width + x;
            const uint32_t *p = d->integral + at;
            uint32_t sum = p[down + half_window] - p[down - half_window - 1] -
                           p[-down - width + half_window] + p[-down - width - half_window - 1];
            if (sum < d->least[at]) {
                d->least[at] = sum;
                d->shift[at] = (uint8_t)shift;
            }
        }
    }
}

static void iterate(void *state)
{
    const struct disparity *d = state;
    int32_t pixels = d->right.width * d->right.height;

    for (int32_t i = 0; i < pixels; i++) {
        d->least[i] = UINT32_MAX;
        d->shift[i] = 0;
    }
    for (uint32_t shift = 0; shift < d->shifts; shift++) {
        integrate(d, (int32_t)shift);
        keep_least(d, (int32_t)shift);
    }
}

static uint64_t checksum(const void *state)
{
    const struct disparity *d = state;

    return checksum_bytes(0, d->shift, (size_t)(d->right.width * d->right.height));
}

// Is the whole window around the pixel one surface that the right camera sees?
static bool is_plain(const struct disparity *d, int32_t at)
{
    int32_t down = half_window * d->right.width;
    uint8_t here = d->truth[at];
    const uint8_t *p = d->truth + at;

    return here != 0 && p[-down - half_window] == here && p[-down + half_window] == here &&
           p[down - half_window] == here && p[down + half_window] == here;
}

// The inner parts of all rectangles whose match lies within the right image.
static uint32_t correct(const void *state)
{
    const struct disparity *d = state;
    uint32_t right = 0;
    uint32_t all = 0;

    for (uint32_t i = 0; i < d->left.count; i++) {
        const struct rectangle *r = &d->left.rectangles[i];
        for (int32_t y = r->top; y < r->bottom; y++) {
            for (int32_t x = r->left; x < r->right; x++) {
                int32_t at = y * d->right.width + x;
                bool counts = x >= (int32_t)d->shifts + half_window && is_plain(d, at);
                all += counts;
                right += counts && d->shift[at] == d->truth[at];
            }
        }
    }
    return all != 0 ? (uint32_t)((uint64_t)right * 1000 / all) : 0;
}

static const struct workload_parameter parameters[] = {
    {"width", 1920, 128, "of the images"},
    {"height", 1080, 96, "of the images"},
    {"shifts", 32, 12, "disparities that are tried"},
    {0},
};

const struct workload workload_disparity = {
    "disparity", "stereo disparity by block matching", parameters, 2, prepare, iterate, checksum, correct};
