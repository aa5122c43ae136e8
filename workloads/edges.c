// SPDX-License-Identifier: Apache-2.0
//
// Edge detection (Canny): smooth, gradients, thin to the ridge across the edge, keep strong pixels and weak
// ones that are connected with them. Integers.
#include "workloads/catalog.h"
#include "workloads/checksum.h"
#include "workloads/image.h"

enum { weak = 1, strong = 2, low_threshold = 60, high_threshold = 140, border = 4 };

struct edges {
    struct scene scene;
    uint16_t *rows;     // smoothed along rows, times 16
    uint8_t *smooth;    // and along columns
    uint16_t *strength; // |dx| + |dy|
    uint8_t *direction; // 0: the gradient is horizontal, 1 diagonal down, 2 vertical, 3 diagonal up
    uint8_t *class;
    int32_t *waiting; // strong pixels whose neighbours have not been visited
    uint32_t edge_pixels;
};

static void *prepare(const struct workload_setup *setup)
{
    struct edges *e = arena_take(setup->arena, 1, sizeof(*e));
    struct image size;
    bool sensible = image_size(setup, &size);
    uint64_t pixels = sensible ? (uint64_t)size.width * (uint64_t)size.height : 0;
    struct scene scene = scene_take(setup->arena, sensible ? size : (struct image){0});
    uint16_t *rows = arena_take(setup->arena, pixels, sizeof(*rows));
    uint8_t *smooth = arena_take(setup->arena, pixels, 1);
    uint16_t *strength = arena_take(setup->arena, pixels, sizeof(*strength));
    uint8_t *direction = arena_take(setup->arena, pixels, 1);
    uint8_t *class = arena_take(setup->arena, pixels, 1);
    int32_t *waiting = arena_take(setup->arena, pixels, sizeof(*waiting));

    if (setup->arena->exhausted || !sensible)
        return NULL;
    *e = (struct edges){scene, rows, smooth, strength, direction, class, waiting, 0};
    scene_arrange(&e->scene, setup->seed);
    scene_draw(&e->scene, setup->seed);
    for (uint64_t i = 0; i < pixels; i++) {
        strength[i] = 0;
        class[i] = 0;
    }
    return e;
}

// Weights 1 4 6 4 1, along rows and then along columns.
static void smooth(const struct edges *e)
{
    int32_t width = e->scene.image.width;
    int32_t height = e->scene.image.height;

    for (int32_t y = 0; y < height; y++) {
        for (int32_t x = 2; x < width - 2; x++) {
            const uint8_t *p = e->scene.image.pixels + y * width + x;
            e->rows[y * width + x] = (uint16_t)(p[-2] + p[2] + 4 * (p[-1] + p[1]) + 6 * p[0]);
        }
    }
    for (int32_t y = 2; y < height - 2; y++) {
        for (int32_t x = 2; x < width - 2; x++) {
            const uint16_t *p = e->rows + y * width + x;
            int32_t sum = p[-2 * width] + p[2 * width] + 4 * (p[-width] + p[width]) + 6 * p[0];
            e->smooth[y * width + x] = (uint8_t)(sum / 256);
        }
    }
}

static int32_t absolute(int32_t value)
{
    return value < 0 ? -value : value;
}

// The steps between directions are at 22.5 and 67.5 degrees: tangents 0.414 and 2.414.
static uint8_t direction_of(int32_t dx, int32_t dy)
{
    int32_t ax = absolute(dx);
    int32_t ay = absolute(dy);

    if (ay * 1000 < ax * 414)
        return 0;
    if (ay * 1000 > ax * 2414)
        return 2;
    return (dx < 0) == (dy < 0) ? 1 : 3;
}

