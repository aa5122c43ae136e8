// SPDX-License-Identifier: Apache-2.0
//
// Value noise: random grays at the points of a lattice, interpolated between them, summed over lattices of
// several widths. Integers throughout.
#include "workloads/image.h"

#include "guests/runtime/random.h"

enum { ground_gray = 110, shades = 8, octaves = 3 };

bool image_size(const struct workload_setup *setup, struct image *image)
{
    uint64_t width = workload_value(setup, "width");
    uint64_t height = workload_value(setup, "height");

    *image = (struct image){.width = (int32_t)width, .height = (int32_t)height};
    return width >= IMAGE_LEAST_SIDE && height >= IMAGE_LEAST_SIDE && width <= IMAGE_MOST_SIDE &&
           height <= IMAGE_MOST_SIDE;
}

struct image image_take(struct arena *arena, struct image size)
{
    size.pixels = arena_take(arena, (uint64_t)size.width * (uint64_t)size.height, 1);
    return size;
}

static int32_t lattice(uint64_t seed, int32_t x, int32_t y)
{
    return (int32_t)(random_mix(seed ^ (uint64_t)(uint32_t)x << 32 ^ (uint32_t)y) >> 56);
}

// One lattice while a row is drawn: values at the row's height on both sides of the cell that is drawn.
struct octave {
    uint64_t seed;
    int32_t shift; // coordinate within the lattice's cell, in sixteenths of a pixel
    int32_t cell;
    int32_t left;
    int32_t right;
};

static int32_t side(const struct octave *octave, int32_t cell, int32_t y16)
{
    int32_t y = y16 >> octave->shift;
    int32_t fy = y16 & ((1 << octave->shift) - 1);

    return lattice(octave->seed, cell, y) * ((1 << octave->shift) - fy) +
           lattice(octave->seed, cell, y + 1) * fy;
}

// Interpolates between the four surrounding lattice points.
static int32_t octave_at(struct octave *octave, int32_t x16, int32_t y16)
{
    int32_t width = 1 << octave->shift;
    int32_t cell = x16 >> octave->shift;
    int32_t fx = x16 & (width - 1);

    if (cell != octave->cell) {
        octave->left = cell == octave->cell + 1 ? octave->right : side(octave, cell, y16);
        octave->right = side(octave, cell + 1, y16);
        octave->cell = cell;
    }
    return (octave->left * (width - fx) + octave->right * fx) >> 2 * octave->shift;
}

static void fill_row(uint8_t *row, int32_t width, uint64_t seed, int32_t x16, int32_t y16)
{
    struct octave octave[octaves];

    // Lattices of 4, 8 and 16 pixels, the finest with the least weight.
    for (int32_t i = 0; i < octaves; i++)
        octave[i] = (struct octave){seed * octaves + (uint64_t)i, 6 + i, INT32_MIN, 0, 0};
    for (int32_t x = 0; x < width; x++) {
        int32_t sum = 0;
        for (int32_t i = 0; i < octaves; i++)
            sum += octave_at(&octave[i], x16 + x * 16, y16) * (i + 2);
        row[x] = (uint8_t)(sum / 9);
    }
}

void image_fill_part(struct image image, struct rectangle part, uint64_t seed, int32_t dx16, int32_t dy16)
{
    for (int32_t y = part.top; y < part.bottom; y++) {
        uint8_t *row = image.pixels + y * image.width + part.left;
        fill_row(row, part.right - part.left, seed, part.left * 16 + dx16, y * 16 + dy16);
    }
}

void image_fill(struct image image, uint64_t seed, int32_t dx16, int32_t dy16)
{
    struct rectangle all = {.right = image.width, .bottom = image.height};

    image_fill_part(image, all, seed, dx16, dy16);
}

struct scene scene_take(struct arena *arena, struct image size)
{
    uint32_t cells = (uint32_t)(size.width / IMAGE_CELL) * (uint32_t)(size.height / IMAGE_CELL);
    struct scene scene = {.image = image_take(arena, size)};

    scene.rectangles = arena_take(arena, cells, sizeof(*scene.rectangles));
    return scene;
}

// At least 10 pixels a side and 5 from the cell's border; one cell of four stays empty.
void scene_arrange(struct scene *scene, uint64_t seed)
{
    struct random random = {.state = seed};

    scene->count = 0;
    for (int32_t y = 0; y + IMAGE_CELL <= scene->image.height; y += IMAGE_CELL) {
        for (int32_t x = 0; x + IMAGE_CELL <= scene->image.width; x += IMAGE_CELL) {
            struct rectangle *r = &scene->rectangles[scene->count];
            r->left = x + 5 + (int32_t)random_below(&random, 4);
            r->top = y + 5 + (int32_t)random_below(&random, 4);
            r->right = x + IMAGE_CELL - 5 - (int32_t)random_below(&random, 8);
            r->bottom = y + IMAGE_CELL - 5 - (int32_t)random_below(&random, 8);
            r->depth = (uint8_t)(1 + random_below(&random, 255));
            r->gray = (uint8_t)(random_below(&random, 2) != 0 ? 10 + random_below(&random, 40)
                                                              : 170 + random_below(&random, 70));
            scene->count += random_below(&random, 4) != 0;
        }
    }
}

void scene_draw(struct scene *scene, uint64_t seed)
{
    int32_t width = scene->image.width;
    uint8_t *pixels = scene->image.pixels;

    image_fill(scene->image, seed + 1, 0, 0);
    for (int32_t i = 0; i < width * scene->image.height; i++)
        pixels[i] = (uint8_t)(ground_gray + pixels[i] * shades / 256);
    for (uint32_t i = 0; i < scene->count; i++) {
        const struct rectangle *r = &scene->rectangles[i];
        for (int32_t y = r->top; y < r->bottom; y++) {
            for (int32_t x = r->left; x < r->right; x++)
                pixels[y * width + x] = (uint8_t)(pixels[y * width + x] + r->gray - ground_gray);
        }
    }
}
