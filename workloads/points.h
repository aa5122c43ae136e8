// SPDX-License-Identifier: Apache-2.0
//
// Point clouds as a laser scanner on a vehicle makes them, from a seed: a street with walls along it and
// objects that stand apart. Which object a point lies on is known. The point-cloud workloads make their input
// with it.
#ifndef BULKHEAD_WORKLOADS_POINTS_H
#define BULKHEAD_WORKLOADS_POINTS_H

#include "workloads/workload.h"

// As point-cloud libraries keep it: 32 bytes, of which the last are for its intensity.
struct point {
    float x, y, z; // metres: along the street, across it, up
    float one;
    float intensity;
    float unused[3];
};

static inline struct point point_of(float x, float y, float z)
{
    return (struct point){x, y, z, 1, 0, {0}};
}

struct objects {
    uint32_t count;
    uint32_t points_each;   // on the sides of each
    uint32_t ground_points; // on the ground that they stand on, and 5 cm around it
};

// Objects stand on a grid, more than a metre apart from each other. `objects[i]` is the object of point i;
// of the ground it is the number of objects. Points are shuffled.
void points_objects(struct point *points, uint32_t *objects, struct objects wanted, uint64_t seed);

// A street of that length, in metres, from end to end with its middle at 0: the ground and houses
// at both sides, with noise of a centimetre. Each call with another `scan` sees other points of the same
// street.
void points_street(struct point *points, uint32_t count, float length, uint64_t seed, uint64_t scan);

// Puts points into the order in which a scanner that turns at 0 sees them. `scratch` has room for `count`.
void points_sweep(struct point *points, struct point *scratch, uint32_t count);

#endif
