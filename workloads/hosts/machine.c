// SPDX-License-Identifier: Apache-2.0
//
// Workloads as an instrumented program on a core of the simulated machine: arguments as on Linux, memory that
// the run gives, the core's clock. Marks 1 and 2 are around each iteration.
#include "machine/program/calls.h"
#include "workloads/driver.h"
#include "workloads/host.h"
#include "workloads/hosts/arguments.h"

enum { mark_iteration_begins = 1, mark_iteration_ends = 2, exit_usage = 2 };

int main(int count, char **values);

uint64_t host_parameter(const char *name, uint64_t fallback)
{
    return arguments_number(name, fallback);
}

struct arena host_memory(void)
{
    uint64_t bytes = 0;
    unsigned char *start = machine_memory(&bytes);
    uint64_t skipped = -(uintptr_t)start % ARENA_ALIGNMENT;

    return arena_of(start + skipped, bytes > skipped ? bytes - skipped : 0);
}

void host_print(const char *text)
{
    uint64_t bytes = 0;

    while (text[bytes] != 0)
        bytes++;
    machine_write(text, bytes);
}

uint64_t host_now_ns(void)
{
    return machine_clock_ps() / 1000;
}

void host_iteration_begins(void)
{
    machine_mark(mark_iteration_begins);
}

void host_iteration_ends(void)
{
    machine_mark(mark_iteration_ends);
}

int main(int count, char **values)
{
    if (!arguments_take(count, values)) {
        host_print("usage: NAME|all [PARAMETER=NUMBER ...]\n");
        return exit_usage;
    }
    return arguments_run() ? 0 : 1;
}
