// SPDX-License-Identifier: Apache-2.0
//
// Euclidean clustering: points that are within a distance of each other belong to one cluster. First the
// ground is removed. A k-d tree finds the neighbours of each remaining point; clusters grow from a point to
// its neighbours and to theirs, until no point is left.
#include "workloads/catalog.h"
#include "workloads/checksum.h"
#include "workloads/ground.h"

enum { axes = 3, none = -1, most_depth = 64, most_points = 100000000 };

#define REACH  0.6f // metres
#define GROUND 0.2f // points within this distance of its plane are ground, in metres

struct node {
    float position[axes];
    int32_t point;
    int32_t left; // lower on the node's axis
    int32_t right;
};

struct clustering {
    struct point *cloud;
    uint32_t *objects; // the object of each point of the cloud
    uint32_t cloud_count;
    uint32_t tries; // to find the ground
    struct point *points;
    uint32_t *origin; // in the cloud
    uint32_t count;
    struct node *nodes;
    int32_t *order; // points, while the tree is built
    int32_t *cluster;
    int32_t *queue;
    int32_t cluster_count;
};

static void *prepare(const struct workload_setup *setup)
{
    struct clustering *kept = arena_take(setup->arena, 1, sizeof(*kept));
    struct clustering c = {0};
    uint64_t objects = workload_value(setup, "objects");
    uint64_t each = workload_value(setup, "points_each");
    uint64_t ground = workload_value(setup, "ground");

    c.tries = (uint32_t)workload_value(setup, "tries");
    if (objects == 0 || each == 0 || objects > 100000 || each > 100000 || objects * each > most_points ||
        ground < 3 || ground > most_points || c.tries > most_points)
        return NULL;
    c.cloud_count = (uint32_t)(objects * each + ground);
    c.cloud = arena_take(setup->arena, c.cloud_count, sizeof(*c.cloud));
    c.objects = arena_take(setup->arena, c.cloud_count, sizeof(*c.objects));
    c.points = arena_take(setup->arena, c.cloud_count, sizeof(*c.points));
    c.origin = arena_take(setup->arena, c.cloud_count, sizeof(*c.origin));
    c.nodes = arena_take(setup->arena, c.cloud_count, sizeof(*c.nodes));
    c.order = arena_take(setup->arena, c.cloud_count, sizeof(*c.order));
    c.cluster = arena_take(setup->arena, c.cloud_count, sizeof(*c.cluster));
    c.queue = arena_take(setup->arena, c.cloud_count, sizeof(*c.queue));
    if (setup->arena->exhausted)
        return NULL;
    points_objects(c.cloud, c.objects, (struct objects){(uint32_t)objects, (uint32_t)each, (uint32_t)ground},
                   setup->seed);
    *kept = c;
    return kept;
}

static float coordinate(const struct point *p, int axis)
{
    return axis == 0 ? p->x : axis == 1 ? p->y : p->z;
}

// Quickselect: moves to `middle` the point that belongs there by this axis in order[low..high].
static void select_middle(const struct clustering *c, int32_t low, int32_t high, int32_t middle, int axis)
{
    int32_t *order = c->order;

    while (low < high) {
        float pivot = coordinate(&c->points[order[low + (high - low) / 2]], axis);
        int32_t i = low;
        int32_t j = high;
        while (i <= j) {
            while (coordinate(&c->points[order[i]], axis) < pivot)
                i++;
            while (coordinate(&c->points[order[j]], axis) > pivot)
                j--;
            if (i > j)
                break;
            int32_t kept = order[i];
            order[i++] = order[j];
            order[j--] = kept;
        }
        if (middle <= j) {
            high = j;
        } else if (middle >= i) {
            low = i;
        } else {
            return;
        }
    }
}

// Builds the tree of order[low..high]; node numbers are positions in the order.
static int32_t build(const struct clustering *c, int32_t low, int32_t high, int axis)
{
    if (low > high)
        return none;
    int32_t middle = low + (high - low) / 2;
    int next = axis + 1 < axes ? axis + 1 : 0;
    struct node *node = &c->nodes[middle];

    select_middle(c, low, high, middle, axis);
    node->point = c->order[middle];
    for (int i = 0; i < axes; i++)
        node->position[i] = coordinate(&c->points[node->point], i);
    node->left = build(c, low, middle - 1, next);
    node->right = build(c, middle + 1, high, next);
    return middle;
}

