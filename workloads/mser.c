// SPDX-License-Identifier: Apache-2.0
//
// Maximally stable extremal regions: pixels join regions from dark to bright (union-find over pixels sorted
// by gray), which makes a tree of regions; stable are those whose area hardly changes over a span of grays.
// Dark regions on a bright ground; for bright ones the image is inverted and the work done again.
#include "workloads/catalog.h"
#include "workloads/checksum.h"
#include "workloads/image.h"

enum { grays = 256, span = 8, least_area = 60, most_of_image = 4 };

// A pixel in the tree, and the region that it makes.
struct node {
    uint32_t parent; // a region of a brighter gray, or the representative of the same one
    uint32_t root;   // union-find
    uint32_t area;
};

struct region {
    uint32_t pixel; // its brightest pixel
    uint32_t area;
    uint32_t bright; // found in the inverted image
};

struct mser {
    struct scene scene;
    uint8_t *gray;   // the image or its inverse
    uint32_t *order; // pixels by gray
    struct node *nodes;
    struct region *regions;
    uint32_t region_count;
    uint32_t region_capacity;
};

static void *prepare(const struct workload_setup *setup)
{
    struct mser *kept = arena_take(setup->arena, 1, sizeof(*kept));
    struct mser m = {0};
    struct image size;

    if (!image_size(setup, &size))
        return NULL;
    uint64_t pixels = (uint64_t)size.width * (uint64_t)size.height;
    m.scene = scene_take(setup->arena, size);
    m.gray = arena_take(setup->arena, pixels, 1);
    m.order = arena_take(setup->arena, pixels, sizeof(uint32_t));
    m.nodes = arena_take(setup->arena, pixels, sizeof(struct node));
    m.region_capacity = (uint32_t)(pixels / 64);
    m.regions = arena_take(setup->arena, m.region_capacity, sizeof(struct region));
    if (setup->arena->exhausted)
        return NULL;
    scene_arrange(&m.scene, setup->seed);
    scene_draw(&m.scene, setup->seed);
    *kept = m;
    return kept;
}

static uint32_t pixel_count(const struct mser *m)
{
    return (uint32_t)m->scene.image.width * (uint32_t)m->scene.image.height;
}

// Sorts by counting.
static void sort_pixels(struct mser *m)
{
    uint32_t start[grays + 1] = {0};

    for (uint32_t i = 0; i < pixel_count(m); i++)
        start[m->gray[i] + 1]++;
    for (int gray = 0; gray < grays; gray++)
        start[gray + 1] += start[gray];
    for (uint32_t i = 0; i < pixel_count(m); i++)
        m->order[start[m->gray[i]]++] = i;
}

// With path halving.
static uint32_t find(struct node *nodes, uint32_t pixel)
{
    while (nodes[pixel].root != pixel) {
        nodes[pixel].root = nodes[nodes[pixel].root].root;
        pixel = nodes[pixel].root;
    }
    return pixel;
}

// The region of `other`, if it was visited already, becomes part of the one that `pixel` makes.
static void join(struct node *nodes, uint32_t pixel, uint32_t other)
{
    if (nodes[other].root == UINT32_MAX)
        return;
    uint32_t part = find(nodes, other);
    if (part == pixel)
        return;
    nodes[part].root = pixel;
    nodes[part].parent = pixel;
    nodes[pixel].area += nodes[part].area;
}

// Joins the regions of its eight neighbours.
static void join_around(const struct mser *m, uint32_t pixel)
{
    int32_t width = m->scene.image.width;
    int32_t x = (int32_t)pixel % width;
    int32_t y = (int32_t)pixel / width;

    for (int32_t row = y - 1; row <= y + 1; row++) {
        for (int32_t column = x - 1; column <= x + 1; column++) {
            if (row >= 0 && column >= 0 && row < m->scene.image.height && column < width)
                join(m->nodes, pixel, (uint32_t)(row * width + column));
        }
    }
}

static void grow(struct mser *m)
{
    for (uint32_t i = 0; i < pixel_count(m); i++)
        m->nodes[i].root = UINT32_MAX;
    for (uint32_t i = 0; i < pixel_count(m); i++) {
        uint32_t pixel = m->order[i];
        m->nodes[pixel] = (struct node){pixel, pixel, 1};
        join_around(m, pixel);
    }
}

