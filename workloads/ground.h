// SPDX-License-Identifier: Apache-2.0
//
// The plane on which most points of a cloud lie, found by random sampling (RANSAC): planes through three
// points each are tried, and the one with the most points near it is chosen. Clustering removes the ground
// first, because it connects all objects.
#ifndef BULKHEAD_WORKLOADS_GROUND_H
#define BULKHEAD_WORKLOADS_GROUND_H

#include "guests/runtime/random.h"
#include "workloads/points.h"

// The plane of all points with a x + b y + c z = d; (a, b, c) has length one.
struct ground {
    float a, b, c, d;
};

// The best of `tries` planes; points within `reach` metres count as near. `count` must be 3 or more.
struct ground ground_find(const struct point *points, uint32_t count, float reach, uint32_t tries,
                          struct random *random);

static inline bool ground_is_near(const struct ground *ground, const struct point *p, float reach)
{
    float distance = ground->a * p->x + ground->b * p->y + ground->c * p->z - ground->d;

    return distance <= reach && distance >= -reach;
}

#endif
