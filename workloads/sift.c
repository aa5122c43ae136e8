// SPDX-License-Identifier: Apache-2.0
//
// Keypoints of the scale-invariant feature transform (SIFT, Lowe): in each octave the image is smoothed
// repeatedly; keypoints are the extrema of the differences between one smoothing and the next, in position
// and scale, each refined to fractions of a pixel by a parabola; edges are left out. The next octave has half
// the size. The input shows discs with known centres.
#include "workloads/blur.h"
#include "workloads/catalog.h"
#include "workloads/checksum.h"
#include "workloads/linear.h"

enum {
    octaves_most = 6,
    least_side = 24,
    scales = 3, // of an octave
    levels = scales + 3,
    differences = levels - 1,
    pixels_each = 64, // minimum size for a keypoint
    checked_discs = 200,
};

#define FIRST_DEVIATION 1.6
#define SCALE_STEP      1.2599210498948732 // the third root of 2
#define CONTRAST        4.0f               // minimum difference of an extremum, in grays
#define EDGE            12.1f              // principal curvatures with a ratio of 10: (10 + 1)^2 / 10
#define NEAR            2.0f               // pixels from a disc's middle

struct keypoint {
    float x, y; // of the whole image
    float value;
    uint32_t scale;
};

struct sift {
    struct scene scene;
    struct blur first; // of the image
    struct blur more[levels];
    int32_t octave_count;
    struct plane level[octaves_most][levels];
    struct plane difference[differences]; // of one octave
    struct plane scratch;
    struct keypoint *keypoints;
    uint32_t count;
    uint32_t capacity;
};

// A disc within each rectangle of the scene.
static void draw_discs(struct scene *scene, uint64_t seed)
{
    struct scene empty = {.image = scene->image};

    scene_draw(&empty, seed);
    for (uint32_t i = 0; i < scene->count; i++) {
        const struct rectangle *r = &scene->rectangles[i];
        int32_t width = r->right - r->left;
        int32_t height = r->bottom - r->top;
        int32_t diameter = width < height ? width : height;
        for (int32_t y = r->top; y < r->bottom; y++) {
            for (int32_t x = r->left; x < r->right; x++) {
                int32_t dx = 2 * x + 1 - r->left - r->right;
                int32_t dy = 2 * y + 1 - r->top - r->bottom;
                if (dx * dx + dy * dy < diameter * diameter)
                    scene->image.pixels[y * scene->image.width + x] = r->gray;
            }
        }
    }
}

static void take_planes(struct sift *s, struct arena *arena, struct image size)
{
    int32_t width = size.width;
    int32_t height = size.height;

    s->scratch = plane_take(arena, width, height);
    for (int i = 0; i < differences; i++)
        s->difference[i] = plane_take(arena, width, height);
    while (s->octave_count < octaves_most && width >= least_side && height >= least_side) {
        for (int i = 0; i < levels; i++)
            s->level[s->octave_count][i] = plane_take(arena, width, height);
        s->octave_count++;
        width /= 2;
        height /= 2;
    }
}

static void *prepare(const struct workload_setup *setup)
{
    struct sift *s = arena_take(setup->arena, 1, sizeof(*s));
    struct image size;

    if (s == NULL || !image_size(setup, &size))
        return NULL;
    *s = (struct sift){.scene = scene_take(setup->arena, size)};
    s->capacity = (uint32_t)size.width * (uint32_t)size.height / pixels_each;
    s->keypoints = arena_take(setup->arena, s->capacity, sizeof(*s->keypoints));
    take_planes(s, setup->arena, size);
    if (setup->arena->exhausted)
        return NULL;
    scene_arrange(&s->scene, setup->seed);
    draw_discs(&s->scene, setup->seed);
    s->first = blur_of(FIRST_DEVIATION);
    double deviation = FIRST_DEVIATION;
    for (int i = 1; i < levels; i++) {
        // The additional smoothing to the next one: squares add up.
        s->more[i] = blur_of(deviation * square_root(SCALE_STEP * SCALE_STEP - 1));
        deviation *= SCALE_STEP;
    }
    return s;
}

static void smooth_octave(struct sift *s, int32_t octave)
{
    struct plane *level = s->level[octave];
    struct plane scratch = {s->scratch.values, level[0].width, level[0].height};

    if (octave == 0) {
        plane_from_image(level[0], s->scene.image);
        blur_plane(level[0], level[0], scratch, &s->first);
    } else {
        plane_halve(level[0], s->level[octave - 1][scales]);
    }
    for (int i = 1; i < levels; i++)
        blur_plane(level[i], level[i - 1], scratch, &s->more[i]);
}

