// SPDX-License-Identifier: Apache-2.0
//
// Gray images and what they show, made from a seed: a smooth texture that can be sampled anywhere, so that a
// second image is the first one moved, and scenes of rectangles on a plain ground, whose corners and edges
// are known. The vision workloads make their input with it and compare what they found with what was drawn.
#ifndef BULKHEAD_WORKLOADS_IMAGE_H
#define BULKHEAD_WORKLOADS_IMAGE_H

#include "workloads/workload.h"

enum { IMAGE_CELL = 32, IMAGE_LEAST_SIDE = 48, IMAGE_MOST_SIDE = 16384 };

struct image {
    uint8_t *pixels; // row by row
    int32_t width;
    int32_t height;
};

// Where a rectangle lies: columns from `left` up to before `right`, rows likewise. Each keeps its distance
// from the borders of a cell of the image, so none touches another.
struct rectangle {
    int32_t left, top, right, bottom;
    uint8_t gray;
    uint8_t depth; // 1..255, for whom it matters
};

struct scene {
    struct image image;
    struct rectangle *rectangles;
    uint32_t count;
};

// Parameters `width` and `height`; false: no size for an image.
bool image_size(const struct workload_setup *setup, struct image *image);

// Memory for an image of this size.
struct image image_take(struct arena *arena, struct image size);

// Fills the image with the texture, details of a few pixels, moved by (dx16, dy16): sixteenths of a pixel.
void image_fill(struct image image, uint64_t seed, int32_t dx16, int32_t dy16);

// Fills a part of it: pixels that the whole image would have there.
void image_fill_part(struct image image, struct rectangle part, uint64_t seed, int32_t dx16, int32_t dy16);

// Takes memory for a scene of that size.
struct scene scene_take(struct arena *arena, struct image size);

// Chooses the rectangles.
void scene_arrange(struct scene *scene, uint64_t seed);

// Draws them on an even ground, all of it a little shaded. Their gray is far from the ground's.
void scene_draw(struct scene *scene, uint64_t seed);

#endif
