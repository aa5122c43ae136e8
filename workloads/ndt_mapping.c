// SPDX-License-Identifier: Apache-2.0
//
// Scan matching by normal distributions (NDT, Magnusson): the map is a grid of cells, each with mean and
// inverse covariance of its points; the pose of a new scan is the one that makes its points most likely,
// found by Newton's method. One iteration adds the map's points to the grid and matches the scan from a wrong
// pose.
#include "workloads/catalog.h"
#include "workloads/checksum.h"
#include "workloads/linear.h"
#include "workloads/points.h"

enum { least_points = 6, most_steps = 30, cells_across = 32, cells_up = 8, most_points = 100000000 };

#define CELL     1.0f // metres
#define OFF_X    0.30 // the pose that must be found, as far off as dead reckoning leaves it: metres, radians
#define OFF_Y    (-0.20)
#define OFF_YAW  0.006
#define SETTLED  1e-4  // a step shorter than this, in metres and radians, is the last
#define D2       0.5   // of the likelihood's exponent, at this cell size
#define SMALLEST 0.001 // of an eigenvalue, as variance: flat cells must stay invertible

struct cell {
    double sum[3];
    double products[6]; // xx xy xz yy yz zz
    double mean[3];
    double inverse[6];
    uint32_t count;
    uint32_t usable;
};

struct ndt {
    struct point *map; // points of many scans
    uint32_t map_count;
    struct point *scan; // in the vehicle's frame
    uint32_t scan_count;
    struct cell *cells;
    int32_t cells_along;
    double pose[6]; // x y z, roll pitch yaw: small angles
};

static void *prepare(const struct workload_setup *setup)
{
    struct ndt *n = arena_take(setup->arena, 1, sizeof(*n));
    uint64_t count = workload_value(setup, "points");
    uint64_t map_count = workload_value(setup, "map_points");
    uint64_t length = workload_value(setup, "length_m");
    bool sensible = count > 0 && count <= most_points && map_count > 0 && map_count <= most_points &&
                    length >= 8 && length <= 10000;
    struct point *map = arena_take(setup->arena, map_count, sizeof(*map));
    struct point *scan = arena_take(setup->arena, count, sizeof(*scan));
    struct cell *cells =
        arena_take(setup->arena, sensible ? length * cells_across * cells_up : 0, sizeof(*cells));

    if (setup->arena->exhausted || !sensible)
        return NULL;
    *n = (struct ndt){map, (uint32_t)map_count, scan, (uint32_t)count, cells, (int32_t)length, {0}};
    points_street(map, n->map_count, (float)length, setup->seed, 1);
    points_street(scan, n->scan_count, (float)length, setup->seed, 2);
    // As seen from a vehicle with a small offset and rotation.
    const double pose[6] = {OFF_X, OFF_Y, 0, 0, 0, OFF_YAW};
    struct rotation turned = rotation_of(pose + 3);
    for (uint32_t i = 0; i < n->scan_count; i++) {
        double moved[3] = {(double)scan[i].x - OFF_X, (double)scan[i].y - OFF_Y, (double)scan[i].z};
        double seen[3];
        rotate_back(&turned, moved, seen);
        scan[i] = point_of((float)seen[0], (float)seen[1], (float)seen[2]);
    }
    return n;
}

// NULL: outside of the grid. The street's middle is the middle of the grid; one cell lies under the ground.
static struct cell *cell_at(const struct ndt *n, double x, double y, double z)
{
    double along = x / (double)CELL + n->cells_along / 2;
    double across = y / (double)CELL + cells_across / 2;
    double up = z / (double)CELL + 1;

    if (along < 0 || across < 0 || up < 0 || along >= n->cells_along || across >= cells_across ||
        up >= cells_up)
        return NULL;
    return &n->cells[((int32_t)up * cells_across + (int32_t)across) * n->cells_along + (int32_t)along];
}

static void add_point(struct cell *cell, const struct point *p)
{
    double v[3] = {(double)p->x, (double)p->y, (double)p->z};
    int at = 0;

    cell->count++;
    for (int i = 0; i < 3; i++) {
        cell->sum[i] += v[i];
        for (int j = i; j < 3; j++)
            cell->products[at++] += v[i] * v[j];
    }
}

static void finish_cell(struct cell *cell)
{
    double covariance[6];
    double count = cell->count;
    int at = 0;

    cell->usable = 0;
    if (cell->count < least_points)
        return;
    for (int i = 0; i < 3; i++)
        cell->mean[i] = cell->sum[i] / count;
    for (int i = 0; i < 3; i++) {
        for (int j = i; j < 3; j++) {
            covariance[at] =
                cell->products[at] / count - cell->mean[i] * cell->mean[j] + (i == j ? SMALLEST : 0);
            at++;
        }
    }
    cell->usable = invert_symmetric3(covariance, cell->inverse);
}

