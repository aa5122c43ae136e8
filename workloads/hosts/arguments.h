// SPDX-License-Identifier: Apache-2.0
//
// The command line of hosts that have one: NAME|all [PARAMETER=NUMBER ...]. Works without a C library.
#ifndef BULKHEAD_WORKLOADS_ARGUMENTS_H
#define BULKHEAD_WORKLOADS_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

// Whether the arguments are a name in the catalog, or `all`, followed by parameters. `values` must stay
// valid.
bool arguments_take(int count, char **values);

// A parameter's value, or `fallback`.
uint64_t arguments_number(const char *name, uint64_t fallback);

// Runs the workloads that the arguments name. False: some workload could not be prepared.
bool arguments_run(void);

#endif