struct visit {
    int32_t node;
    int32_t axis;
};

// Appends the neighbours of `point` that have no cluster yet to the queue, at `end`; returns the new end.
static int32_t find_neighbours(const struct clustering *c, int32_t root, const struct point *point,
                               int32_t end)
{
    struct visit waiting[most_depth] = {{root, 0}};
    int32_t count = 1;

    while (count > 0) {
        struct visit at = waiting[--count];
        const struct node *node = &c->nodes[at.node];
        float dx = node->position[0] - point->x;
        float dy = node->position[1] - point->y;
        float dz = node->position[2] - point->z;
        if (dx * dx + dy * dy + dz * dz <= REACH * REACH && c->cluster[node->point] == none) {
            c->cluster[node->point] = c->cluster_count;
            c->queue[end++] = node->point;
        }
        float ahead = at.axis == 0 ? dx : at.axis == 1 ? dy : dz;
        int32_t next = at.axis + 1 < axes ? at.axis + 1 : 0;
        if (ahead <= REACH && node->right != none)
            waiting[count++] = (struct visit){node->right, next};
        if (ahead >= -REACH && node->left != none)
            waiting[count++] = (struct visit){node->left, next};
    }
    return end;
}

// Copies the points of the cloud that are not ground.
static void take_objects(struct clustering *c)
{
    struct random random = {.state = 1};
    struct ground ground = ground_find(c->cloud, c->cloud_count, GROUND, c->tries, &random);

    c->count = 0;
    for (uint32_t i = 0; i < c->cloud_count; i++) {
        if (ground_is_near(&ground, &c->cloud[i], GROUND))
            continue;
        c->origin[c->count] = i;
        c->points[c->count++] = c->cloud[i];
    }
}

static void iterate(void *state)
{
    struct clustering *c = state;

    take_objects(c);
    for (uint32_t i = 0; i < c->count; i++) {
        c->order[i] = (int32_t)i;
        c->cluster[i] = none;
    }
    int32_t root = build(c, 0, (int32_t)c->count - 1, 0);
    c->cluster_count = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        if (c->cluster[i] != none)
            continue;
        int32_t end = 1;
        c->cluster[i] = c->cluster_count;
        c->queue[0] = (int32_t)i;
        for (int32_t next = 0; next < end; next++)
            end = find_neighbours(c, root, &c->points[c->queue[next]], end);
        c->cluster_count++;
    }
}

static uint64_t checksum(const void *state)
{
    const struct clustering *c = state;
    uint64_t sum = checksum_add(0, (uint64_t)c->cluster_count);

    for (uint32_t i = 0; i < c->count; i++)
        sum = checksum_add(sum, (uint64_t)c->cluster[i]);
    return sum;
}

// Points above the ground whose cluster is the one of their object's first point; none if two objects share
// one.
static uint32_t correct(const void *state)
{
    const struct clustering *c = state;
    int32_t *of_object = c->queue; // reused as scratch memory
    uint32_t objects = 0;
    uint32_t right = 0;

    for (uint32_t i = 0; i < c->cloud_count; i++)
        of_object[i] = none;
    for (uint32_t i = 0; i < c->count; i++) {
        uint32_t object = c->objects[c->origin[i]];
        objects += of_object[object] == none;
        if (of_object[object] == none)
            of_object[object] = c->cluster[i];
        right += of_object[object] == c->cluster[i];
    }
    if (c->count == 0 || (uint32_t)c->cluster_count < objects)
        return 0;
    return (uint32_t)((uint64_t)right * 1000 / c->count);
}

static const struct workload_parameter parameters[] = {
    {"objects", 200, 6, "objects that stand apart"},
    {"points_each", 300, 150, "points on each"},
    {"ground", 60000, 1500, "points on the ground"},
    {"tries", 50, 50, "planes that are tried to find it"},
    {0},
};

const struct workload workload_euclidean_cluster = {"euclidean_cluster",
                                                    "clusters of near points (k-d tree)",
                                                    parameters,
                                                    3,
                                                    prepare,
                                                    iterate,
                                                    checksum,
                                                    correct};
