// SPDX-License-Identifier: Apache-2.0
//
// Projects a point cloud onto a camera's image: each point is transformed into the camera's frame, divided by
// its depth, and distorted as by the lens; its pixel keeps the distance and intensity of the nearest point,
// and the lowest and highest of all. Most of the points lie behind the camera or outside of its view.
#include "workloads/catalog.h"
#include "workloads/checksum.h"
#include "workloads/image.h"
#include "workloads/linear.h"
#include "workloads/points.h"

enum { most_points = 100000000, lens_terms = 5 };

#define CAMERA_HEIGHT 1.6 // metres above the street
#define YAW           0.02
#define PITCH         0.01
#define NEAREST       0.5 // metres in front of the camera

struct camera {
    struct rotation rotation; // from the street's frame
    double place[3];
    double focal; // pixels
    double centre[2];
    double lens[lens_terms]; // k1 k2 p1 p2 k3 of Brown's model
};

struct projection {
    struct point *points;
    uint32_t count;
    struct camera camera;
    struct image size; // no pixels
    float *distance;   // 0: no point
    float *intensity;
    float *lowest;
    float *highest;
    uint32_t hits;
};

static struct camera camera_for(struct image size)
{
    const double angles[3] = {0, PITCH, YAW};

    return (struct camera){
        .rotation = rotation_of(angles),
        .place = {0, 0, CAMERA_HEIGHT},
        .focal = 0.8 * size.width,
        .centre = {0.5 * size.width, 0.5 * size.height},
        .lens = {-0.05, 0.004, 0.0003, -0.0002, 0.0001},
    };
}

static void *prepare(const struct workload_setup *setup)
{
    struct projection *kept = arena_take(setup->arena, 1, sizeof(*kept));
    struct projection p = {0};
    uint64_t count = workload_value(setup, "points");
    uint64_t length = workload_value(setup, "length_m");

    if (!image_size(setup, &p.size) || count == 0 || count > most_points || length < 8 || length > 10000)
        return NULL;
    uint64_t pixels = (uint64_t)p.size.width * (uint64_t)p.size.height;
    p.count = (uint32_t)count;
    p.points = arena_take(setup->arena, count, sizeof(*p.points));
    struct point *scratch = arena_take(setup->arena, count, sizeof(*scratch));
    p.distance = arena_take(setup->arena, pixels, sizeof(float));
    p.intensity = arena_take(setup->arena, pixels, sizeof(float));
    p.lowest = arena_take(setup->arena, pixels, sizeof(float));
    p.highest = arena_take(setup->arena, pixels, sizeof(float));
    if (setup->arena->exhausted)
        return NULL;
    points_street(p.points, p.count, (float)length, setup->seed, 1);
    points_sweep(p.points, scratch, p.count);
    for (uint32_t i = 0; i < p.count; i++)
        p.points[i].intensity = (float)(random_mix(setup->seed + i) & 255);
    p.camera = camera_for(p.size);
    *kept = p;
    return kept;
}

struct seen {
    double x, y; // pixels
    double depth;
    double height; // above the camera, metres
};

// Returns false if the point is behind the camera.
static bool look(const struct camera *camera, const struct point *point, struct seen *seen)
{
    double away[3] = {(double)point->x - camera->place[0], (double)point->y - camera->place[1],
                      (double)point->z - camera->place[2]};
    double v[3]; // ahead, left, up

    rotate_back(&camera->rotation, away, v);
    if (v[0] < NEAREST)
        return false;
    const double *k = camera->lens;
    double x = -v[1] / v[0];
    double y = -v[2] / v[0];
    double square = x * x + y * y;
    double radial = 1 + square * (k[0] + square * (k[1] + square * k[4]));
    double bent_x = x * radial + 2 * k[2] * x * y + k[3] * (square + 2 * x * x);
    double bent_y = y * radial + 2 * k[3] * x * y + k[2] * (square + 2 * y * y);
    *seen = (struct seen){camera->focal * bent_x + camera->centre[0],
                          camera->focal * bent_y + camera->centre[1], v[0], v[2]};
    return true;
}

static void keep(const struct projection *p, int32_t at, const struct seen *seen, float intensity)
{
    float depth = (float)seen->depth;
    float height = (float)seen->height;

    if (p->distance[at] == 0 || depth < p->distance[at]) {
        p->distance[at] = depth;
        p->intensity[at] = intensity;
    }
    p->lowest[at] = height < p->lowest[at] ? height : p->lowest[at];
    p->highest[at] = height > p->highest[at] ? height : p->highest[at];
}

static void iterate(void *state)
{
    struct projection *p = state;

    for (int32_t i = 0; i < p->size.width * p->size.height; i++) {
        p->distance[i] = 0;
        p->intensity[i] = 0;
        p->lowest[i] = 1e9f;
        p->highest[i] = -1e9f;
    }
    p->hits = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        struct seen seen;
        if (!look(&p->camera, &p->points[i], &seen) || seen.x < 0 || seen.y < 0 || seen.x >= p->size.width ||
            seen.y >= p->size.height)
            continue;
        keep(p, (int32_t)seen.y * p->size.width + (int32_t)seen.x, &seen, p->points[i].intensity);
        p->hits++;
    }
}

static uint64_t checksum(const void *state)
{
    const struct projection *p = state;
    uint64_t sum = checksum_add(0, p->hits);

    for (int32_t i = 0; i < p->size.width * p->size.height; i++) {
        if (p->distance[i] == 0)
            continue;
        sum = checksum_add(sum, checksum_bits((double)p->distance[i]));
        sum = checksum_add(sum, checksum_bits((double)p->intensity[i]));
        sum = checksum_add(sum, checksum_bits((double)p->lowest[i]));
        sum = checksum_add(sum, checksum_bits((double)p->highest[i]));
    }
    return sum;
}

// The ray through a pixel's middle, without the lens, must end at the kept distance within the street: not
// below the ground, not above the houses, not behind them.
static bool is_of_street(const struct projection *p, int32_t x, int32_t y)
{
    double depth = (double)p->distance[y * p->size.width + x];
    double ahead[3] = {depth, -(x + 0.5 - p->camera.centre[0]) / p->camera.focal * depth,
                       -(y + 0.5 - p->camera.centre[1]) / p->camera.focal * depth};
    double at[3];

    rotate(&p->camera.rotation, ahead, at);
    double height = at[2] + CAMERA_HEIGHT;
    double slack = 0.3 + 0.05 * depth; // of the lens and of the pixel's size
    return height > -slack && height < 4 + slack && at[1] > -12 - slack && at[1] < 12 + slack;
}

static uint32_t correct(const void *state)
{
    const struct projection *p = state;
    uint32_t right = 0;
    uint32_t all = 0;

    for (int32_t y = 0; y < p->size.height; y++) {
        for (int32_t x = 0; x < p->size.width; x++) {
            bool kept = p->distance[y * p->size.width + x] != 0;
            all += kept;
            right += kept && is_of_street(p, x, y);
        }
    }
    return all != 0 ? (uint32_t)((uint64_t)right * 1000 / all) : 0;
}

static const struct workload_parameter parameters[] = {
    {"width", 640, 128, "of the image"},
    {"height", 480, 96, "of the image"},
    {"points", 400000, 3000, "points of the cloud"},
    {"length_m", 160, 48, "metres of street"},
    {0},
};

const struct workload workload_points2image = {
    "points2image", "point cloud onto a camera's image", parameters, 3, prepare, iterate, checksum, correct};
