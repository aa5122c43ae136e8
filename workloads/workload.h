// SPDX-License-Identifier: Apache-2.0
//
// Definition of a workload: a named algorithm on an input that it makes itself from a seed, in memory that it
// is given. The driver (driver.h) runs it in each of the three builds. A workload does not depend on the
// host: it takes memory from the arena and parameters from its setup, and calls only functions of this
// directory and the hardware-free parts of the guests' runtime, so that the same source gives the same bits
// everywhere.
#ifndef BULKHEAD_WORKLOADS_WORKLOAD_H
#define BULKHEAD_WORKLOADS_WORKLOAD_H

#include <stdint.h>

#include "workloads/arena.h"

enum { WORKLOAD_MAX_PARAMETERS = 8 };

struct workload_parameter {
    const char *name; // NULL ends the list
    uint64_t normal;  // realistic value
    uint64_t small;   // value for tests, which take milliseconds
    const char *what;
};

// Input of a run of a workload.
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
    uint64_t iterations; // default number of iterations

    // Allocates memory and makes the input. NULL: the parameters are invalid or the memory is too small.
    void *(*prepare)(const struct workload_setup *setup);

    // Does the work once. This is timed.
    void (*iterate)(void *state);

    // Checksum of everything that the iterations computed. The same in each build for the same parameters,
    // seed and iterations.
    uint64_t (*checksum)(const void *state);

    // Part of the result that agrees with the known properties of the input, in thousandths.
    uint32_t (*correct)(const void *state);
};

// Value of one of the workload's own parameters.
uint64_t workload_value(const struct workload_setup *setup, const char *name);

#endif
