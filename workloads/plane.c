// SPDX-License-Identifier: Apache-2.0
//
// Straightforward loops: their cost is what is measured.
#include "workloads/plane.h"

struct plane plane_take(struct arena *arena, int32_t width, int32_t height)
{
    return (struct plane){arena_take(arena, (uint64_t)width * (uint64_t)height, sizeof(float)), width,
                          height};
}

void plane_from_image(struct plane to, struct image from)
{
    for (int32_t i = 0; i < to.width * to.height; i++)
        to.values[i] = from.pixels[i];
}

void plane_smooth(struct plane to, struct plane from, struct plane scratch)
{
    int32_t width = to.width;

    for (int32_t y = 0; y < to.height; y++) {
        for (int32_t x = 0; x < width; x++) {
            const float *p = from.values + y * width + x;
            bool inside = x > 0 && x < width - 1;
            scratch.values[y * width + x] = inside ? (p[-1] + 2 * p[0] + p[1]) * 0.25f : p[0];
        }
    }
    for (int32_t y = 0; y < to.height; y++) {
        for (int32_t x = 0; x < width; x++) {
            const float *p = scratch.values + y * width + x;
            bool inside = y > 0 && y < to.height - 1;
            to.values[y * width + x] = inside ? (p[-width] + 2 * p[0] + p[width]) * 0.25f : p[0];
        }
    }
}

void plane_halve(struct plane to, struct plane from)
{
    for (int32_t y = 0; y < to.height; y++) {
        for (int32_t x = 0; x < to.width; x++) {
            const float *p = from.values + 2 * y * from.width + 2 * x;
            to.values[y * to.width + x] = (p[0] + p[1] + p[from.width] + p[from.width + 1]) * 0.25f;
        }
    }
}

void plane_differentiate(struct plane dx, struct plane dy, struct plane from)
{
    int32_t width = from.width;

    for (int32_t y = 0; y < from.height; y++) {
        for (int32_t x = 0; x < width; x++) {
            int32_t at = y * width + x;
            const float *p = from.values + at;
            bool inside = x > 0 && y > 0 && x < width - 1 && y < from.height - 1;
            dx.values[at] = inside ? (p[1] - p[-1]) * 0.5f : 0;
            dy.values[at] = inside ? (p[width] - p[-width]) * 0.5f : 0;
        }
    }
}

void plane_multiply(struct plane to, struct plane a, struct plane b)
{
    for (int32_t i = 0; i < to.width * to.height; i++)
        to.values[i] = a.values[i] * b.values[i];
}

// Sums along each row, adding the entering value and subtracting the leaving one.
static void sum_along(struct plane to, struct plane from, int32_t half)
{
    for (int32_t y = 0; y < to.height; y++) {
        const float *row = from.values + y * to.width;
        float sum = 0;
        for (int32_t x = 0; x < 2 * half; x++)
            sum += row[x];
        for (int32_t x = half; x < to.width - half; x++) {
            sum += row[x + half];
            to.values[y * to.width + x] = sum;
            sum -= row[x - half];
        }
    }
}

// Initial sum down each column.
static void start_down(struct plane to, struct plane from, int32_t half)
{
    for (int32_t x = half; x < to.width - half; x++) {
        float sum = 0;
        for (int32_t y = 0; y <= 2 * half; y++)
            sum += from.values[y * to.width + x];
        to.values[half * to.width + x] = sum;
    }
}

void plane_sum_windows(struct plane plane, int32_t half, struct plane scratch)
{
    int32_t width = plane.width;

    sum_along(scratch, plane, half);
    start_down(plane, scratch, half);
    for (int32_t y = half + 1; y < plane.height - half; y++) {
        const float *in = scratch.values + (y + half) * width;
        const float *out = scratch.values + (y - half - 1) * width;
        float *to = plane.values + y * width;
        for (int32_t x = half; x < width - half; x++)
            to[x] = to[x - width] + (in[x] - out[x]);
    }
}
