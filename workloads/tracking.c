// SPDX-License-Identifier: Apache-2.0
//
// Feature tracking (Kanade, Lucas, Tomasi): in the first frame the pixels whose surroundings change most in
// every direction, one for each cell; each is tracked into the second frame by Newton's method, from a coarse
// level of the image pyramid to the fine one. The second frame is the first one moved by a known, fractional
// distance.
#include "workloads/catalog.h"
#include "workloads/checksum.h"
#include "workloads/plane.h"

enum { levels = 3, cell = 24, half_window = 4, steps = 8, margin = 24, moved_x16 = 52, moved_y16 = -37 };

struct feature {
    float x, y;       // in the first frame
    float to_x, to_y; // in the second
};

struct tracking {
    struct image frames[2];
    struct plane pyramid[2][levels];
    struct plane dx[levels]; // of the first frame
    struct plane dy[levels];
    struct plane sums[3]; // around each pixel: of dx dx, dx dy, dy dy
    struct plane texture; // the smaller eigenvalue of these
    struct plane scratch;
    struct feature *features;
    uint32_t feature_count;
};

// Level by level, each of half the width and height.
static void take_planes(struct tracking *t, struct arena *arena, struct image size)
{
    for (int level = 0; level < levels; level++) {
        int32_t width = size.width >> level;
        int32_t height = size.height >> level;
        t->pyramid[0][level] = plane_take(arena, width, height);
        t->pyramid[1][level] = plane_take(arena, width, height);
        t->dx[level] = plane_take(arena, width, height);
        t->dy[level] = plane_take(arena, width, height);
    }
    for (int i = 0; i < 3; i++)
        t->sums[i] = plane_take(arena, size.width, size.height);
    t->texture = plane_take(arena, size.width, size.height);
    t->scratch = plane_take(arena, size.width, size.height);
}

static void *prepare(const struct workload_setup *setup)
{
    struct tracking *kept = arena_take(setup->arena, 1, sizeof(*kept));
    struct tracking t = {0};
    struct image size;

    if (!image_size(setup, &size))
        return NULL;
    uint64_t pixels = (uint64_t)size.width * (uint64_t)size.height;
    t.frames[0] = image_take(setup->arena, size);
    t.frames[1] = image_take(setup->arena, size);
    take_planes(&t, setup->arena, size);
    t.features = arena_take(setup->arena, pixels / (cell * cell) + 1, sizeof(struct feature));
    if (setup->arena->exhausted)
        return NULL;
    image_fill(t.frames[0], setup->seed, 0, 0);
    image_fill(t.frames[1], setup->seed, moved_x16, moved_y16);
    *kept = t;
    return kept;
}

static void build_pyramid(struct tracking *t, int frame)
{
    struct plane unsmoothed = t->dx[0]; // free as yet

    plane_from_image(unsmoothed, t->frames[frame]);
    plane_smooth(t->pyramid[frame][0], unsmoothed, t->scratch);
    for (int level = 1; level < levels; level++)
        plane_halve(t->pyramid[frame][level], t->pyramid[frame][level - 1]);
}

struct sums {
    float xx, xy, yy;
};

// The smaller eigenvalue.
static float texture_of(struct sums s)
{
    float half_difference = (s.xx - s.yy) * 0.5f;

    return (s.xx + s.yy) * 0.5f - __builtin_sqrtf(half_difference * half_difference + s.xy * s.xy);
}

static void find_texture(const struct tracking *t)
{
    plane_multiply(t->sums[0], t->dx[0], t->dx[0]);
    plane_multiply(t->sums[1], t->dx[0], t->dy[0]);
    plane_multiply(t->sums[2], t->dy[0], t->dy[0]);
    for (int i = 0; i < 3; i++)
        plane_sum_windows(t->sums[i], half_window, t->scratch);
    for (int32_t i = 0; i < t->texture.width * t->texture.height; i++)
        t->texture.values[i] =
            texture_of((struct sums){t->sums[0].values[i], t->sums[1].values[i], t->sums[2].values[i]});
}