static void subtract(struct sift *s, int32_t octave)
{
    for (int i = 0; i < differences; i++) {
        const float *less = s->level[octave][i].values;
        struct plane more = s->level[octave][i + 1];
        s->difference[i].width = more.width;
        s->difference[i].height = more.height;
        for (int32_t at = 0; at < more.width * more.height; at++)
            s->difference[i].values[at] = more.values[at] - less[at];
    }
}

// Whether the value, times `sign`, is larger than all its neighbours in position and scale.
static bool is_largest(const struct sift *s, int scale, int32_t at, float sign)
{
    int32_t width = s->difference[0].width;
    float value = s->difference[scale].values[at] * sign;

    for (int other = scale - 1; other <= scale + 1; other++) {
        const float *p = s->difference[other].values + at;
        for (int32_t row = -width; row <= width; row += width) {
            for (int32_t column = -1; column <= 1; column++) {
                bool itself = other == scale && row == 0 && column == 0;
                if (!itself && p[row + column] * sign >= value)
                    return false;
            }
        }
    }
    return true;
}

// The position of the vertex of the parabola through three values, relative to the middle one.
static float top_of(float before, float here, float after)
{
    float bend = before - 2 * here + after;

    return bend != 0 ? (before - after) * 0.5f / bend : 0;
}

static void keep(struct sift *s, int32_t octave, int scale, int32_t x, int32_t y)
{
    int32_t width = s->difference[0].width;
    const float *p = s->difference[scale].values + y * width + x;
    float xx = p[1] + p[-1] - 2 * p[0];
    float yy = p[width] + p[-width] - 2 * p[0];
    float xy = (p[width + 1] - p[width - 1] - p[-width + 1] + p[-width - 1]) * 0.25f;
    float determinant = xx * yy - xy * xy;
    float trace = xx + yy;
    float pixel = (float)(1 << octave); // of the whole image
    float middle = (pixel - 1) * 0.5f;

    if (determinant <= 0 || trace * trace >= EDGE * determinant || s->count == s->capacity)
        return;
    s->keypoints[s->count++] =
        (struct keypoint){((float)x + top_of(p[-1], p[0], p[1])) * pixel + middle,
                          ((float)y + top_of(p[-width], p[0], p[width])) * pixel + middle, p[0],
                          (uint32_t)(octave * scales + scale)};
}

static void find_extrema(struct sift *s, int32_t octave)
{
    int32_t width = s->difference[0].width;

    for (int scale = 1; scale <= scales; scale++) {
        const float *values = s->difference[scale].values;
        for (int32_t y = 1; y < s->difference[0].height - 1; y++) {
            for (int32_t x = 1; x < width - 1; x++) {
                float value = values[y * width + x];
                if (value < CONTRAST && value > -CONTRAST)
                    continue;
                if (is_largest(s, scale, y * width + x, value > 0 ? 1 : -1))
                    keep(s, octave, scale, x, y);
            }
        }
    }
}

static void iterate(void *state)
{
    struct sift *s = state;

    s->count = 0;
    for (int32_t octave = 0; octave < s->octave_count; octave++) {
        smooth_octave(s, octave);
        subtract(s, octave);
        find_extrema(s, octave);
    }
}

static uint64_t checksum(const void *state)
{
    const struct sift *s = state;
    uint64_t sum = checksum_add(0, s->count);

    for (uint32_t i = 0; i < s->count; i++) {
        sum = checksum_add(sum, checksum_bits((double)s->keypoints[i].x));
        sum = checksum_add(sum, checksum_bits((double)s->keypoints[i].y));
        sum = checksum_add(sum, checksum_bits((double)s->keypoints[i].value));
        sum = checksum_add(sum, s->keypoints[i].scale);
    }
    return sum;
}

static bool was_found(const struct sift *s, const struct rectangle *r)
{
    for (uint32_t i = 0; i < s->count; i++) {
        float dx = s->keypoints[i].x + 0.5f - (float)(r->left + r->right) * 0.5f;
        float dy = s->keypoints[i].y + 0.5f - (float)(r->top + r->bottom) * 0.5f;
        if (dx * dx + dy * dy < NEAR * NEAR)
            return true;
    }
    return false;
}

// Counts the first discs with a keypoint near their centre.
static uint32_t correct(const void *state)
{
    const struct sift *s = state;
    uint32_t sample = s->scene.count < checked_discs ? s->scene.count : checked_discs;
    uint32_t right = 0;

    for (uint32_t i = 0; i < sample; i++)
        right += was_found(s, &s->scene.rectangles[i]);
    return sample != 0 ? right * 1000 / sample : 0;
}

static const struct workload_parameter parameters[] = {
    {"width", 1920, 128, "of the image"},
    {"height", 1080, 96, "of the image"},
    {0},
};

const struct workload workload_sift = {
    "sift", "keypoints that are the same at every scale (SIFT)", parameters, 1, prepare, iterate, checksum,
    correct};
