// SPDX-License-Identifier: Apache-2.0
//
// What a workload is: a named algorithm on an input that it makes itself from a seed, in memory that it is
// given. The driver (driver.h) runs it in each of the three builds. A workload knows no host: it takes memory
// from the arena, parameters from its setup, and calls nothing but what is in this directory and the
// hardware-free parts of the guests' runtime, so that the same source gives the same bits everywhere.
#ifndef BULKHEAD_WORKLOADS_WORKLOAD_H
#define BULKHEAD_WORKLOADS_WORKLOAD_H

#include <stdint.h>

#include "workloads/arena.h"

enum { WORKLOAD_MAX_PARAMETERS = 8 };

struct workload_parameter {
    const char *name; // NULL ends the list
    uint64_t normal;  // realistic
    uint64_t small;   // for tests: milliseconds
    const char *what;
};

// What a run of a workload starts with.
struct workload_setup {
    const struct workload_parameter *parameters;
    uint64_t values[WORKLOAD_MAX_PARAMETERS]; // in the order of the parameters
    uint64_t seed;
    struct arena *arena;
};

struct workload {
    const char *name;
    const char *what;
    const struct workload_parameter *parameters;
    uint64_t iterations; // as many as it does unasked

    // Takes memory and makes the input. NULL: parameters make no sense or the memory is too small.
    void *(*prepare)(const struct workload_setup *setup);

    // Does the work once. Timed.
    void (*iterate)(void *state);

    // Of all that the iterations computed. The same for the same parameters, seed and iterations in each
    // build.
    uint64_t (*checksum)(const void *state);

    // How much of the result is what the maker of the input knows that it must be, in thousandths.
    uint32_t (*correct)(const void *state);
};

// The value of one of the workload's own parameters.
uint64_t workload_value(const struct workload_setup *setup, const char *name);

#endif