static void differentiate(const struct edges *e)
{
    int32_t width = e->scene.image.width;

    for (int32_t y = 3; y < e->scene.image.height - 3; y++) {
        for (int32_t x = 3; x < width - 3; x++) {
            int32_t at = y * width + x;
            const uint8_t *p = e->smooth + at;
            int32_t dx = p[1 - width] + 2 * p[1] + p[1 + width] - p[-1 - width] - 2 * p[-1] - p[-1 + width];
            int32_t dy =
                p[width - 1] + 2 * p[width] + p[width + 1] - p[-width - 1] - 2 * p[-width] - p[-width + 1];
            e->strength[at] = (uint16_t)(absolute(dx) + absolute(dy));
            e->direction[at] = direction_of(dx, dy);
        }
    }
}

// Classes: only pixels on ridges above a threshold. Strong ones are put on the stack, for their neighbours.
static int32_t thin(const struct edges *e)
{
    int32_t width = e->scene.image.width;
    const int32_t across[4] = {1, width + 1, width, 1 - width};
    int32_t waiting = 0;

    for (int32_t y = border; y < e->scene.image.height - border; y++) {
        for (int32_t x = border; x < width - border; x++) {
            int32_t at = y * width + x;
            int32_t here = e->strength[at];
            int32_t step = across[e->direction[at]];
            bool ridge = here > e->strength[at - step] && here >= e->strength[at + step];
            uint8_t class = ridge && here > low_threshold ? (here > high_threshold ? strong : weak) : 0;
            e->class[at] = class;
            if (class == strong)
                e->waiting[waiting++] = at;
        }
    }
    return waiting;
}

// Weak pixels beside strong ones become strong.
static uint32_t follow(const struct edges *e, int32_t waiting)
{
    int32_t width = e->scene.image.width;
    uint32_t count = (uint32_t)waiting;

    while (waiting > 0) {
        int32_t at = e->waiting[--waiting];
        for (int32_t dy = -width; dy <= width; dy += width) {
            for (int32_t dx = -1; dx <= 1; dx++) {
                int32_t other = at + dy + dx;
                if (e->class[other] != weak)
                    continue;
                e->class[other] = strong;
                e->waiting[waiting++] = other;
                count++;
            }
        }
    }
    return count;
}

static void iterate(void *state)
{
    struct edges *e = state;

    smooth(e);
    differentiate(e);
    e->edge_pixels = follow(e, thin(e));
}

static uint64_t checksum(const void *state)
{
    const struct edges *e = state;
    int32_t pixels = e->scene.image.width * e->scene.image.height;

    return checksum_bytes(checksum_add(0, e->edge_pixels), e->class, (size_t)pixels);
}

static bool is_near_edge(const struct edges *e, int32_t x, int32_t y)
{
    for (int32_t dy = -1; dy <= 1; dy++) {
        for (int32_t dx = -1; dx <= 1; dx++) {
            if (e->class[(y + dy) * e->scene.image.width + x + dx] == strong)
                return true;
        }
    }
    return false;
}

// Counts the middles of all drawn sides that have an edge, unless there are far more edge pixels than drawn.
static uint32_t correct(const void *state)
{
    const struct edges *e = state;
    uint32_t right = 0;
    uint32_t drawn = 0;

    for (uint32_t i = 0; i < e->scene.count; i++) {
        const struct rectangle *r = &e->scene.rectangles[i];
        int32_t x = (r->left + r->right) / 2;
        int32_t y = (r->top + r->bottom) / 2;
        right += (uint32_t)(is_near_edge(e, x, r->top) + is_near_edge(e, x, r->bottom) +
                            is_near_edge(e, r->left, y) + is_near_edge(e, r->right, y));
        drawn += 2 * (uint32_t)(r->right - r->left + r->bottom - r->top);
    }
    return e->scene.count == 0 || e->edge_pixels > drawn * 3 / 2 ? 0 : right * 250 / e->scene.count;
}

static const struct workload_parameter parameters[] = {
    {"width", 1920, 128, "of the image"},
    {"height", 1080, 96, "of the image"},
    {0},
};

const struct workload workload_edges = {
    "edges", "edge detection (Canny)", parameters, 5, prepare, iterate, checksum, correct};
