// SPDX-License-Identifier: Apache-2.0
//
// Workloads as a Linux program: workload NAME [PARAMETER=NUMBER ...], or without arguments the list of them.
// Memory is what `memory_mib` says (256), mapped before the clock starts. With NAME `all`, one after the
// other.
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "workloads/driver.h"
#include "workloads/host.h"
#include "workloads/text.h"

enum { exit_usage = 2 };

static char **arguments; // NULL ends them

uint64_t host_parameter(const char *name, uint64_t fallback)
{
    size_t length = strlen(name);

    for (char **argument = arguments; *argument != NULL; argument++) {
        if (strncmp(*argument, name, length) == 0 && (*argument)[length] == '=')
            return strtoull(*argument + length + 1, NULL, 0);
    }
    return fallback;
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

static bool are_parameters(char **given)
{
    for (; *given != NULL; given++) {
        const char *equals = strchr(*given, '=');
        char *end;

        if (equals == NULL || equals[1] == 0)
            return false;
        (void)strtoull(equals + 1, &end, 0);
        if (*end != 0)
            return false;
    }
    return true;
}

static int run_all(void)
{
    bool all = true;

    for (int i = 0; workload_catalog[i] != NULL; i++)
        all = workload_run(workload_catalog[i]) && all;
    return all ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int count, char **values)
{
    arguments = values + count;
    if (count < 2) {
        for (int i = 0; workload_catalog[i] != NULL; i++)
            workload_describe(workload_catalog[i]);
        return EXIT_SUCCESS;
    }
    const struct workload *workload = workload_find(values[1]);
    bool all = text_same(values[1], "all");
    if ((workload == NULL && !all) || !are_parameters(values + 2)) {
        (void)fprintf(stderr,
                      "usage: workload NAME|all [PARAMETER=NUMBER ...]; without arguments: what there is\n");
        return exit_usage;
    }
    arguments = values + 2;
    if (all)
        return run_all();
    return workload_run(workload) ? EXIT_SUCCESS : EXIT_FAILURE;
}
