// SPDX-License-Identifier: Apache-2.0
//
// Quicksort (median of three, insertion sort for short ranges) of keys that each iteration copies anew.
#include "workloads/catalog.h"
#include "workloads/checksum.h"

enum { short_stretch = 16, most_stretches = 64 };

struct qsort {
    uint32_t *keys; // the original keys
    uint32_t *sorted;
    uint64_t count;
};

static void *prepare(const struct workload_setup *setup)
{
    struct qsort *q = arena_take(setup->arena, 1, sizeof(*q));
    uint64_t count = workload_value(setup, "keys");
    uint32_t *keys = arena_take(setup->arena, count, sizeof(*keys));
    uint32_t *sorted = arena_take(setup->arena, count, sizeof(*sorted));
    struct random random = {.state = setup->seed};

    if (setup->arena->exhausted || count == 0)
        return NULL;
    for (uint64_t i = 0; i < count; i++)
        keys[i] = (uint32_t)random_next(&random);
    *q = (struct qsort){keys, sorted, count};
    return q;
}

static void insertion_sort(uint32_t *keys, int64_t low, int64_t high)
{
    for (int64_t i = low + 1; i <= high; i++) {
        uint32_t key = keys[i];
        int64_t at = i;
        for (; at > low && keys[at - 1] > key; at--)
            keys[at] = keys[at - 1];
        keys[at] = key;
    }
}

static uint32_t median(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t low = a < b ? a : b;
    uint32_t high = a < b ? b : a;

    return c < low ? low : c > high ? high : c;
}

// Moves keys up to the pivot to [low, result], and the others after them.
static int64_t divide(uint32_t *keys, int64_t low, int64_t high)
{
    uint32_t pivot = median(keys[low], keys[low + (high - low) / 2], keys[high]);
    int64_t i = low - 1;
    int64_t j = high + 1;

    for (;;) {
        do {
            i++;
        } while (keys[i] < pivot);
        do {
            j--;
        } while (keys[j] > pivot);
        if (i >= j)
            return j;
        uint32_t kept = keys[i];
        keys[i] = keys[j];
        keys[j] = kept;
    }
}

// Sorts the shorter part first and pushes the longer one: so the stack of ranges stays small.
static void sort(uint32_t *keys, int64_t count)
{
    struct {
        int64_t low;
        int64_t high;
    } waiting[most_stretches];
    int waiting_count = 0;
    int64_t low = 0;
    int64_t high = count - 1;

    for (;;) {
        if (high - low < short_stretch) {
            insertion_sort(keys, low, high);
            if (waiting_count == 0)
                return;
            waiting_count--;
            low = waiting[waiting_count].low;
            high = waiting[waiting_count].high;
            continue;
        }
        int64_t middle = divide(keys, low, high);
        bool left_longer = middle - low > high - middle;
        waiting[waiting_count].low = left_longer ? low : middle + 1;
        waiting[waiting_count].high = left_longer ? middle : high;
        waiting_count++;
        low = left_longer ? middle + 1 : low;
        high = left_longer ? high : middle;
    }
}

static void iterate(void *state)
{
    struct qsort *q = state;

    for (uint64_t i = 0; i < q->count; i++)
        q->sorted[i] = q->keys[i];
    sort(q->sorted, (int64_t)q->count);
}

static uint64_t checksum(const void *state)
{
    const struct qsort *q = state;
    uint64_t sum = 0;

    for (uint64_t i = 0; i < q->count; i++)
        sum = checksum_add(sum, q->sorted[i]);
    return sum;
}

// Checks the order, and that the sum of the keys has not changed.
static uint32_t correct(const void *state)
{
    const struct qsort *q = state;
    uint64_t in_order = 1;
    uint64_t difference = 0;

    for (uint64_t i = 0; i < q->count; i++) {
        in_order += i > 0 && q->sorted[i - 1] <= q->sorted[i];
        difference += random_mix(q->sorted[i]) - random_mix(q->keys[i]);
    }
    return difference == 0 ? (uint32_t)(in_order * 1000 / q->count) : 0;
}

static const struct workload_parameter parameters[] = {
    {"keys", 262144, 2000, "how many keys"},
    {0},
};

const struct workload workload_qsort = {
    "qsort", "quicksort of random keys", parameters, 10, prepare, iterate, checksum, correct};
