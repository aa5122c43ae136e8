// SPDX-License-Identifier: Apache-2.0
//
// Smoothing of planes with a Gaussian, along rows and then down columns. Beyond its borders a plane continues
// with the border values.
#ifndef BULKHEAD_WORKLOADS_BLUR_H
#define BULKHEAD_WORKLOADS_BLUR_H

#include "workloads/plane.h"

enum { BLUR_MOST_RADIUS = 32 };

struct blur {
    float weight[2 * BLUR_MOST_RADIUS + 1];
    int32_t radius;
};

// Makes a filter with this standard deviation in pixels, cut off at three standard deviations.
struct blur blur_of(double deviation);

// `to` may be `from`.
void blur_plane(struct plane to, struct plane from, struct plane scratch, const struct blur *blur);

#endif
