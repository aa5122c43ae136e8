// SPDX-License-Identifier: Apache-2.0
//
// Prints `bulkhead: ready` when the input is made, and `report {json}` lines: the last one counts.
#include "workloads/driver.h"

#include "guests/runtime/format.h"
#include "guests/runtime/stats.h"
#include "workloads/host.h"
#include "workloads/text.h"

enum { line_bytes = 400 };

struct run {
    const struct workload *workload;
    struct arena arena;
    struct workload_setup setup;
    void *state;
    uint64_t prepare_ns;
    struct stats times;
};

const struct workload *workload_find(const char *name)
{
    for (int i = 0; workload_catalog[i] != NULL; i++) {
        if (text_same(workload_catalog[i]->name, name))
            return workload_catalog[i];
    }
    return NULL;
}

static void set_up(struct run *run)
{
    const struct workload_parameter *parameters = run->workload->parameters;
    bool small = host_parameter("small", 0) != 0;

    run->arena = host_memory();
    run->setup.parameters = parameters;
    run->setup.arena = &run->arena;
    run->setup.seed = host_parameter("seed", 1);
    for (int i = 0; i < WORKLOAD_MAX_PARAMETERS && parameters[i].name != NULL; i++) {
        uint64_t fallback = small ? parameters[i].small : parameters[i].normal;
        run->setup.values[i] = host_parameter(parameters[i].name, fallback);
    }
}

static void report(const struct run *run)
{
    char buffer[line_bytes];
    struct text text;

    text_start(&text, buffer, sizeof(buffer));
    text_append(&text, "report {\"workload\": \"%s\", \"iterations\": %lu, \"checksum\": \"%016lx\", ",
                run->workload->name, (unsigned long)run->times.count,
                (unsigned long)run->workload->checksum(run->state));
    text_append(&text,
                "\"correct_permille\": %u, \"memory_bytes\": %lu, \"prepare_ns\": %lu, \"iteration_ns\": ",
                (unsigned)run->workload->correct(run->state), (unsigned long)run->arena.used,
                (unsigned long)run->prepare_ns);
    stats_append_summary(&run->times, &text);
    text_append(&text, "}\n");
    host_print(buffer);
}

static void iterate(struct run *run)
{
    uint64_t start = host_now_ns();

    host_iteration_begins();
    run->workload->iterate(run->state);
    host_iteration_ends();
    stats_add(&run->times, host_now_ns() - start);
}

bool workload_run(const struct workload *workload)
{
    struct run run = {.workload = workload};
    uint64_t warmup = host_parameter("warmup", 0);
    uint64_t iterations = host_parameter("iterations", workload->iterations);
    uint64_t report_every = host_parameter("report_every", 0);

    set_up(&run);
    uint64_t start = host_now_ns();
    run.state = workload->prepare(&run.setup);
    run.prepare_ns = host_now_ns() - start;
    if (run.state == NULL) {
        host_print(workload->name);
        host_print(run.arena.exhausted ? ": too little memory for these parameters\n"
                                       : ": these parameters make no sense\n");
        return false;
    }
    host_print("bulkhead: ready\n");
    for (uint64_t i = 0; i < warmup; i++)
        workload->iterate(run.state);
    for (uint64_t i = 1; iterations == 0 || i <= iterations; i++) {
        iterate(&run);
        if (report_every != 0 && i % report_every == 0 && i != iterations)
            report(&run);
    }
    report(&run);
    return true;
}

void workload_describe(const struct workload *workload)
{
    char buffer[line_bytes];
    struct text text;

    text_start(&text, buffer, sizeof(buffer));
    text_append(&text, "%-18s %s\n", workload->name, workload->what);
    for (int i = 0; i < WORKLOAD_MAX_PARAMETERS && workload->parameters[i].name != NULL; i++) {
        const struct workload_parameter *parameter = &workload->parameters[i];
        text_append(&text, "    %-14s %s (%lu)\n", parameter->name, parameter->what,
                    (unsigned long)parameter->normal);
    }
    host_print(buffer);
}
