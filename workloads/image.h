// SPDX-License-Identifier: Apache-2.0
//
// Gray images made from a seed: a smooth texture that can be sampled anywhere, so that a second image can be
// a moved copy of the first, and scenes of rectangles on a plain ground, whose corners and edges are known.
// The vision workloads make their input with it and compare their results with what was drawn.
#ifndef BULKHEAD_WORKLOADS_IMAGE_H
#define BULKHEAD_WORKLOADS_IMAGE_H

#include "workloads/workload.h"

enum { IMAGE_CELL = 32, IMAGE_LEAST_SIDE = 48, IMAGE_MOST_SIDE = 16384 };

struct image {
    uint8_t *pixels; // row by row
    int32_t width;
    int32_t height;
};

// A rectangle: columns from `left` to before `right`, rows likewise. Each keeps a distance from the borders
// of its cell of the image, so that none touches another.
struct rectangle {
    int32_t left, top, right, bottom;
    uint8_t gray;
    uint8_t depth; // 1..255, for workloads that use it
};

struct scene {
    struct image image;
    struct rectangle *rectangles;
    uint32_t count;
};

// Reads the parameters `width` and `height`; false: not a valid size.
bool image_size(const struct workload_setup *setup, struct image *image);

// Allocates an image of this size.
struct image image_take(struct arena *arena, struct image size);

// Fills the image with the texture, with details of a few pixels, moved by (dx16, dy16) in sixteenths of a
// pixel.
void image_fill(struct image image, uint64_t seed, int32_t dx16, int32_t dy16);

// Fills a part of the image with the pixels that the whole image would have there.
void image_fill_part(struct image image, struct rectangle part, uint64_t seed, int32_t dx16, int32_t dy16);

// Allocates a scene of that size.
struct scene scene_take(struct arena *arena, struct image size);

// Chooses the rectangles.
void scene_arrange(struct scene *scene, uint64_t seed);

// Draws them on a plain ground, with slight shading. Their gray differs clearly from the ground's.
void scene_draw(struct scene *scene, uint64_t seed);

#endif
