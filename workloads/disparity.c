// SPDX-License-Identifier: Apache-2.0
//
// Stereo disparity by block matching: for each shift, the absolute differences of both images, their integral
// image, from which the sum over the window around each pixel costs four reads, and these sums; each pixel
// keeps the shift with the smallest sum. The passes are those of San Diego's vision benchmarks, in their
// order, over planes of 32 bits with a border around the image: all planes are filled and both images
// widened; then, for each shift, the moved image is cleared and copied, differences are written, summed down
// the columns and along the rows, and so on; windows are summed column by column. Passes are neither merged
// nor reordered, since their memory traffic is what is measured. The right image is the left one with each
// rectangle moved by its depth.
#include "workloads/catalog.h"
#include "workloads/checksum.h"
#include "workloads/image.h"

enum { half_window = 3, border = half_window + 1, ground_shift = 2, most_shifts = 200 };

typedef uint64_t wide __attribute__((vector_size(16)));

struct disparity {
    struct scene left; // only its image and where rectangles lie
    struct image right;
    int32_t stride;   // of the planes' rows, with both borders
    int32_t rows;     // likewise
    int32_t *gray[2]; // of the left and the right image; 0 in the border
    int32_t *moved;   // the right image, shifted
    int32_t *differences;
    int32_t *integral;
    int32_t *sum;   // over windows
    int32_t *least; // of the sums up to now
    int32_t *shift; // the result
    uint8_t *truth;
    uint8_t *nearest; // depth of what the right camera sees
    uint32_t shifts;
};

// Paints what the right camera sees; of two overlapping surfaces, the nearer one.
static void make_right(struct disparity *d, uint64_t seed)
{
    int32_t width = d->right.width;

    image_fill(d->right, seed, ground_shift * 16, 0);
    for (int32_t i = 0; i < width * d->right.height; i++) {
        d->nearest[i] = ground_shift;
        d->truth[i] = ground_shift;
    }
    for (uint32_t i = 0; i < d->left.count; i++) {
        struct rectangle *r = &d->left.rectangles[i];
        r->depth = (uint8_t)(ground_shift + r->depth % (d->shifts - ground_shift));
        // A texture of its own: what lies behind it must look different.
        image_fill_part(d->left.image, *r, seed + 1 + i, 0, 0);
        for (int32_t y = r->top; y < r->bottom; y++) {
            for (int32_t x = r->left; x < r->right; x++) {
                int32_t at = y * width + x;
                int32_t seen = at - r->depth;
                d->truth[at] = r->depth;
                if (x < r->depth || d->nearest[seen] > r->depth)
                    continue;
                d->nearest[seen] = r->depth;
                d->right.pixels[seen] = d->left.image.pixels[at];
            }
        }
    }
}

// Pixels that a nearer rectangle hides from the right camera have no true depth: 0.
static void forget_hidden(struct disparity *d)
{
    int32_t pixels = d->right.width * d->right.height;

    for (int32_t i = 0; i < pixels; i++) {
        bool visible = i % d->right.width >= d->truth[i] && d->nearest[i - d->truth[i]] == d->truth[i];
        d->truth[i] = visible ? d->truth[i] : 0;
    }
}

// Takes all memory; false: there is too little.
static bool take(struct disparity *d, struct arena *arena, struct image size)
{
    uint64_t pixels = (uint64_t)size.width * (uint64_t)size.height;
    uint64_t places = (uint64_t)d->stride * (uint64_t)d->rows;
    int32_t **planes[] = {&d->gray[0],  &d->gray[1], &d->moved, &d->differences,
                          &d->integral, &d->sum,     &d->least, &d->shift};

    d->left = scene_take(arena, size);
    d->right = image_take(arena, size);
    for (size_t i = 0; i < sizeof(planes) / sizeof(planes[0]); i++)
        *planes[i] = arena_take(arena, places, sizeof(int32_t));
    d->truth = arena_take(arena, pixels, 1);
    d->nearest = arena_take(arena, pixels, 1);
    return !arena->exhausted;
}

// The index of a pixel in the planes.
static int32_t place(const struct disparity *d, int32_t x, int32_t y)
{
    return (y + border) * d->stride + x + border;
}

static void fill(const struct disparity *d, int32_t *plane, int32_t value)
{
    for (int32_t i = 0; i < d->stride * d->rows; i++)
        plane[i] = value;
}

// Clears like the memset that compilers make of such a loop: stores of 16 bytes, two lines at once.
static void clear(const struct disparity *d, int32_t *plane)
{
    uint64_t bytes = (uint64_t)d->stride * (uint64_t)d->rows * sizeof(*plane);
    wide *to = (wide *)(void *)plane;
    wide zero = {0, 0};
    uint64_t whole = bytes / sizeof(wide);
    uint64_t i = 0;

    for (; i + 8 <= whole; i += 8) {
        to[i] = zero;
        to[i + 1] = zero;
        to[i + 2] = zero;
        to[i + 3] = zero;
        to[i + 4] = zero;
        to[i + 5] = zero;
        to[i + 6] = zero;
        to[i + 7] = zero;
    }
    for (uint64_t word = i * (sizeof(wide) / sizeof(*plane)); word < bytes / sizeof(*plane); word++)
        plane[word] = 0;
}

