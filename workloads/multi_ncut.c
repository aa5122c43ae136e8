// SPDX-License-Identifier: Apache-2.0
//
// Segmentation by normalized cuts on several scales: the vector that determines the cut is found on a small
// image and refined on larger ones; then each part is cut again, as long as there is a border in it. The
// input is a picture of areas with straight borders, each with its own gray and texture.
#include "workloads/catalog.h"
#include "workloads/checksum.h"
#include "workloads/image.h"
#include "workloads/ncut.h"

enum {
    across = 4, // areas
    down = 2,
    areas = across * down,
    levels_most = 8,
    coarsest_side = 32,
    coarsest_passes = 500,
    passes = 16,
    darkest = 20,
    gray_step = 28, // between one area and the next darker one
};

struct area {
    int32_t x; // each pixel belongs to the area of the nearest of these
    int32_t y;
};

struct multi_ncut {
    struct ncut_level levels[levels_most]; // from the whole image to the smallest
    int32_t level_count;
    struct area areas[areas];
    struct ncut_bins *bins;
    uint32_t (*shared)[areas]; // pixels by part and area
    uint64_t rounds;
    uint32_t parts;
};

// One in each field of the picture, in or near its middle.
static void arrange(struct multi_ncut *m, uint64_t seed)
{
    struct random random = {.state = seed};
    int32_t field_width = m->levels[0].width / across;
    int32_t field_height = m->levels[0].height / down;

    for (int32_t i = 0; i < areas; i++) {
        int32_t left = i % across * field_width + field_width / 4;
        int32_t top = i / across * field_height + field_height / 4;
        m->areas[i].x = left + (int32_t)random_below(&random, (uint64_t)field_width / 2);
        m->areas[i].y = top + (int32_t)random_below(&random, (uint64_t)field_height / 2);
    }
}

static uint32_t area_at(const struct multi_ncut *m, int32_t x, int32_t y)
{
    uint32_t nearest = 0;
    int64_t least = INT64_MAX;

    for (uint32_t i = 0; i < areas; i++) {
        int64_t dx = x - m->areas[i].x;
        int64_t dy = y - m->areas[i].y;
        if (dx * dx + dy * dy < least) {
            least = dx * dx + dy * dy;
            nearest = i;
        }
    }
    return nearest;
}

// Orders the grays so that neighbours differ by more than one step.
static void draw(const struct multi_ncut *m, uint64_t seed)
{
    static const uint8_t shade[areas] = {0, 4, 1, 6, 5, 2, 7, 3};
    const struct ncut_level *image = &m->levels[0];

    image_fill((struct image){image->gray, image->width, image->height}, seed, 0, 0);
    for (int32_t y = 0; y < image->height; y++) {
        for (int32_t x = 0; x < image->width; x++) {
            uint8_t *gray = &image->gray[(int64_t)y * image->width + x];
            *gray = (uint8_t)(darkest + gray_step * shade[area_at(m, x, y)] + *gray / 32 - 4);
        }
    }
}

// Takes every second pixel of every second row: means would tie areas together where they meet.
static void shrink(const struct ncut_level *from, const struct ncut_level *to)
{
    for (int32_t y = 0; y < to->height; y++) {
        for (int32_t x = 0; x < to->width; x++)
            to->gray[(int64_t)y * to->width + x] = from->gray[(int64_t)2 * y * from->width + 2 * x];
    }
}

static void *prepare(const struct workload_setup *setup)
{
    struct multi_ncut *m = arena_take(setup->arena, 1, sizeof(*m));
    struct image size;

    if (m == NULL || !image_size(setup, &size))
        return NULL;
    *m = (struct multi_ncut){.rounds = workload_value(setup, "rounds")};
    m->bins = arena_take(setup->arena, 1, sizeof(*m->bins));
    m->shared = arena_take(setup->arena, NCUT_MOST_PARTS, sizeof(*m->shared));
    for (int32_t width = size.width, height = size.height; m->level_count < levels_most;) {
        m->levels[m->level_count++] = ncut_take(setup->arena, width, height);
        if (width <= coarsest_side || height <= coarsest_side)
            break;
        width = (width + 1) / 2;
        height = (height + 1) / 2;
    }
    if (setup->arena->exhausted || m->rounds == 0)
        return NULL;
    arrange(m, setup->seed);
    draw(m, setup->seed);
    for (int32_t i = 1; i < m->level_count; i++)
        shrink(&m->levels[i - 1], &m->levels[i]);
    return m;
}

