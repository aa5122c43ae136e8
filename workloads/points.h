// SPDX-License-Identifier: Apache-2.0
//
// Point clouds as a laser scanner on a vehicle makes them, from a seed: a street with walls along it and
// objects that stand apart. Which object a point lies on is known. The point-cloud workloads make their input
// with it.
#ifndef BULKHEAD_WORKLOADS_POINTS_H
#define BULKHEAD_WORKLOADS_POINTS_H

#include "workloads/workload.h"

struct point {
    float x, y, z; // metres: along the street, across it, up
};

// Objects stand on a grid, more than a metre apart from each other; `points_each` on the sides of each.
// `objects[i]` is the object of point i. Points are shuffled.
void points_objects(struct point *points, uint32_t *objects, uint32_t object_count, uint32_t points_each,
                    uint64_t seed);

// A street of that length, in metres, from end to end with its middle at 0: the ground and houses
// at both sides, with noise of a centimetre. Each call with another `scan` sees other points of the same
// street.
void points_street(struct point *points, uint32_t count, float length, uint64_t seed, uint64_t scan);

#endif
