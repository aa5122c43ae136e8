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

// The texture at a point given in sixteenths of a pixel: 0..255, details of a few pixels.
uint8_t image_texture(uint64_t seed, int32_t x16, int32_t y16);

// Fills the image with the texture, moved by (dx16, dy16).
void image_fill(struct image image, uint64_t seed, int32_t dx16, int32_t dy16);

// Takes memory for a scene of that size.
struct scene scene_take(struct arena *arena, struct image size);

// Chooses the rectangles.
void scene_arrange(struct scene *scene, uint64_t seed);

// Draws them on a nearly even ground, with a little noise. Their gray is far from the ground's.
void scene_draw(struct scene *scene, uint64_t seed);

#endif
