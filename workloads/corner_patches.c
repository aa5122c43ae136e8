// SPDX-License-Identifier: Apache-2.0
//
// Only one corner for each cell of a few pixels is considered.
#include "workloads/corner_patches.h"

enum { cell = 16, half_window = 2, margin = PATCH_SIDE * PATCH_STEP / 2 + 4 };

#define SENSITIVITY     0.04f
#define CLEARLY         0.9f // a corner is not weaker than another one of equal strength
#define NO_STRONGER_ONE 1e12f

uint32_t corner_capacity(struct image size)
{
    return (uint32_t)(size.width / cell) * (uint32_t)(size.height / cell);
}

struct corner_planes corner_planes_take(struct arena *arena, struct image size)
{
    struct corner_planes planes;
    struct plane *all[] = {&planes.smooth, &planes.dx, &planes.dy,       &planes.xx,
                           &planes.xy,     &planes.yy, &planes.strength, &planes.scratch};

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        *all[i] = plane_take(arena, size.width, size.height);
    return planes;
}

static void measure(const struct corner_planes *p, struct image image)
{
    plane_from_image(p->xx, image);
    plane_smooth(p->smooth, p->xx, p->scratch);
    plane_differentiate(p->dx, p->dy, p->smooth);
    plane_multiply(p->xx, p->dx, p->dx);
    plane_multiply(p->xy, p->dx, p->dy);
    plane_multiply(p->yy, p->dy, p->dy);
    plane_sum_windows(p->xx, half_window, p->scratch);
    plane_sum_windows(p->xy, half_window, p->scratch);
    plane_sum_windows(p->yy, half_window, p->scratch);
    for (int32_t i = 0; i < image.width * image.height; i++) {
        float xx = p->xx.values[i];
        float xy = p->xy.values[i];
        float yy = p->yy.values[i];
        p->strength.values[i] = xx * yy - xy * xy - SENSITIVITY * (xx + yy) * (xx + yy);
    }
}

static struct corner strongest(struct plane strength, int32_t left, int32_t top)
{
    struct corner best = {.strength = 0};

    for (int32_t y = top; y < top + cell; y++) {
        for (int32_t x = left; x < left + cell; x++) {
            float here = strength.values[y * strength.width + x];
            if (here > best.strength)
                best = (struct corner){x, y, here, 0};
        }
    }
    return best;
}

static float square_distance(const struct corner *a, const struct corner *b)
{
    float dx = (float)(a->x - b->x);
    float dy = (float)(a->y - b->y);

    return dx * dx + dy * dy;
}

static void find_radii(struct corner *corners, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        float radius = NO_STRONGER_ONE;
        for (uint32_t other = 0; other < count; other++) {
            if (corners[other].strength * CLEARLY <= corners[i].strength)
                continue;
            float distance = square_distance(&corners[i], &corners[other]);
            radius = distance < radius ? distance : radius;
        }
        corners[i].radius = radius;
    }
}

// The ones with the largest radii come first.
static void bring_forward(struct corner *corners, uint32_t count, uint32_t wanted)
{
    for (uint32_t i = 0; i < wanted; i++) {
        uint32_t best = i;
        for (uint32_t other = i + 1; other < count; other++)
            best = corners[other].radius > corners[best].radius ? other : best;
        struct corner kept = corners[i];
        corners[i] = corners[best];
        corners[best] = kept;
    }
}

uint32_t corners_find(const struct corner_planes *planes, struct image image, struct corner *corners,
                      uint32_t wanted)
{
    uint32_t count = 0;

    measure(planes, image);
    for (int32_t top = margin; top + cell <= image.height - margin; top += cell) {
        for (int32_t left = margin; left + cell <= image.width - margin; left += cell) {
            struct corner best = strongest(planes->strength, left, top);
            if (best.strength > 0)
                corners[count++] = best;
        }
    }
    wanted = wanted < count ? wanted : count;
    find_radii(corners, count);
    bring_forward(corners, count, wanted);
    return wanted;
}

static void normalize(struct patch *patch)
{
    const int32_t count = PATCH_SIDE * PATCH_SIDE;
    float sum = 0;
    float squares = 0;

    for (int32_t i = 0; i < count; i++)
        sum += patch->sample[i];
    for (int32_t i = 0; i < count; i++) {
        patch->sample[i] -= sum / (float)count;
        squares += patch->sample[i] * patch->sample[i];
    }
    float deviation = __builtin_sqrtf(squares / (float)count) + 1e-3f;
    for (int32_t i = 0; i < count; i++)
        patch->sample[i] /= deviation;
}

void patches_describe(const struct corner_planes *planes, const struct corner *corners, uint32_t count,
                      struct patch *patches)
{
    const float first = -(PATCH_SIDE - 1) * PATCH_STEP * 0.5f;

    for (uint32_t i = 0; i < count; i++) {
        for (int32_t at = 0; at < PATCH_SIDE * PATCH_SIDE; at++) {
            float x = (float)corners[i].x + first + (float)(at % PATCH_SIDE * PATCH_STEP);
            float y = (float)corners[i].y + first + (float)(at / PATCH_SIDE * PATCH_STEP);
            patches[i].sample[at] = plane_at(planes->smooth, x, y);
        }
        normalize(&patches[i]);
    }
}

float patch_distance(const struct patch *a, const struct patch *b)
{
    float sum = 0;

    for (int32_t i = 0; i < PATCH_SIDE * PATCH_SIDE; i++) {
        float more = a->sample[i] - b->sample[i];
        sum += more * more;
    }
    return sum;
}
