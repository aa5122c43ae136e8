// SPDX-License-Identifier: Apache-2.0
//
// Corners that are spread over an image, and descriptors of their surroundings, which are needed to find the
// same places in another image. Harris' measure, adaptive non-maximal suppression and descriptors of 8 x 8
// samples, as in Brown, Szeliski and Winder, "Multi-image matching using multi-scale oriented patches".
#ifndef BULKHEAD_WORKLOADS_CORNER_PATCHES_H
#define BULKHEAD_WORKLOADS_CORNER_PATCHES_H

#include "workloads/plane.h"

enum { PATCH_SIDE = 8, PATCH_STEP = 5 };

struct corner {
    int32_t x, y;
    float strength;
    float radius; // squared distance to the nearest corner that is clearly stronger
};

// Samples minus their mean, divided by their standard deviation.
struct patch {
    float sample[PATCH_SIDE * PATCH_SIDE];
};

struct corner_planes {
    struct plane smooth;
    struct plane dx, dy;
    struct plane xx, xy, yy;
    struct plane strength;
    struct plane scratch;
};

struct corner_planes corner_planes_take(struct arena *arena, struct image size);

// Maximum number of corners before some are selected.
uint32_t corner_capacity(struct image size);

// Moves the `wanted` best corners to the front of `corners`, which must have room for corner_capacity();
// returns how many there are.
uint32_t corners_find(const struct corner_planes *planes, struct image image, struct corner *corners,
                      uint32_t wanted);

// Describes corners of the image whose corners were found last.
void patches_describe(const struct corner_planes *planes, const struct corner *corners, uint32_t count,
                      struct patch *patches);

// Sum of squared differences.
float patch_distance(const struct patch *a, const struct patch *b);

#endif
