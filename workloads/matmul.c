// SPDX-License-Identifier: Apache-2.0
//
// Product of two square matrices, row by row, in single precision. Values are small integers, so that every
// sum is exact and the product can be checked by another way (Freivalds): C x = A (B x).
#include "workloads/catalog.h"
#include "workloads/checksum.h"

struct matmul {
    float *a;
    float *b;
    float *c;
    uint64_t n;
};

static void *prepare(const struct workload_setup *setup)
{
    struct matmul *m = arena_take(setup->arena, 1, sizeof(*m));
    uint64_t n = workload_value(setup, "n");
    bool sensible = n > 0 && n <= 1u << 15;
    uint64_t elements = sensible ? n * n : 0;
    float *a = arena_take(setup->arena, elements, sizeof(*a));
    float *b = arena_take(setup->arena, elements, sizeof(*b));
    float *c = arena_take(setup->arena, elements, sizeof(*c));
    struct random random = {.state = setup->seed};

    if (setup->arena->exhausted || !sensible)
        return NULL;
    for (uint64_t i = 0; i < elements; i++) {
        a[i] = (float)random_below(&random, 8);
        b[i] = (float)random_below(&random, 8);
        c[i] = 0;
    }
    *m = (struct matmul){a, b, c, n};
    return m;
}

static void iterate(void *state)
{
    struct matmul *m = state;
    uint64_t n = m->n;

    for (uint64_t i = 0; i < n; i++) {
        float *c = m->c + i * n;
        for (uint64_t j = 0; j < n; j++)
            c[j] = 0;
        for (uint64_t k = 0; k < n; k++) {
            float a = m->a[i * n + k];
            const float *b = m->b + k * n;
            for (uint64_t j = 0; j < n; j++)
                c[j] += a * b[j];
        }
    }
}

static uint64_t checksum(const void *state)
{
    const struct matmul *m = state;
    uint64_t sum = 0;

    for (uint64_t i = 0; i < m->n * m->n; i++)
        sum = checksum_add(sum, (uint64_t)m->c[i]);
    return sum;
}

// (C x)[i] - (A (B x))[i] for x[j] = j % 3: exact in double precision.
static double difference(const struct matmul *m, uint64_t i)
{
    uint64_t n = m->n;
    double sum = 0;

    for (uint64_t j = 0; j < n; j++)
        sum += (double)m->c[i * n + j] * (double)(j % 3);
    for (uint64_t k = 0; k < n; k++) {
        double inner = 0;
        for (uint64_t j = 0; j < n; j++)
            inner += (double)m->b[k * n + j] * (double)(j % 3);
        sum -= (double)m->a[i * n + k] * inner;
    }
    return sum;
}

// Checks a sample of the rows.
static uint32_t correct(const void *state)
{
    const struct matmul *m = state;
    uint32_t checked = 0;
    uint32_t right = 0;

    for (uint64_t i = 0; i < m->n; i += m->n / 8 + 1) {
        right += difference(m, i) == 0;
        checked++;
    }
    return right * 1000 / checked;
}

static const struct workload_parameter parameters[] = {
    {"n", 256, 24, "rows and columns"},
    {0},
};

const struct workload workload_matmul = {
    "matmul", "product of two matrices", parameters, 10, prepare, iterate, checksum, correct};
