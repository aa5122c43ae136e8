/* SPDX-License-Identifier: Apache-2.0
 *
 * Synthetic accesses (X7): integers in sequence; at random; sixteen in each page, page after page; and the
 * first rows of the product of two matrices. A checksum uses every value that was read, so that the compiler
 * omits no access. The data is one allocation with a specification, or two halves of which the first is
 * deterministic. With `each`, an adversary acts before each access.
 */
#include "microkernel/include/microkernel/component.h"
#include "microkernel/include/microkernel/rt.h"
#include "microkernel/programs/apps/app.h"
#include <stdbool.h>

#define PAGE_WORDS 1024u
#define RUN_WORDS  16u /* read in each page at a time */
#define POLL       64u /* accesses between two polls of the clock; each run of RUN_WORDS has one poll */
#define SIDE       128u

enum pattern { SEQUENTIAL, RANDOM, STRIDE, MATRIX };

RT_PARAMETERS(APP_PARAMETERS, {"pattern", SEQUENTIAL}, {"accesses", 262144}, {"bytes", 65536}, {"rows", 17},
              {"spec", 0}, {"half", 0}, {"each", 0}, {"seed", 1});

static const char *const name[] = {"sequential", "random", "stride", "matrix"};

/* Fills the data with numbers that the checksum distinguishes: runs of `length` words, each `step` words
 * after the one before. Words that are never read stay zero. */
static void fill(uint32_t *data, uint32_t words, uint32_t length, uint32_t step, uint32_t seed)
{
    for (uint32_t at = 0; at < words; at += step) {
        for (uint32_t i = at; i < at + length && i < words; i++) {
            data[i] = app_random(&seed) >> 16;
        }
        app_poll();
    }
}

static inline uint32_t word(const volatile uint32_t *at, bool each)
{
    if (each) {
        app_disturb();
    }
    return *at;
}

/* Reads runs of `length` words, each `step` words after the one before, and wraps around at the end of the
 * data. */
static inline __attribute__((always_inline)) uint32_t read_runs(const volatile uint32_t *data, uint32_t words,
                                                                uint32_t length, uint32_t step, bool each)
{
    uint32_t left = rt_parameter("accesses");
    uint32_t sum = 0;

    for (uint32_t at = 0; left > 0; at = at + step < words ? at + step : 0) {
        uint32_t count = left < length ? left : length;

        app_poll();
        for (uint32_t i = 0; i < count; i++) {
            sum = sum * 31u + word(&data[at + i], each);
        }
        left -= count;
    }
    return sum;
}

static inline __attribute__((always_inline)) uint32_t read_random(const volatile uint32_t *data,
                                                                  uint32_t words, bool each)
{
    uint32_t left = rt_parameter("accesses");
    uint32_t random = rt_parameter("seed");
    uint32_t sum = 0;

    while (left > 0) {
        uint32_t count = left < POLL ? left : POLL;

        app_poll();
        for (uint32_t i = 0; i < count; i++) {
            sum = sum * 31u + word(&data[(uint64_t)app_random(&random) * words >> 32], each);
        }
        left -= count;
    }
    return sum;
}

/* Computes elements of the product, each of which reads a row and a column. */
static inline __attribute__((always_inline)) uint32_t multiply(const volatile uint32_t *data, uint32_t rows,
                                                               bool each)
{
    const volatile uint32_t *right = data;
    const volatile uint32_t *left = data + (size_t)SIDE * SIDE;
    uint32_t sum = 0;

    for (uint32_t row = 0; row < rows; row++) {
        for (uint32_t column = 0; column < SIDE; column++) {
            uint32_t element = 0;

            app_poll();
            for (uint32_t i = 0; i < SIDE; i++) {
                element += word(&left[row * SIDE + i], each) * word(&right[i * SIDE + column], each);
            }
            sum = sum * 31u + element;
        }
    }
    return sum;
}

/* Inlined for each value of `each`, so that the accesses contain no check of it. */
static inline __attribute__((always_inline)) uint32_t
access(enum pattern pattern, const volatile uint32_t *data, uint32_t words, bool each)
{
    switch (pattern) {
    case SEQUENTIAL:
        return read_runs(data, words, POLL, POLL, each);
    case STRIDE:
        return read_runs(data, words, RUN_WORDS, PAGE_WORDS, each);
    case RANDOM:
        return read_random(data, words, each);
    default:
        return multiply(data, rt_parameter("rows"), each);
    }
}

/* Whether a pattern can run on data of this size. */
static bool is_possible(uint32_t pattern, uint32_t words, uint32_t rows)
{
    switch (pattern) {
    case SEQUENTIAL:
        return words != 0 && words % POLL == 0;
    case RANDOM:
        return words != 0;
    case STRIDE:
        return words != 0 && words % PAGE_WORDS == 0;
    case MATRIX:
        return rows <= SIDE && words >= (SIDE + rows) * SIDE;
    default:
        return false;
    }
}

/* Null if no memory with this specification is left. */
static uint32_t *allocate(uint32_t bytes)
{
    uint32_t spec = rt_parameter("spec");
    char *place = rt_malloc(bytes, spec);

    if (rt_parameter("half") == 0 || place == 0) {
        return (uint32_t *)(void *)place;
    }
    rt_free(place);
    return rt_malloc_at(place, bytes / 2u, MXU_DETERMINISTIC) != 0 &&
                   rt_malloc_at(place + bytes / 2u, bytes - bytes / 2u, spec) != 0
               ? (uint32_t *)(void *)place
               : 0;
}

void component_main(void)
{
    uint32_t pattern = rt_parameter("pattern");
    uint32_t words = rt_parameter("bytes") / (uint32_t)sizeof(uint32_t);
    uint32_t rows = rt_parameter("rows");
    uint32_t *data;
    uint32_t sum;

    if (!is_possible(pattern, words, rows)) {
        app_fail("parameters: `pattern` is at most 3; `bytes` is not 0, a multiple of 256, of a stride whole "
                 "pages, of matrices at least 512 * (128 + rows); `rows` is at most 128");
    }
    data = allocate(words * (uint32_t)sizeof *data);
    if (data == 0) {
        app_fail("no memory with this specification");
    }
    if (pattern == STRIDE) {
        fill(data, words, RUN_WORDS, PAGE_WORDS, rt_parameter("seed"));
    } else {
        fill(data, words, POLL, POLL, rt_parameter("seed"));
    }
    app_begin(name[pattern]);
    sum = rt_parameter("each") != 0 ? access((enum pattern)pattern, data, words, true)
                                    : access((enum pattern)pattern, data, words, false);
    app_report();
    app_field("accesses", pattern == MATRIX ? 2u * rows * SIDE * SIDE : rt_parameter("accesses"));
    app_field("bytes", words * sizeof *data);
    app_field("checksum", sum);
    app_end();
}