// Each parent becomes the last pixel of its gray, so that no path to the root leads through pixels of the
// same region.
static void flatten(struct mser *m)
{
    for (uint32_t i = pixel_count(m); i-- > 0;) {
        struct node *node = &m->nodes[m->order[i]];
        uint32_t above = node->parent;
        if (m->gray[m->nodes[above].parent] == m->gray[above])
            node->parent = m->nodes[above].parent;
    }
}

// Area that the region of `pixel` has after it has grown by `span` grays.
static uint32_t area_later(const struct mser *m, uint32_t pixel)
{
    uint32_t limit = (uint32_t)m->gray[pixel] + span;

    while (m->nodes[pixel].parent != pixel && m->gray[m->nodes[pixel].parent] <= limit)
        pixel = m->nodes[pixel].parent;
    return m->nodes[pixel].area;
}

// Stable: complete at its gray, large enough, and hardly larger `span` grays later, while a region within it
// was not yet complete (otherwise that region was reported).
static void select(struct mser *m, bool bright)
{
    for (uint32_t i = 0; i < pixel_count(m); i++) {
        uint32_t pixel = m->order[i];
        uint32_t above = m->nodes[pixel].parent;
        uint32_t area = m->nodes[pixel].area;
        bool whole = above == pixel || m->gray[above] > m->gray[pixel];
        if (!whole || area < least_area || area > pixel_count(m) / most_of_image)
            continue;
        uint32_t later = area_later(m, pixel);
        if ((later - area) * 10 > area || above == pixel || m->gray[above] < m->gray[pixel] + span)
            continue;
        if (m->region_count < m->region_capacity)
            m->regions[m->region_count++] = (struct region){pixel, area, bright};
    }
}

static void iterate(void *state)
{
    struct mser *m = state;

    m->region_count = 0;
    for (int bright = 0; bright < 2; bright++) {
        for (uint32_t i = 0; i < pixel_count(m); i++)
            m->gray[i] = bright != 0 ? (uint8_t)(255 - m->scene.image.pixels[i]) : m->scene.image.pixels[i];
        sort_pixels(m);
        grow(m);
        flatten(m);
        select(m, bright != 0);
    }
}

static uint64_t checksum(const void *state)
{
    const struct mser *m = state;
    uint64_t sum = checksum_add(0, m->region_count);

    for (uint32_t i = 0; i < m->region_count; i++) {
        sum = checksum_add(sum, (uint64_t)m->regions[i].pixel << 32 | m->regions[i].area);
        sum = checksum_add(sum, m->regions[i].bright);
    }
    return sum;
}

static bool was_found(const struct mser *m, const struct rectangle *r)
{
    uint32_t drawn = (uint32_t)((r->right - r->left) * (r->bottom - r->top));

    for (uint32_t i = 0; i < m->region_count; i++) {
        const struct region *region = &m->regions[i];
        int32_t x = (int32_t)(region->pixel % (uint32_t)m->scene.image.width);
        int32_t y = (int32_t)(region->pixel / (uint32_t)m->scene.image.width);
        bool within = x >= r->left && x < r->right && y >= r->top && y < r->bottom;
        if (within && region->area * 10 >= drawn * 9 && region->area * 10 <= drawn * 11)
            return true;
    }
    return false;
}

// The first rectangles: those that contain a pixel of a region of their size.
static uint32_t correct(const void *state)
{
    const struct mser *m = state;
    uint32_t sample = m->scene.count < 200 ? m->scene.count : 200;
    uint32_t right = 0;

    for (uint32_t i = 0; i < sample; i++)
        right += was_found(m, &m->scene.rectangles[i]);
    return sample != 0 ? right * 1000 / sample : 0;
}

static const struct workload_parameter parameters[] = {
    {"width", 1920, 128, "of the image"},
    {"height", 1080, 96, "of the image"},
    {0},
};

const struct workload workload_mser = {
    "mser", "maximally stable extremal regions", parameters, 3, prepare, iterate, checksum, correct};
