// SPDX-License-Identifier: Apache-2.0
//
// Maximally stable extremal regions: pixels join regions from dark to bright (union-find over pixels sorted
// by gray), which makes a tree of regions; stable are those whose area hardly changes over a span of grays.
// Dark regions on a bright ground; for bright ones the image is inverted and the work done again.
#include "workloads/catalog.h"
#include "workloads/checksum.h"
#include "workloads/image.h"

enum { grays = 256, span = 8, least_area = 60, most_of_image = 4 };

struct region {
    uint32_t pixel; // its brightest
    uint32_t area;
    uint32_t sum_x; // of its pixels, for the centre
    uint32_t sum_y;
    uint32_t bright; // found in the inverted image
};

struct mser {
    struct scene scene;
    uint8_t *gray;    // the image or its inverse
    uint32_t *order;  // pixels by gray
    uint32_t *parent; // in the tree: a region of a brighter gray, or the representative of the same one
    uint32_t *root;   // union-find
    uint32_t *area;
    uint32_t *sum_x;
    uint32_t *sum_y;
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
    m.parent = arena_take(setup->arena, pixels, sizeof(uint32_t));
    m.root = arena_take(setup->arena, pixels, sizeof(uint32_t));
    m.area = arena_take(setup->arena, pixels, sizeof(uint32_t));
    m.sum_x = arena_take(setup->arena, pixels, sizeof(uint32_t));
    m.sum_y = arena_take(setup->arena, pixels, sizeof(uint32_t));
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

// By counting.
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
static uint32_t find(uint32_t *root, uint32_t pixel)
{
    while (root[pixel] != pixel) {
        root[pixel] = root[root[pixel]];
        pixel = root[pixel];
    }
    return pixel;
}

// The region of `other`, if it was seen already, becomes part of the one that `pixel` makes.
static void join(struct mser *m, uint32_t pixel, uint32_t other)
{
    if (m->root[other] == UINT32_MAX)
        return;
    uint32_t part = find(m->root, other);
    if (part == pixel)
        return;
    m->root[part] = pixel;
    m->parent[part] = pixel;
    m->area[pixel] += m->area[part];
    m->sum_x[pixel] += m->sum_x[part];
    m->sum_y[pixel] += m->sum_y[part];
}

static void grow(struct mser *m)
{
    uint32_t width = (uint32_t)m->scene.image.width;
    uint32_t height = (uint32_t)m->scene.image.height;

    for (uint32_t i = 0; i < pixel_count(m); i++)
        m->root[i] = UINT32_MAX;
    for (uint32_t i = 0; i < pixel_count(m); i++) {
        uint32_t pixel = m->order[i];
        uint32_t x = pixel % width;
        uint32_t y = pixel / width;
        m->root[pixel] = pixel;
        m->parent[pixel] = pixel;
        m->area[pixel] = 1;
        m->sum_x[pixel] = x;
        m->sum_y[pixel] = y;
        if (x > 0)
            join(m, pixel, pixel - 1);
        if (x + 1 < width)
            join(m, pixel, pixel + 1);
        if (y > 0)
            join(m, pixel, pixel - width);
        if (y + 1 < height)
            join(m, pixel, pixel + width);
    }
}

// Each parent becomes the last pixel of its gray, so that no way up leads through the pixels of one region.
static void flatten(struct mser *m)
{
    for (uint32_t i = pixel_count(m); i-- > 0;) {
        uint32_t above = m->parent[m->order[i]];
        if (m->gray[m->parent[above]] == m->gray[above])
            m->parent[m->order[i]] = m->parent[above];
    }
}

// Area of the region that `pixel`'s has become `span` grays brighter.
static uint32_t area_later(const struct mser *m, uint32_t pixel)
{
    uint32_t limit = (uint32_t)m->gray[pixel] + span;

    while (m->parent[pixel] != pixel && m->gray[m->parent[pixel]] <= limit)
        pixel = m->parent[pixel];
    return m->area[pixel];
}

// Stable: whole at its gray, of some size, and hardly larger `span` grays later, while one that is part of it
// was not yet whole (else that one was reported).
static void select(struct mser *m, bool bright)
{
    for (uint32_t i = 0; i < pixel_count(m); i++) {
        uint32_t pixel = m->order[i];
        uint32_t above = m->parent[pixel];
        uint32_t area = m->area[pixel];
        bool whole = above == pixel || m->gray[above] > m->gray[pixel];
        if (!whole || area < least_area || area > pixel_count(m) / most_of_image)
            continue;
        uint32_t later = area_later(m, pixel);
        if ((later - area) * 10 > area || above == pixel || m->gray[above] < m->gray[pixel] + span)
            continue;
        if (m->region_count < m->region_capacity)
            m->regions[m->region_count++] =
                (struct region){pixel, area, m->sum_x[pixel], m->sum_y[pixel], bright};
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
        sum = checksum_add(sum, (uint64_t)m->regions[i].sum_x << 32 | m->regions[i].sum_y);
    }
    return sum;
}

static bool was_found(const struct mser *m, const struct rectangle *r)
{
    uint32_t drawn = (uint32_t)((r->right - r->left) * (r->bottom - r->top));

    for (uint32_t i = 0; i < m->region_count; i++) {
        const struct region *region = &m->regions[i];
        int32_t x = (int32_t)(region->sum_x / region->area);
        int32_t y = (int32_t)(region->sum_y / region->area);
        int32_t dx = 2 * x - r->left - r->right;
        int32_t dy = 2 * y - r->top - r->bottom;
        bool at = dx >= -4 && dx <= 4 && dy >= -4 && dy <= 4;
        if (at && region->area * 10 >= drawn * 9 && region->area * 10 <= drawn * 11)
            return true;
    }
    return false;
}

// The first rectangles: those with a region of their size and place.
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