static void widen(const struct disparity *d, const struct image *image, int32_t *plane)
{
    clear(d, plane);
    for (int32_t y = 0; y < image->height; y++) {
        for (int32_t x = 0; x < image->width; x++)
            plane[place(d, x, y)] = image->pixels[y * image->width + x];
    }
}

static void *prepare(const struct workload_setup *setup)
{
    struct disparity *kept = arena_take(setup->arena, 1, sizeof(*kept));
    struct disparity d = {.shifts = (uint32_t)workload_value(setup, "shifts")};
    struct image size;

    if (!image_size(setup, &size) || d.shifts <= ground_shift || d.shifts > most_shifts)
        return NULL;
    d.stride = size.width + 2 * border;
    d.rows = size.height + 2 * border;
    if (!take(&d, setup->arena, size))
        return NULL;
    scene_arrange(&d.left, setup->seed);
    image_fill(d.left.image, setup->seed, 0, 0);
    make_right(&d, setup->seed);
    forget_hidden(&d);
    *kept = d;
    return kept;
}

// The first columns, which the right image does not show at this shift, stay 0.
static void move(const struct disparity *d, int32_t shift)
{
    clear(d, d->moved);
    for (int32_t y = 0; y < d->rows; y++) {
        const int32_t *from = d->gray[1] + y * d->stride;
        int32_t *to = d->moved + y * d->stride + shift;
        for (int32_t x = 0; x < d->stride - shift; x++)
            to[x] = from[x];
    }
}

static void compare(const struct disparity *d)
{
    for (int32_t i = 0; i < d->stride * d->rows; i++) {
        int32_t more = d->gray[0][i] - d->moved[i];
        d->differences[i] = more < 0 ? -more : more;
    }
}

static void integrate(const struct disparity *d)
{
    for (int32_t x = 0; x < d->stride; x++)
        d->integral[x] = d->differences[x];
    for (int32_t i = d->stride; i < d->stride * d->rows; i++)
        d->integral[i] = d->integral[i - d->stride] + d->differences[i];
    for (int32_t y = 0; y < d->rows; y++) {
        int32_t *row = d->integral + y * d->stride;
        for (int32_t x = 1; x < d->stride; x++)
            row[x] += row[x - 1];
    }
}

// Down each column, as in the original: every access is to another line, and to another page.
static void sum_windows(const struct disparity *d)
{
    int32_t up = border * d->stride;
    int32_t down = half_window * d->stride;

    for (int32_t x = 0; x < d->right.width; x++) {
        for (int32_t y = 0; y < d->right.height; y++) {
            const int32_t *here = d->integral + place(d, x, y);
            d->sum[place(d, x, y)] =
                here[down + half_window] - here[down - border] - here[half_window - up] + here[-up - border];
        }
    }
}

static void keep_least(const struct disparity *d, int32_t shift)
{
    for (int32_t y = 0; y < d->right.height; y++) {
        int32_t begin = place(d, 0, y);
        for (int32_t at = begin; at < begin + d->right.width; at++) {
            if (d->sum[at] < d->least[at]) {
                d->least[at] = d->sum[at];
                d->shift[at] = shift;
            }
        }
    }
}

static void iterate(void *state)
{
    const struct disparity *d = state;

    fill(d, d->least, INT32_MAX);
    clear(d, d->shift);
    widen(d, &d->left.image, d->gray[0]);
    widen(d, &d->right, d->gray[1]);
    fill(d, d->differences, 255);
    clear(d, d->integral);
    clear(d, d->moved);
    for (int32_t shift = 0; shift < (int32_t)d->shifts; shift++) {
        move(d, shift);
        compare(d);
        integrate(d);
        sum_windows(d);
        keep_least(d, shift);
    }
}

static uint64_t checksum(const void *state)
{
    const struct disparity *d = state;

    return checksum_bytes(0, d->shift, (size_t)(d->stride * d->rows) * sizeof(*d->shift));
}

// Whether the whole window around the pixel is one surface that the right camera sees.
static bool is_plain(const struct disparity *d, int32_t at)
{
    int32_t down = half_window * d->right.width;
    uint8_t here = d->truth[at];
    const uint8_t *p = d->truth + at;

    return here != 0 && p[-down - half_window] == here && p[-down + half_window] == here &&
           p[down - half_window] == here && p[down + half_window] == here;
}

// Counts the inner parts of all rectangles whose match lies within the right image.
static uint32_t correct(const void *state)
{
    const struct disparity *d = state;
    uint32_t right = 0;
    uint32_t all = 0;

    for (uint32_t i = 0; i < d->left.count; i++) {
        const struct rectangle *r = &d->left.rectangles[i];
        for (int32_t y = r->top; y < r->bottom; y++) {
            for (int32_t x = r->left; x < r->right; x++) {
                int32_t at = y * d->right.width + x;
                bool counts = x >= (int32_t)d->shifts + half_window && is_plain(d, at);
                all += counts;
                right += counts && d->shift[place(d, x, y)] == d->truth[at];
            }
        }
    }
    return all != 0 ? (uint32_t)((uint64_t)right * 1000 / all) : 0;
}

static const struct workload_parameter parameters[] = {
    {"width", 1920, 128, "of the images"},
    {"height", 1080, 96, "of the images"},
    {"shifts", 32, 12, "disparities that are tried"},
    {0},
};

const struct workload workload_disparity = {
    "disparity", "stereo disparity by block matching", parameters, 2, prepare, iterate, checksum, correct};
