// SPDX-License-Identifier: Apache-2.0
//
// Point clouds like those of a laser scanner on a vehicle, made from a seed: a street with walls along it,
// and objects that stand apart. The object of each point is known. The point-cloud workloads make their input
// with it.
#ifndef BULKHEAD_WORKLOADS_POINTS_H
#define BULKHEAD_WORKLOADS_POINTS_H

#include "workloads/workload.h"

// Layout as in point-cloud libraries: 32 bytes, the last of which are for the intensity.
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
    uint32_t points_each;   // points on the sides of each object
    uint32_t ground_points; // points on the ground below the objects, and 5 cm around it
};

// Makes objects on a grid, more than a metre apart. `objects[i]` is the object of point i; for the ground it
// is the number of objects. Points are shuffled.
void points_objects(struct point *points, uint32_t *objects, struct objects wanted, uint64_t seed);

// Makes a street of `length` metres with its middle at 0: the ground and houses at both sides, with noise of
// a centimetre. Each `scan` gives other points of the same street.
void points_street(struct point *points, uint32_t count, float length, uint64_t seed, uint64_t scan);

// Sorts points into the order in which a rotating scanner at 0 sees them. `scratch` must have room for
// `count`.
void points_sweep(struct point *points, struct point *scratch, uint32_t count);

#endif
