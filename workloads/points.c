// SPDX-License-Identifier: Apache-2.0
//
// Points are drawn on the surfaces evenly, by random numbers.
#include "workloads/points.h"

#include "guests/runtime/random.h"

enum { directions = 2048 }; // of a sweep

#define OBJECT_DISTANCE 4.0f // metres between the middles of neighbours; an object is at most 2 wide

// From 0 up to before 1.
static float unit(struct random *random)
{
    return (float)(random_next(random) >> 40) * (1.0f / 16777216.0f);
}

// A point on one of the four sides of a box of this width and depth.
static struct point on_box(struct random *random, float width, float depth, float height)
{
    float along = unit(random);
    struct point p = point_of(0, 0, unit(random) * height);

    switch (random_next(random) & 3) {
    case 0:
        p.x = along * width;
        break;
    case 1:
        p.x = along * width;
        p.y = depth;
        break;
    case 2:
        p.y = along * depth;
        break;
    default:
        p.x = width;
        p.y = along * depth;
        break;
    }
    return p;
}

static void shuffle(struct point *points, uint32_t *objects, uint32_t count, struct random *random)
{
    for (uint32_t i = count; i > 1; i--) {
        uint32_t other = (uint32_t)random_below(random, i);
        struct point kept = points[i - 1];
        uint32_t kept_object = objects[i - 1];
        points[i - 1] = points[other];
        objects[i - 1] = objects[other];
        points[other] = kept;
        objects[other] = kept_object;
    }
}

void points_objects(struct point *points, uint32_t *objects, struct objects wanted, uint64_t seed)
{
    struct random random = {.state = seed};
    uint32_t side = 1;

    while (side * side < wanted.count)
        side++;
    for (uint32_t object = 0; object < wanted.count; object++) {
        float width = 1 + unit(&random);
        float depth = 1 + unit(&random);
        float height = 1 + unit(&random);
        for (uint32_t i = 0; i < wanted.points_each; i++) {
            struct point p = on_box(&random, width, depth, height);
            p.x += (float)(object % side) * OBJECT_DISTANCE;
            p.y += (float)(object / side) * OBJECT_DISTANCE;
            points[object * wanted.points_each + i] = p;
            objects[object * wanted.points_each + i] = object;
        }
    }
    uint32_t count = wanted.count * wanted.points_each;
    for (uint32_t i = 0; i < wanted.ground_points; i++) {
        float x = unit(&random) * (float)side * OBJECT_DISTANCE;
        float y = unit(&random) * (float)side * OBJECT_DISTANCE;
        points[count] = point_of(x, y, (unit(&random) - 0.5f) * 0.1f);
        objects[count++] = wanted.count;
    }
    shuffle(points, objects, count, &random);
}

// Distance of the front of a house from the middle of the street: it changes every 8 metres; a front is 6.5
// metres wide.
static float front(uint64_t seed, int32_t house, bool left)
{
    uint64_t number = random_mix(seed + (uint64_t)house * 2 + left);

    return 6 + (float)(number & 255) * (1.0f / 128.0f);
}

// A point on the ground, the front of a house, or one of its sides, which are 12 metres deep.
static struct point on_street(struct random *random, uint64_t seed, float x)
{
    int32_t house = (int32_t)(x * 0.125f);
    uint64_t which = random_next(random) & 7;
    bool left = (which & 1) != 0;
    float y = front(seed, house, left);
    float along = unit(random);
    float noise = (unit(random) - 0.5f) * 0.02f;

    if (which < 2)
        return point_of(x, (along - 0.5f) * 12, noise);
    if (which < 5) {
        x = (float)house * 8 + 0.4f + (x - (float)house * 8) * (6.5f / 8);
        return point_of(x, (left ? -y : y) + noise, along * 4);
    }
    y += along * (12 - y);
    x = (float)house * 8 + ((random_next(random) & 1) != 0 ? 6.9f : 0.4f) + noise;
    return point_of(x, left ? -y : y, unit(random) * 4);
}

void points_street(struct point *points, uint32_t count, float length, uint64_t seed, uint64_t scan)
{
    struct random random = {.state = random_mix(seed) ^ scan};

    for (uint32_t i = 0; i < count; i++) {
        points[i] = on_street(&random, seed, unit(&random) * length);
        points[i].x -= length / 2;
    }
}

// The direction's number; directions are spaced evenly along a diamond around 0, which avoids an arctangent.
static uint32_t direction_of(const struct point *p)
{
    float x = p->x < 0 ? -p->x : p->x;
    float y = p->y < 0 ? -p->y : p->y;
    float along = x + y > 0 ? p->y / (x + y) : 0; // -1 to 1 at one side, back at the other
    float turn = p->x < 0 ? 0.75f - along * 0.25f : 0.25f + along * 0.25f;

    return (uint32_t)(turn * (directions - 1));
}

void points_sweep(struct point *points, struct point *scratch, uint32_t count)
{
    uint32_t start[directions + 1] = {0};

    for (uint32_t i = 0; i < count; i++) {
        scratch[i] = points[i];
        start[direction_of(&points[i]) + 1]++;
    }
    for (uint32_t i = 0; i < directions; i++)
        start[i + 1] += start[i];
    for (uint32_t i = 0; i < count; i++)
        points[start[direction_of(&scratch[i])]++] = scratch[i];
}