static void build_map(const struct ndt *n)
{
    uint64_t cells = (uint64_t)n->cells_along * cells_across * cells_up;

    for (uint64_t i = 0; i < cells; i++)
        n->cells[i] = (struct cell){0};
    for (uint32_t i = 0; i < n->map_count; i++) {
        struct cell *cell = cell_at(n, (double)n->map[i].x, (double)n->map[i].y, (double)n->map[i].z);
        if (cell != NULL)
            add_point(cell, &n->map[i]);
    }
    for (uint64_t i = 0; i < cells; i++)
        finish_cell(&n->cells[i]);
}

// Adds to gradient and (Gauss-Newton) Hessian the contribution of the point at `world`; `arm` is that point
// before the translation.
static void add_likelihood(const struct cell *cell, const double world[3], const double arm[3],
                           struct normal6 *sum)
{
    double q[3] = {world[0] - cell->mean[0], world[1] - cell->mean[1], world[2] - cell->mean[2]};
    double w[3];
    // d(world)/d(pose): a unit matrix, and the cross product with the arm.
    const double jacobian[3][6] = {
        {1, 0, 0, 0, arm[2], -arm[1]}, {0, 1, 0, -arm[2], 0, arm[0]}, {0, 0, 1, arm[1], -arm[0], 0}};

    multiply_symmetric3(cell->inverse, q, w);
    double distance = q[0] * w[0] + q[1] * w[1] + q[2] * w[2];
    double weight = exponential(-0.5 * D2 * distance);
    for (int i = 0; i < 6; i++) {
        double column[3] = {jacobian[0][i], jacobian[1][i], jacobian[2][i]};
        double scaled[3];
        multiply_symmetric3(cell->inverse, column, scaled);
        sum->right[i] -= weight * (column[0] * w[0] + column[1] * w[1] + column[2] * w[2]);
        for (int j = 0; j <= i; j++)
            sum->left[i][j] += weight * (scaled[0] * jacobian[0][j] + scaled[1] * jacobian[1][j] +
                                         scaled[2] * jacobian[2][j]);
    }
}

// One step towards the pose; returns its squared length.
static double match_once(struct ndt *n)
{
    struct normal6 sum = {0};
    struct rotation rotation = rotation_of(n->pose + 3);
    double step[6];
    double square = 0;

    for (uint32_t i = 0; i < n->scan_count; i++) {
        double point[3] = {(double)n->scan[i].x, (double)n->scan[i].y, (double)n->scan[i].z};
        double arm[3];
        rotate(&rotation, point, arm);
        double world[3] = {arm[0] + n->pose[0], arm[1] + n->pose[1], arm[2] + n->pose[2]};
        const struct cell *cell = cell_at(n, world[0], world[1], world[2]);
        if (cell != NULL && cell->usable != 0)
            add_likelihood(cell, world, arm, &sum);
    }
    if (!solve6(&sum, step))
        return 0;
    for (int i = 0; i < 6; i++) {
        n->pose[i] += step[i];
        square += step[i] * step[i];
    }
    return square;
}

static void iterate(void *state)
{
    struct ndt *n = state;

    build_map(n);
    for (int i = 0; i < 6; i++)
        n->pose[i] = 0;
    for (int i = 0; i < most_steps && match_once(n) > SETTLED * SETTLED; i++) {
    }
}

static uint64_t checksum(const void *state)
{
    const struct ndt *n = state;
    uint64_t sum = 0;

    for (int i = 0; i < 6; i++)
        sum = checksum_add(sum, checksum_bits(n->pose[i]));
    return sum;
}

// Full score if the pose is right within a tenth of a cell and 1 mrad; zero from half a metre on.
static uint32_t correct(const void *state)
{
    const struct ndt *n = state;
    double dx = n->pose[0] - OFF_X;
    double dy = n->pose[1] - OFF_Y;
    double error = square_root(dx * dx + dy * dy + n->pose[2] * n->pose[2]);
    double turn = n->pose[5] < OFF_YAW ? OFF_YAW - n->pose[5] : n->pose[5] - OFF_YAW;

    if (error < 0.1 * (double)CELL && turn < 0.001)
        return 1000;
    return error < 0.5 ? (uint32_t)((0.5 - error) * 1000) : 0;
}

static const struct workload_parameter parameters[] = {
    {"points", 20000, 9000, "points of the scan"},
    {"map_points", 400000, 18000, "points of the map"},
    {"length_m", 160, 48, "metres of street"},
    {0},
};

const struct workload workload_ndt_mapping = {
    "ndt_mapping", "scan matching by normal distributions", parameters, 1, prepare, iterate, checksum,
    correct};
