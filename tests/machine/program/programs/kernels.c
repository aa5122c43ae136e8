// SPDX-License-Identifier: Apache-2.0
// The program that most tests run: argv[1] names the kernel, argv[2] gives a number of repetitions or bytes.
// Each kernel's accesses can be counted by hand; tests compare two runs, so that main's own accesses cancel
// out.
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "machine/program/calls.h"

void *memcpy(void *to, const void *from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
int memcmp(const void *left, const void *right, size_t bytes);

int kernel_spin(int n);

static const int primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};

struct large {
    uint64_t words[40];
};

static uint32_t array[4096];
static struct large pair[2];
static unsigned char bytes[8192];
static volatile uint32_t device;
static _Atomic uint32_t counter32;
static _Atomic uint64_t counter64;
static _Atomic uint8_t counter8;
static int initialized = 42;
static int *pointer = &initialized;

static uint64_t sum(uint64_t n)
{
    uint64_t total = 0;
    for (uint64_t i = 0; i < n; i++)
        total += array[i];
    return total;
}

// Reads 16 KiB repeatedly.
static uint64_t again(uint64_t n)
{
    uint64_t total = 0;
    for (uint64_t i = 0; i < n; i += 4096)
        total += sum(4096);
    return total;
}

static uint64_t fill(uint64_t n)
{
    device = (uint32_t)sum(4096); // the stores shall hit
    for (uint32_t i = 0; i < n; i++)
        array[i] = i;
    return 0;
}

static uint64_t structures(uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        pair[i % 2] = pair[(i + 1) % 2];
    return 0;
}

static uint64_t volatiles(uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        device = device + 1;
    return 0;
}

// No memory accesses, and nothing that the compiler can compute beforehand.
__attribute__((noinline)) int kernel_spin(int n)
{
    uint32_t state = 1;
    do {
        state = state * 1664525 + 1013904223;
        state ^= state >> 7;
    } while (--n);
    return (int)state;
}

static uint64_t atomics(uint64_t n)
{
    uint32_t expected = 3;
    atomic_store(&counter32, 1);
    for (uint64_t i = 0; i < n; i++)
        atomic_fetch_add(&counter32, 2);
    if (atomic_load(&counter32) != 1 + 2 * n)
        return 1;
    if (atomic_exchange(&counter32, 9) != 1 + 2 * n)
        return 2;
    if (atomic_compare_exchange_strong(&counter32, &expected, 5) || expected != 9)
        return 3;
    if (!atomic_compare_exchange_strong(&counter32, &expected, 0xf0) || atomic_load(&counter32) != 0xf0)
        return 4;
    if (atomic_fetch_or(&counter32, 0xf) != 0xf0 || atomic_fetch_and(&counter32, 0x3c) != 0xff)
        return 5;
    if (atomic_fetch_xor(&counter32, 0xff) != 0x3c || atomic_fetch_sub(&counter32, 0xc4) != 0xc3)
        return 6;
    if (atomic_load(&counter32) != ~0U)
        return 7;
    atomic_fetch_sub(&counter64, 1);
    atomic_fetch_sub(&counter8, 1);
    if (counter64 != ~0UL || counter8 != 0xff)
        return 8;
    return 0;
}

static uint64_t copies(uint64_t n)
{
    for (uint32_t i = 0; i < 1024; i++)
        bytes[i] = (unsigned char)(i * 7);
    memcpy(bytes + 1024, bytes, n);
    if (memcmp(bytes + 1024, bytes, n) != 0)
        return 1;
    memmove(bytes + 1, bytes, n);
    if (memcmp(bytes + 1, bytes + 1024, n) != 0)
        return 2;
    memmove(bytes, bytes + 1, n);
    if (memcmp(bytes, bytes + 1024, n) != 0)
        return 3;
    bytes[n] = 0x77;
    memset(bytes, 0x5a, n);
    for (uint64_t i = 0; i < n; i++) {
        if (bytes[i] != 0x5a)
            return 4;
    }
    if (bytes[n] != 0x77)
        return 5;
    bytes[1024] = 0x59;
    return memcmp(bytes, bytes + 1024, n) > 0 ? 0 : 6;
}

static uint64_t copy_only(uint64_t n)
{
    device = (uint32_t)memcmp(bytes + 4096, bytes, 4096); // the stores shall hit
    memcpy(bytes + 4096, bytes, n);
    return 0;
}

// A local whose address escapes is accessed like any other memory.
__attribute__((noipa)) static void give_away(int *local, int value)
{
    *local = value;
}