// Selects the best pixel of each cell.
static void select(struct tracking *t)
{
    int32_t width = t->frames[0].width;
    int32_t height = t->frames[0].height;

    t->feature_count = 0;
    for (int32_t top = margin; top + cell <= height - margin; top += cell) {
        for (int32_t left = margin; left + cell <= width - margin; left += cell) {
            struct feature best = {0};
            float most = -1;
            for (int32_t y = top; y < top + cell; y++) {
                for (int32_t x = left; x < left + cell; x++) {
                    float here = t->texture.values[y * width + x];
                    if (here <= most)
                        continue;
                    most = here;
                    best.x = (float)x;
                    best.y = (float)y;
                }
            }
            t->features[t->feature_count++] = best;
        }
    }
}

static bool is_inside(struct plane plane, float x, float y)
{
    float border = half_window + 2;

    return x >= border && y >= border && x < (float)plane.width - border && y < (float)plane.height - border;
}

// One step towards the position of the surroundings of (x, y) in the second frame; returns its squared
// length.
static float step(const struct tracking *t, int level, float x, float y, float *to_x, float *to_y)
{
    struct sums s = {0};
    float ex = 0;
    float ey = 0;

    for (int32_t row = -half_window; row <= half_window; row++) {
        for (int32_t column = -half_window; column <= half_window; column++) {
            float ax = x + (float)column;
            float ay = y + (float)row;
            float dx = plane_at(t->dx[level], ax, ay);
            float dy = plane_at(t->dy[level], ax, ay);
            float error = plane_at(t->pyramid[0][level], ax, ay) -
                          plane_at(t->pyramid[1][level], *to_x + (float)column, *to_y + (float)row);
            s.xx += dx * dx;
            s.xy += dx * dy;
            s.yy += dy * dy;
            ex += error * dx;
            ey += error * dy;
        }
    }
    float determinant = s.xx * s.yy - s.xy * s.xy;
    if (determinant < 1e-3f)
        return 0;
    float move_x = (ex * s.yy - ey * s.xy) / determinant;
    float move_y = (ey * s.xx - ex * s.xy) / determinant;
    *to_x += move_x;
    *to_y += move_y;
    return move_x * move_x + move_y * move_y;
}

static void track(const struct tracking *t, struct feature *f)
{
    float dx = 0;
    float dy = 0;

    for (int level = levels - 1; level >= 0; level--) {
        float scale = 1.0f / (float)(1 << level);
        float x = f->x * scale;
        float y = f->y * scale;
        float to_x = x + 2 * dx;
        float to_y = y + 2 * dy;
        bool inside = is_inside(t->pyramid[0][level], x, y);
        for (int i = 0; i < steps && inside && is_inside(t->pyramid[1][level], to_x, to_y); i++) {
            if (step(t, level, x, y, &to_x, &to_y) < 1e-4f)
                break;
        }
        dx = to_x - x;
        dy = to_y - y;
    }
    f->to_x = f->x + dx;
    f->to_y = f->y + dy;
}

static void iterate(void *state)
{
    struct tracking *t = state;

    build_pyramid(t, 0);
    build_pyramid(t, 1);
    for (int level = 0; level < levels; level++)
        plane_differentiate(t->dx[level], t->dy[level], t->pyramid[0][level]);
    find_texture(t);
    select(t);
    for (uint32_t i = 0; i < t->feature_count; i++)
        track(t, &t->features[i]);
}

static uint64_t checksum(const void *state)
{
    const struct tracking *t = state;
    uint64_t sum = checksum_add(0, t->feature_count);

    for (uint32_t i = 0; i < t->feature_count; i++) {
        sum = checksum_add(sum, checksum_bits(t->features[i].to_x));
        sum = checksum_add(sum, checksum_bits(t->features[i].to_y));
    }
    return sum;
}

// Counts features found within a quarter of a pixel of their true position.
static uint32_t correct(const void *state)
{
    const struct tracking *t = state;
    uint32_t right = 0;

    for (uint32_t i = 0; i < t->feature_count; i++) {
        const struct feature *f = &t->features[i];
        float dx = f->to_x - f->x + moved_x16 / 16.0f;
        float dy = f->to_y - f->y + moved_y16 / 16.0f;
        right += dx * dx + dy * dy < 0.0625f;
    }
    return t->feature_count != 0 ? right * 1000 / t->feature_count : 0;
}

static const struct workload_parameter parameters[] = {
    {"width", 1920, 128, "of the frames"},
    {"height", 1080, 96, "of the frames"},
    {0},
};

const struct workload workload_tracking = {
    "tracking", "feature tracking (Kanade-Lucas-Tomasi)", parameters, 3, prepare, iterate, checksum, correct};
