// SPDX-License-Identifier: Apache-2.0
//
// Each try reads the whole cloud.
#include "workloads/ground.h"

static struct ground through(const struct point *p, const struct point *q, const struct point *r)
{
    float ux = q->x - p->x, uy = q->y - p->y, uz = q->z - p->z;
    float vx = r->x - p->x, vy = r->y - p->y, vz = r->z - p->z;
    struct ground g = {uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx, 0};
    float length = __builtin_sqrtf(g.a * g.a + g.b * g.b + g.c * g.c);

    if (length < 1e-3f) // nearly on one line
        return (struct ground){0, 0, 0, 1e9f};
    g.a /= length;
    g.b /= length;
    g.c /= length;
    g.d = g.a * p->x + g.b * p->y + g.c * p->z;
    return g;
}

static uint32_t count_near(const struct ground *ground, const struct point *points, uint32_t count,
                           float reach)
{
    uint32_t near = 0;

    for (uint32_t i = 0; i < count; i++)
        near += ground_is_near(ground, &points[i], reach);
    return near;
}

struct ground ground_find(const struct point *points, uint32_t count, float reach, uint32_t tries,
                          struct random *random)
{
    struct ground best = {0};
    uint32_t most = 0;

    for (uint32_t i = 0; i < tries; i++) {
        const struct point *p = &points[random_below(random, count)];
        const struct point *q = &points[random_below(random, count)];
        const struct point *r = &points[random_below(random, count)];
        struct ground ground = through(p, q, r);
        uint32_t near = count_near(&ground, points, count, reach);
        best = near > most ? ground : best;
        most = near > most ? near : most;
    }
    return best;
}
