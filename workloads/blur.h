// SPDX-License-Identifier: Apache-2.0
//
// Smoothing of planes with a Gaussian, along rows and then down columns. Beyond its borders a plane goes on
// with the values at them.
#ifndef BULKHEAD_WORKLOADS_BLUR_H
#define BULKHEAD_WORKLOADS_BLUR_H

#include "workloads/plane.h"

enum { BLUR_MOST_RADIUS = 32 };

struct blur {
    float weight[2 * BLUR_MOST_RADIUS + 1];
    int32_t radius;
};

// Of this standard deviation, in pixels, up to three of them away.
struct blur blur_of(double deviation);

// `to` may be `from`.
void blur_plane(struct plane to, struct plane from, struct plane scratch, const struct blur *blur);

#endif
