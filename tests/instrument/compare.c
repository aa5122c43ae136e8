// SPDX-License-Identifier: Apache-2.0
// Code with many comparisons, carries and conditional moves, whose result depends on each of them.
#include <stddef.h>
#include <stdint.h>

uint64_t compare_all(uint64_t seed);

static uint64_t state;

static uint32_t random_below(uint32_t bound)
{
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)((state >> 33) % bound);
}

static int three_ways(int32_t left, int32_t right)
{
    if (left < right)
        return -1;
    if (left == right)
        return 0;
    return 1;
}

static size_t search(const int32_t *sorted, size_t count, int32_t wanted)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int way = three_ways(sorted[middle], wanted);
        if (way == 0)
            return middle;
        if (way < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return count + low;
}

static void sort(int32_t *values, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        int32_t value = values[i];
        size_t j = i;
        for (; j > 0 && values[j - 1] > value; j--)
            values[j] = values[j - 1];
        values[j] = value;
    }
}

static uint64_t wide(unsigned __int128 left, unsigned __int128 right)
{
    unsigned __int128 sum = left + right;
    unsigned __int128 difference = left - right;
    if (sum < left)
        difference += 7;
    return (uint64_t)(sum >> 64) ^ (uint64_t)difference ^
           (uint64_t)(left > right    ? 3
                      : left == right ? 2
                                      : 1);
}

static uint64_t floating(double left, double right)
{
    uint64_t bits = 0;
    bits |= left < right ? 1U : 0U;
    bits |= left == right ? 2U : 0U;
    bits |= left > right ? 4U : 0U;
    return bits + (uint64_t)(int64_t)(left * 3 - right);
}

static uint64_t switched(uint32_t what, uint64_t value)
{
    switch (what) {
    case 0:
        return value + 1;
    case 1:
        return value << (value % 7);
    case 2:
        return value >> (value % 9);
    case 3:
        return (uint64_t)__builtin_popcountll(value);
    case 4:
        return value % 13 > 6 ? value / 3 : value * 5;
    case 5:
        return (uint64_t)(value != 0) + (uint64_t)((int64_t)value < 0);
    default:
        return ~value;
    }
}

uint64_t compare_all(uint64_t seed)
{
    int32_t values[64];
    uint64_t result = seed;
    state = seed;
    for (int round = 0; round < 200; round++) {
        for (size_t i = 0; i < 64; i++)
            values[i] = (int32_t)random_below(100) - 50;
        sort(values, 64);
        for (int i = 0; i < 30; i++) {
            uint64_t found = search(values, 64, (int32_t)random_below(120) - 60);
            result = result * 31 + switched(random_below(8), found ^ result);
        }
        uint64_t high = random_below(3);
        result ^= wide(((unsigned __int128)high << 64) | state,
                       ((unsigned __int128)random_below(3) << 64) | result);
        result += floating((double)random_below(10), (double)random_below(10));
    }
    return result;
}
