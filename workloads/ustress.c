// SPDX-License-Identifier: Apache-2.0
//
// The writes that are slowest for DRAM: each goes to another row of the same bank. The distance between rows
// of a bank depends on the board's address mapping, so it is a parameter. Between two writes to the same line
// there are more lines than a cache holds. One iteration writes each line of the chosen columns once.
#include "workloads/catalog.h"
#include "workloads/checksum.h"

enum { line_words = 64 / sizeof(uint64_t) };

struct ustress {
    uint64_t *words;
    uint64_t stride_words;
    uint64_t rows;
    uint64_t columns; // lines of each row
    uint64_t passes;
};

static void *prepare(const struct workload_setup *setup)
{
    struct ustress *u = arena_take(setup->arena, 1, sizeof(*u));
    uint64_t stride = workload_value(setup, "stride_kib") * 1024;
    uint64_t rows = workload_value(setup, "rows");
    uint64_t columns = workload_value(setup, "columns");
    uint64_t *words = arena_take(setup->arena, rows, stride);

    if (setup->arena->exhausted || rows == 0 || columns == 0 || columns > stride / 64)
        return NULL;
    *u = (struct ustress){words, stride / sizeof(uint64_t), rows, columns, 0};
    return u;
}

static void iterate(void *state)
{
    struct ustress *u = state;
    uint64_t stride = u->stride_words;
    uint64_t end = u->rows * stride;
    uint64_t value = ++u->passes;

    for (uint64_t column = 0; column < u->columns; column++) {
        volatile uint64_t *words = u->words + column * line_words;
        for (uint64_t i = 0; i < end; i += stride)
            words[i] = value;
    }
}

static uint64_t checksum(const void *state)
{
    const struct ustress *u = state;
    uint64_t sum = 0;

    for (uint64_t i = 0; i < u->rows * u->columns; i++)
        sum = checksum_add(sum, u->words[i / u->columns * u->stride_words + i % u->columns * line_words]);
    return sum;
}

static uint32_t correct(const void *state)
{
    const struct ustress *u = state;
    uint64_t right = 0;

    for (uint64_t i = 0; i < u->rows * u->columns; i++)
        right += u->words[i / u->columns * u->stride_words + i % u->columns * line_words] == u->passes;
    return (uint32_t)(right * 1000 / (u->rows * u->columns));
}

static const struct workload_parameter parameters[] = {
    {"stride_kib", 128, 4, "from a row of a bank to its next, by the board's address mapping"},
    {"rows", 128, 16, "rows that are written in turn"},
    {"columns", 1024, 16, "lines of each row"},
    {0},
};

const struct workload workload_ustress = {
    "ustress", "writes that miss the row of one bank", parameters, 0, prepare, iterate, checksum, correct};
