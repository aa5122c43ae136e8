// SPDX-License-Identifier: Apache-2.0
//
// Corner detection (Harris): products of gradients, summed over a window, give for each pixel how much the
// image changes in both directions; corners are the local maxima above a threshold. Integers.
#include "workloads/catalog.h"
#include "workloads/checksum.h"
#include "workloads/image.h"

enum { window = 2, border = 4, near = 2 };

// A hundredth of a strong corner's response.
#define THRESHOLD 4000000

struct corner {
    int32_t x, y;
};

struct corners {
    struct scene scene;
    int32_t *xx, *yy, *xy; // products of gradients, then their sums
    int32_t *row_sums;
    int64_t *response;
    struct corner *found;
    uint32_t found_count;
    uint32_t found_capacity;
};

static void *prepare(const struct workload_setup *setup)
{
    struct corners *c = arena_take(setup->arena, 1, sizeof(*c));
    struct image size;
    bool sensible = image_size(setup, &size);
    uint64_t pixels = sensible ? (uint64_t)size.width * (uint64_t)size.height : 0;
    struct scene scene = scene_take(setup->arena, sensible ? size : (struct image){0});
    int32_t *planes = arena_take(setup->arena, 4 * pixels, sizeof(*planes));
    int64_t *response = arena_take(setup->arena, pixels, sizeof(*response));
    struct corner *found = arena_take(setup->arena, pixels / 16, sizeof(*found));

    if (setup->arena->exhausted || !sensible)
        return NULL;
    *c = (struct corners){
        scene, planes, planes + pixels,        planes + 2 * pixels, planes + 3 * pixels, response,
        found, 0,      (uint32_t)(pixels / 16)};
    scene_arrange(&c->scene, setup->seed);
    scene_draw(&c->scene, setup->seed);
    return c;
}

static void multiply_gradients(const struct corners *c)
{
    int32_t width = c->scene.image.width;

    for (int32_t y = 1; y < c->scene.image.height - 1; y++) {
        for (int32_t x = 1; x < width - 1; x++) {
            int32_t at = y * width + x;
            const uint8_t *p = c->scene.image.pixels + at;
            int32_t dx = p[1 - width] + 2 * p[1] + p[1 + width] - p[-1 - width] - 2 * p[-1] - p[-1 + width];
            int32_t dy =
                p[width - 1] + 2 * p[width] + p[width + 1] - p[-width - 1] - 2 * p[-width] - p[-width + 1];
            c->xx[at] = dx * dx / 16;
            c->yy[at] = dy * dy / 16;
            c->xy[at] = dx * dy / 16;
        }
    }
}

// Each value becomes the sum of the window around it, along rows and then along columns.
static void sum_windows(const struct corners *c, int32_t *plane)
{
    int32_t width = c->scene.image.width;
    int32_t height = c->scene.image.height;

    for (int32_t y = 1; y < height - 1; y++) {
        for (int32_t x = 1 + window; x < width - 1 - window; x++) {
            const int32_t *p = plane + y * width + x;
            c->row_sums[y * width + x] = p[-2] + p[-1] + p[0] + p[1] + p[2];
        }
    }
    for (int32_t y = 1 + window; y < height - 1 - window; y++) {
        for (int32_t x = 1 + window; x < width - 1 - window; x++) {
            const int32_t *p = c->row_sums + y * width + x;
            plane[y * width + x] = p[-2 * width] + p[-width] + p[0] + p[width] + p[2 * width];
        }
    }
}

// det - trace^2 / 16
static void respond(const struct corners *c)
{
    int32_t width = c->scene.image.width;

    for (int32_t y = border - 1; y < c->scene.image.height - border + 1; y++) {
        for (int32_t x = border - 1; x < width - border + 1; x++) {
            int32_t at = y * width + x;
            int64_t xx = c->xx[at];
            int64_t yy = c->yy[at];
            int64_t xy = c->xy[at];
            c->response[at] = xx * yy - xy * xy - (xx + yy) * (xx + yy) / 16;
        }
    }
}

// Of equal neighbours the first one counts.
static bool is_highest(const int64_t *p, int32_t width)
{
    for (int32_t dy = -1; dy <= 1; dy++) {
        for (int32_t dx = -1; dx <= 1; dx++) {
            int64_t other = p[dy * width + dx];
            bool before = dy < 0 || (dy == 0 && dx < 0);
            if (other > *p || (before && other == *p))
                return false;
        }
    }
    return true;
}

static void select(struct corners *c)
{
    int32_t width = c->scene.image.width;

    c->found_count = 0;
    for (int32_t y = border; y < c->scene.image.height - border; y++) {
        for (int32_t x = border; x < width - border; x++) {
            const int64_t *p = c->response + y * width + x;
            if (*p > THRESHOLD && is_highest(p, width) && c->found_count < c->found_capacity)
                c->found[c->found_count++] = (struct corner){x, y};
        }
    }
}

static void iterate(void *state)
{
    struct corners *c = state;

    multiply_gradients(c);
    sum_windows(c, c->xx);
    sum_windows(c, c->yy);
    sum_windows(c, c->xy);
    respond(c);
    select(c);
}

static uint64_t checksum(const void *state)
{
    const struct corners *c = state;
    uint64_t sum = checksum_add(0, c->found_count);

    for (uint32_t i = 0; i < c->found_count; i++)
        sum = checksum_add(sum, (uint64_t)c->found[i].x << 32 | (uint32_t)c->found[i].y);
    return sum;
}

static bool has_corner(const struct corners *c, int32_t x, int32_t y)
{
    for (uint32_t i = 0; i < c->found_count; i++) {
        int32_t dx = c->found[i].x - x;
        int32_t dy = c->found[i].y - y;
        if (dx >= -near && dx <= near && dy >= -near && dy <= near)
            return true;
    }
    return false;
}

// Corners drawn in the first rows of rectangles that were found; 0 if far more were found than drawn.
static uint32_t correct(const void *state)
{
    const struct corners *c = state;
    uint32_t sample = c->scene.count < 64 ? c->scene.count : 64;
    uint32_t right = 0;

    for (uint32_t i = 0; i < sample; i++) {
        const struct rectangle *r = &c->scene.rectangles[i];
        right +=
            (uint32_t)(has_corner(c, r->left, r->top) + has_corner(c, r->right - 1, r->top) +
                       has_corner(c, r->left, r->bottom - 1) + has_corner(c, r->right - 1, r->bottom - 1));
    }
    return sample == 0 || c->found_count > 5 * c->scene.count ? 0 : right * 250 / sample;
}

static const struct workload_parameter parameters[] = {
    {"width", 1920, 128, "of the image"},
    {"height", 1080, 96, "of the image"},
    {0},
};

const struct workload workload_corners = {
    "corners", "corner detection (Harris)", parameters, 5, prepare, iterate, checksum, correct};
