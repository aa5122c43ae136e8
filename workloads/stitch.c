// SPDX-License-Identifier: Apache-2.0
//
// Image stitching: corners of both images (Harris), of these the ones that are strongest within the largest
// surroundings (adaptive non-maximal suppression), patches around them as descriptors, for each patch the
// most similar one of the other image, and the offset on which most of these pairs agree (RANSAC). Then both
// images are merged. The second image is adjacent to the first one, at a known offset.
#include "workloads/blur.h"
#include "workloads/catalog.h"
#include "workloads/checksum.h"
#include "workloads/corner_patches.h"

enum { most_corners = 4096, tries = 500, near = 2 };

struct stitch {
    struct image images[2];
    int32_t moved_x; // true offset of the second image
    int32_t moved_y;
    struct corner_planes planes;
    struct corner *corners[2];
    struct patch *patches[2];
    uint32_t wanted; // corners of each image
    uint32_t count[2];
    uint32_t *match; // of the first image's patches in the second; UINT32_MAX: none
    int32_t found_x; // the result
    int32_t found_y;
    struct image whole;
};

static void *prepare(const struct workload_setup *setup)
{
    struct stitch *kept = arena_take(setup->arena, 1, sizeof(*kept));
    struct stitch s = {.wanted = (uint32_t)workload_value(setup, "corners")};
    struct image size;

    if (!image_size(setup, &size) || s.wanted == 0 || s.wanted > most_corners)
        return NULL;
    s.moved_x = size.width / 3;
    s.moved_y = size.height / 16;
    for (int i = 0; i < 2; i++) {
        s.images[i] = image_take(setup->arena, size);
        s.corners[i] = arena_take(setup->arena, corner_capacity(size), sizeof(struct corner));
        s.patches[i] = arena_take(setup->arena, s.wanted, sizeof(struct patch));
    }
    s.planes = corner_planes_take(setup->arena, size);
    s.match = arena_take(setup->arena, s.wanted, sizeof(*s.match));
    // Room for every possible position of the second image.
    struct image whole = {.width = 2 * size.width, .height = 2 * size.height};
    s.whole = image_take(setup->arena, whole);
    if (setup->arena->exhausted)
        return NULL;
    image_fill(s.images[0], setup->seed, 0, 0);
    image_fill(s.images[1], setup->seed, s.moved_x * 16, s.moved_y * 16);
    *kept = s;
    return kept;
}

// The nearest patch, if the second nearest is much farther.
static uint32_t match_of(const struct stitch *s, const struct patch *patch)
{
    float least = 1e9f;
    float second = 1e9f;
    uint32_t best = UINT32_MAX;

    for (uint32_t i = 0; i < s->count[1]; i++) {
        float distance = patch_distance(patch, &s->patches[1][i]);
        if (distance < least) {
            second = least;
            least = distance;
            best = i;
        } else if (distance < second) {
            second = distance;
        }
    }
    return least < 0.5f * second ? best : UINT32_MAX;
}

// Offset from the first image's corner of a pair to the second one's.
static bool distance_of(const struct stitch *s, uint32_t pair, int32_t *x, int32_t *y)
{
    if (s->match[pair] == UINT32_MAX)
        return false;
    *x = s->corners[0][pair].x - s->corners[1][s->match[pair]].x;
    *y = s->corners[0][pair].y - s->corners[1][s->match[pair]].y;
    return true;
}

static uint32_t count_agreeing(const struct stitch *s, int32_t x, int32_t y)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < s->count[0]; i++) {
        int32_t dx;
        int32_t dy;
        if (distance_of(s, i, &dx, &dy))
            count += dx - x <= near && x - dx <= near && dy - y <= near && y - dy <= near;
    }
    return count;
}

static void agree(struct stitch *s)
{
    struct random random = {.state = 1};
    uint32_t most = 0;

    s->found_x = 0;
    s->found_y = 0;
    for (int i = 0; i < tries && s->count[0] > 0; i++) {
        int32_t x;
        int32_t y;
        if (!distance_of(s, (uint32_t)random_below(&random, s->count[0]), &x, &y))
            continue;
        uint32_t agreeing = count_agreeing(s, x, y);
        s->found_x = agreeing > most ? x : s->found_x;
        s->found_y = agreeing > most ? y : s->found_y;
        most = agreeing > most ? agreeing : most;
    }
}

// Merges both images, the first one on top.
static void join(const struct stitch *s)
{
    struct image whole = s->whole;
    int32_t left = s->found_x < 0 ? -s->found_x : 0;
    int32_t top = s->found_y < 0 ? -s->found_y : 0;

    for (int i = 1; i >= 0; i--) {
        struct image image = s->images[i];
        int32_t x0 = left + (i == 1 ? s->found_x : 0);
        int32_t y0 = top + (i == 1 ? s->found_y : 0);
        for (int32_t y = 0; y < image.height; y++) {
            for (int32_t x = 0; x < image.width; x++)
                whole.pixels[(y0 + y) * whole.width + x0 + x] = image.pixels[y * image.width + x];
        }
    }
}

static void iterate(void *state)
{
    struct stitch *s = state;

    for (int i = 0; i < 2; i++) {
        s->count[i] = corners_find(&s->planes, s->images[i], s->corners[i], s->wanted);
        patches_describe(&s->planes, s->corners[i], s->count[i], s->patches[i]);
    }
    for (uint32_t i = 0; i < s->count[0]; i++)
        s->match[i] = match_of(s, &s->patches[0][i]);
    agree(s);
    join(s);
}

static uint64_t checksum(const void *state)
{
    const struct stitch *s = state;
    uint64_t sum = checksum_add(checksum_add(0, (uint32_t)s->found_x), (uint32_t)s->found_y);

    for (uint32_t i = 0; i < s->count[0]; i++)
        sum = checksum_add(sum, s->match[i]);
    for (uint32_t i = 0; i < s->count[1]; i++)
        sum = checksum_add(sum, (uint64_t)(uint32_t)s->corners[1][i].x << 32 | (uint32_t)s->corners[1][i].y);
    return sum;
}

static uint32_t correct(const void *state)
{
    const struct stitch *s = state;

    return s->found_x == s->moved_x && s->found_y == s->moved_y ? 1000 : 0;
}

static const struct workload_parameter parameters[] = {
    {"width", 1920, 160, "of each image"},
    {"height", 1080, 120, "of each image"},
    {"corners", 500, 60, "corners of each image that are matched"},
    {0},
};

const struct workload workload_stitch = {
    "stitch", "two images become one", parameters, 1, prepare, iterate, checksum, correct};
