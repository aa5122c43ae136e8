/* SPDX-License-Identifier: Apache-2.0
 * A program for test_against_emulator.py, without a library except the compiler's own: loops, switches, calls
 * by address, recursion, divisions of 64 bits and soft floating point. It writes its results and ends. */
#include <stdint.h>

#ifndef ROUNDS
#define ROUNDS 2
#endif
#define WORDS 2048u
#define NODES 512u

struct node {
    struct node *next;
    uint32_t value;
};

static uint8_t bytes[4 * WORDS];
static uint32_t words[WORDS];
static uint64_t quotients[64];
static struct node nodes[NODES];

static long system_call(long number, long first, long second, long third)
{
    register long r7 __asm__("r7") = number;
    register long r0 __asm__("r0") = first;
    register long r1 __asm__("r1") = second;
    register long r2 __asm__("r2") = third;
    __asm__ volatile("svc #0" : "+r"(r0) : "r"(r1), "r"(r2), "r"(r7) : "memory");
    return r0;
}

static __attribute__((noinline)) uint32_t crc(const uint8_t *from, uint32_t count)
{
    uint32_t sum = ~0u;
    while (count-- > 0) {
        sum ^= *from++;
        for (int bit = 0; bit < 8; bit++) {
            sum = sum >> 1 ^ (0xEDB88320u & -(sum & 1u));
        }
    }
    return ~sum;
}

static __attribute__((noinline)) void sort(uint32_t *all, uint32_t count)
{
    for (uint32_t gap = count / 2; gap > 0; gap /= 2) {
        for (uint32_t i = gap; i < count; i++) {
            const uint32_t moved = all[i];
            uint32_t at = i;
            for (; at >= gap && all[at - gap] > moved; at -= gap) {
                all[at] = all[at - gap];
            }
            all[at] = moved;
        }
    }
}

static __attribute__((noinline)) uint32_t selected(uint32_t value)
{
    switch (value % 11) {
    case 0:
        return 3;
    case 1:
        return value * 5;
    case 2:
        return value ^ 9;
    case 3:
        return -value;
    case 4:
        return value / 7;
    case 5:
        return value + 1;
    case 6:
        return 77;
    case 7:
        return value << 3;
    case 8:
        return value % 13;
    case 9:
        return ~value;
    default:
        return 1;
    }
}

static __attribute__((noinline)) uint32_t fibonacci(uint32_t number)
{
    return number < 2 ? number : fibonacci(number - 1) + fibonacci(number - 2);
}

static uint32_t (*const called[])(uint32_t) = {selected, fibonacci};

static uint32_t one_round(uint32_t *seed)
{
    for (uint32_t i = 0; i < WORDS; i++) {
        *seed = *seed * 1664525u + 1013904223u;
        words[i] = *seed;
        bytes[i] = (uint8_t)(*seed >> 24);
    }
    uint32_t sum = crc(bytes, 512);
    sort(words, 512);
    for (uint32_t i = 0; i < 64; i++) {
        quotients[i] = ((uint64_t)words[i] << 32 | words[i + 64]) / (words[i + 128] | 1u);
        sum += (uint32_t)(quotients[i] >> 7) + (uint32_t)(quotients[i] % 1000003u);
    }
    for (uint32_t i = 0; i < 500; i++) {
        sum += called[words[i] >> 3 & 1u](words[i] % 12);
    }
    for (uint32_t i = 0; i < NODES; i++) {
        nodes[i] = (struct node){&nodes[(i * 167 + 13) % NODES], words[i]};
    }
    const struct node *at = nodes;
    for (uint32_t i = 0; i < 1000; i++) {
        sum = sum * 31 + at->value;
        at = at->next;
    }
    double value = 0.1;
    for (uint32_t i = 0; i < 20; i++) {
        value = value * 1.7 + words[i] / 3.0;
    }
    return sum + (uint32_t)(uint64_t)value;
}

__attribute__((noreturn, used)) static void start(void)
{
    uint32_t seed = 1;
    uint32_t sums[ROUNDS];
    for (uint32_t i = 0; i < ROUNDS; i++) {
        sums[i] = one_round(&seed);
    }
    system_call(4, 1, (long)sums, sizeof sums);
    system_call(4, 1, (long)words, sizeof words);
    system_call(4, 1, (long)quotients, sizeof quotients);
    for (;;) {
        system_call(1, 0, 0, 0);
    }
}

__attribute__((naked, used)) void _start(void)
{
    __asm__("bl start");
}
