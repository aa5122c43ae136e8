// SPDX-License-Identifier: Apache-2.0
//
// Workloads as a Linux program: workload NAME|all [PARAMETER=NUMBER ...], or without arguments the list of
// them. Memory has the size `memory_mib` (256), and is mapped before the clock starts.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "workloads/driver.h"
#include "workloads/host.h"
#include "workloads/hosts/arguments.h"

enum { exit_usage = 2 };

uint64_t host_parameter(const char *name, uint64_t fallback)
{
    return arguments_number(name, fallback);
}

struct arena host_memory(void)
{
    static struct arena arena;

    if (arena.start == NULL) {
        uint64_t bytes = host_parameter("memory_mib", 256) << 20;
        void *memory =
            mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        if (memory != MAP_FAILED)
            arena = arena_of(memory, bytes);
    }
    return arena;
}

void host_print(const char *text)
{
    (void)fputs(text, stdout);
    (void)fflush(stdout);
}

uint64_t host_now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// Not inlined: tools find the timed part by these symbols.
__attribute__((noinline)) void host_iteration_begins(void)
{
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) void host_iteration_ends(void)
{
    __asm__ volatile("" ::: "memory");
}

int main(int count, char **values)
{
    if (count < 2) {
        for (int i = 0; workload_catalog[i] != NULL; i++)
            workload_describe(workload_catalog[i]);
        return EXIT_SUCCESS;
    }
    if (!arguments_take(count, values)) {
        (void)fprintf(stderr,
                      "usage: workload NAME|all [PARAMETER=NUMBER ...]; without arguments: what there is\n");
        return exit_usage;
    }
    return arguments_run() ? EXIT_SUCCESS : EXIT_FAILURE;
}
