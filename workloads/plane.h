// SPDX-License-Identifier: Apache-2.0
//
// Planes of floating-point values, one for each pixel of an image, and operations of feature detectors:
// smoothing, halving, derivatives, sums over windows, interpolation. Each step is a pass over whole planes in
// memory order. The planes of one call have the same size unless stated otherwise.
#ifndef BULKHEAD_WORKLOADS_PLANE_H
#define BULKHEAD_WORKLOADS_PLANE_H

#include "workloads/image.h"

struct plane {
    float *values; // row by row
    int32_t width;
    int32_t height;
};

// Allocates a plane; contents undefined. `values` is NULL if it does not fit.
struct plane plane_take(struct arena *arena, int32_t width, int32_t height);

void plane_from_image(struct plane to, struct image from);

// Weights 1 2 1 in both directions; borders are smoothed only along themselves. `to` may be `from`.
void plane_smooth(struct plane to, struct plane from, struct plane scratch);

// Means of four values each; `to` has half the width and half the height, rounded down.
void plane_halve(struct plane to, struct plane from);

// Half the difference of the neighbours on both sides; 0 at borders.
void plane_differentiate(struct plane dx, struct plane dy, struct plane from);

void plane_multiply(struct plane to, struct plane a, struct plane b);

// Replaces each value by the sum over the window of 2 * `half` + 1 pixels a side around it; values nearer
// than `half` to a border are unchanged.
void plane_sum_windows(struct plane plane, int32_t half, struct plane scratch);

// Interpolates between the four values around a place that is not in the last row or column.
static inline float plane_at(struct plane plane, float x, float y)
{
    int32_t column = (int32_t)x;
    int32_t row = (int32_t)y;
    float fx = x - (float)column;
    float fy = y - (float)row;
    const float *p = plane.values + row * plane.width + column;
    float top = p[0] + (p[1] - p[0]) * fx;
    float bottom = p[plane.width] + (p[plane.width + 1] - p[plane.width]) * fx;

    return top + (bottom - top) * fy;
}

#endif