static uint64_t locals(uint64_t n)
{
    int local[16];
    uint64_t total = 0;
    for (uint64_t i = 0; i < n; i++) {
        give_away(&local[i % 16], (int)i);
        total += (uint64_t)local[i % 16];
    }
    return total;
}

static uint64_t recurse(uint64_t n)
{
    volatile unsigned char room[1024];
    room[n % 1024] = 1;
    return n == 0 ? 0 : recurse(n - 1) + room[n % 1024];
}

static uint64_t touch_own(uint64_t n)
{
    uint64_t size;
    unsigned char *memory = machine_memory(&size);
    uint64_t total = 0;
    for (uint64_t i = 0; i + 64 <= size && i < n; i += 64)
        total += ++memory[i];
    return total;
}

static uint64_t floats(uint64_t n)
{
    double x = 1.0;
    float y = 0.5F;
    for (uint64_t i = 1; i <= n; i++) {
        array[i % 64] = (uint32_t)i;
        x += (double)array[(i + 32) % 64] / (double)i + (double)y;
        y = y * 0.75F + (float)array[i % 32];
    }
    return (uint64_t)(x * 1000);
}

static uint64_t wild(uint64_t address)
{
    return *(volatile unsigned char *)address;
}

static uint64_t wild_write(uint64_t offset)
{
    array[offset] = 1;
    return 0;
}

// An access that no callback announces: the load of an asm statement.
static uint64_t unannounced(uint64_t offset)
{
    uint64_t value;
    const unsigned char *where = (const unsigned char *)array + offset;
    __asm__ volatile("movq (%1), %0" : "=r"(value) : "r"(where));
    return value;
}

static uint64_t marks(uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        machine_mark((uint32_t)i);
        device = (uint32_t)kernel_spin(1000);
    }
    return machine_clock_ps();
}

static uint64_t globals(uint64_t n)
{
    initialized += (int)n;
    return (uint64_t)*pointer + (uint64_t)primes[n % 8];
}

static uint64_t hello(uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        machine_write("hello\n", 6);
    machine_exit(7);
}

static uint64_t spin(uint64_t n)
{
    return (uint64_t)kernel_spin((int)n);
}

// The same lines, by pointers from one to the next or by their numbers.
enum { stride = 4096 + 64 };

static uint64_t chase(uint64_t n)
{
    uint64_t size;
    unsigned char *memory = machine_memory(&size);
    unsigned char **next = (unsigned char **)memory;
    for (uint64_t i = 0; i < n; i++)
        *(unsigned char **)(memory + i * stride) = memory + (i + 1) * stride;
    machine_mark(0);
    for (uint64_t i = 0; i < n; i++)
        next = (unsigned char **)*next;
    machine_mark(1);
    return (uint64_t)((unsigned char *)next - memory) / stride;
}

static uint64_t steps(uint64_t n)
{
    uint64_t size;
    uint64_t total = 0;
    unsigned char *memory = machine_memory(&size);
    for (uint64_t i = 0; i < n; i++)
        *(uint64_t *)(memory + i * stride) = i;
    machine_mark(0);
    for (uint64_t i = 0; i < n; i++)
        total += *(uint64_t *)(memory + i * stride);
    machine_mark(1);
    return total;
}

static bool same(const char *left, const char *right)
{
    while (*left != '\0' && *left == *right) {
        left++;
        right++;
    }
    return *left == *right;
}

struct kernel {
    const char *name;
    uint64_t (*run)(uint64_t n);
};

static const struct kernel kernels[] = {
    {"chase", chase},
    {"steps", steps},
    {"again", again},
    {"sum", sum},
    {"fill", fill},
    {"structures", structures},
    {"volatiles", volatiles},
    {"spin", spin},
    {"atomics", atomics},
    {"copies", copies},
    {"copy_only", copy_only},
    {"locals", locals},
    {"recurse", recurse},
    {"touch_own", touch_own},
    {"floats", floats},
    {"wild", wild},
    {"marks", marks},
    {"wild_write", wild_write},
    {"unannounced", unannounced},
    {"globals", globals},
    {"hello", hello},
};

int main(int argc, char **argv);

int main(int argc, char **argv)
{
    uint64_t n = 0;
    if (argc != 3)
        return 100;
    for (const char *digit = argv[2]; *digit != '\0'; digit++)
        n = n * 10 + (uint64_t)(*digit - '0');
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
        if (same(kernels[i].name, argv[1])) {
            machine_result(kernels[i].run(n));
            return 0;
        }
    }
    return 101;
}
