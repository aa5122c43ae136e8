// SPDX-License-Identifier: Apache-2.0
//
// One function for both directions: they differ in the distance between neighbours.
#include "workloads/blur.h"

#include "workloads/linear.h"

struct blur blur_of(double deviation)
{
    struct blur blur = {.radius = (int32_t)(3 * deviation + 0.999)};
    double sum = 0;

    blur.radius = blur.radius < BLUR_MOST_RADIUS ? blur.radius : BLUR_MOST_RADIUS;
    for (int32_t i = -blur.radius; i <= blur.radius; i++)
        sum += exponential(-0.5 * i * i / (deviation * deviation));
    for (int32_t i = -blur.radius; i <= blur.radius; i++)
        blur.weight[i + blur.radius] = (float)(exponential(-0.5 * i * i / (deviation * deviation)) / sum);
    return blur;
}

static float inside(const float *p, int32_t stride, const struct blur *blur)
{
    const float *from = p - blur->radius * stride;
    float sum = 0;

    for (int32_t i = 0; i <= 2 * blur->radius; i++, from += stride)
        sum += blur->weight[i] * *from;
    return sum;
}

// The place `at` of `count` in its row or column, whose first value is at `first`.
static float near_border(const float *first, int32_t at, int32_t count, int32_t stride,
                         const struct blur *blur)
{
    float sum = 0;

    for (int32_t i = -blur->radius; i <= blur->radius; i++) {
        int32_t place = at + i < 0 ? 0 : at + i >= count ? count - 1 : at + i;
        sum += blur->weight[i + blur->radius] * first[place * stride];
    }
    return sum;
}

void blur_plane(struct plane to, struct plane from, struct plane scratch, const struct blur *blur)
{
    int32_t width = to.width;
    int32_t radius = blur->radius;

    for (int32_t y = 0; y < to.height; y++) {
        const float *row = from.values + y * width;
        for (int32_t x = 0; x < width; x++) {
            bool far = x >= radius && x < width - radius;
            scratch.values[y * width + x] =
                far ? inside(row + x, 1, blur) : near_border(row, x, width, 1, blur);
        }
    }
    for (int32_t y = 0; y < to.height; y++) {
        bool far = y >= radius && y < to.height - radius;
        for (int32_t x = 0; x < width; x++) {
            const float *column = scratch.values + x;
            to.values[y * width + x] = far ? inside(column + y * width, width, blur)
                                           : near_border(column, y, to.height, width, blur);
        }
    }
}