// Sets the ties on each level from the pixels of that image.
static void hand_down_parts(const struct multi_ncut *m)
{
    for (int32_t i = 1; i < m->level_count; i++) {
        const struct ncut_level *from = &m->levels[i - 1];
        const struct ncut_level *to = &m->levels[i];
        for (int32_t y = 0; y < to->height; y++) {
            for (int32_t x = 0; x < to->width; x++)
                to->pixels[(int64_t)y * to->width + x].part =
                    from->pixels[(int64_t)2 * y * from->width + 2 * x].part;
        }
    }
}

static void iterate(void *state)
{
    struct multi_ncut *m = state;
    struct ncut_level *image = &m->levels[0];
    uint32_t before = 0;

    for (int64_t i = 0; i < (int64_t)image->width * image->height; i++)
        image->pixels[i].part = 0;
    m->parts = 1;
    for (uint64_t round = 0; round < m->rounds && m->parts != before; round++) {
        before = m->parts;
        hand_down_parts(m);
        for (int32_t i = m->level_count - 1; i >= 0; i--) {
            struct ncut_level *level = &m->levels[i];
            bool coarsest = i == m->level_count - 1;
            ncut_tie(level);
            if (coarsest)
                ncut_start(level);
            else
                ncut_refine(level, &m->levels[i + 1]);
            ncut_relax(level, coarsest ? coarsest_passes : passes);
        }
        m->parts = ncut_split(image, m->bins, m->parts);
    }
}

static uint64_t checksum(const void *state)
{
    const struct multi_ncut *m = state;
    const struct ncut_level *image = &m->levels[0];
    uint64_t sum = checksum_add(0, m->parts);

    for (int64_t i = 0; i < (int64_t)image->width * image->height; i++)
        sum = checksum_add(sum, image->pixels[i].part);
    return sum;
}

// Counts the pixels of areas that are one part by themselves.
static uint32_t correct(const void *state)
{
    const struct multi_ncut *m = state;
    const struct ncut_level *image = &m->levels[0];
    uint64_t right = 0;

    for (uint32_t part = 0; part < NCUT_MOST_PARTS; part++) {
        for (uint32_t area = 0; area < areas; area++)
            m->shared[part][area] = 0;
    }
    for (int32_t y = 0; y < image->height; y++) {
        for (int32_t x = 0; x < image->width; x++)
            m->shared[image->pixels[(int64_t)y * image->width + x].part][area_at(m, x, y)]++;
    }
    for (uint32_t area = 0; area < areas; area++) {
        uint32_t part = 0;
        uint32_t owner = 0;
        for (uint32_t i = 1; i < NCUT_MOST_PARTS; i++)
            part = m->shared[i][area] > m->shared[part][area] ? i : part;
        for (uint32_t i = 1; i < areas; i++)
            owner = m->shared[part][i] > m->shared[part][owner] ? i : owner;
        right += owner == area ? m->shared[part][area] : 0;
    }
    return (uint32_t)(right * 1000 / ((uint64_t)image->width * (uint64_t)image->height));
}

static const struct workload_parameter parameters[] = {
    {"width", 1920, 128, "of the image"},
    {"height", 1080, 96, "of the image"},
    {"rounds", 5, 5, "of cutting each part in two"},
    {0},
};

const struct workload workload_multi_ncut = {
    "multi_ncut", "image segmentation by normalized cuts", parameters, 2, prepare, iterate, checksum,
    correct};
