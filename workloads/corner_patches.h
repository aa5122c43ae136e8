// SPDX-License-Identifier: Apache-2.0
//
// Corners of an image that are spread over it, and what it looks like around each: what is needed to find the
// same places in another image. Harris' measure, adaptive non-maximal suppression and descriptors of 8 x 8
// samples, as in Brown, Szeliski and Winder, "Multi-image matching using multi-scale oriented patches".
#ifndef BULKHEAD_WORKLOADS_CORNER_PATCHES_H
#define BULKHEAD_WORKLOADS_CORNER_PATCHES_H

#include "workloads/plane.h"

enum { PATCH_SIDE = 8, PATCH_STEP = 5 };

struct corner {
    int32_t x, y;
    float strength;
    float radius; // squared distance to the nearest one that is clearly stronger
};

// Samples without their mean, in units of their deviation.
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

// How many corners there can be, before some of them are chosen.
uint32_t corner_capacity(struct image size);

// Puts the `wanted` best corners to the front of `corners`, which has room for corner_capacity(); returns how
// many there are.
uint32_t corners_find(const struct corner_planes *planes, struct image image, struct corner *corners,
                      uint32_t wanted);

// Of the image whose corners were found last.
void patches_describe(const struct corner_planes *planes, const struct corner *corners, uint32_t count,
                      struct patch *patches);

// Sum of squared differences.
float patch_distance(const struct patch *a, const struct patch *b);

#endif
