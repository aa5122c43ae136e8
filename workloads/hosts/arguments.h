// SPDX-License-Identifier: Apache-2.0
//
// The command line of hosts that have one: NAME|all [PARAMETER=NUMBER ...]. No C library.
#ifndef BULKHEAD_WORKLOADS_ARGUMENTS_H
#define BULKHEAD_WORKLOADS_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

// Are they a name that the catalog has, or `all`, and numbers of parameters? They stay in use.
bool arguments_take(int count, char **values);

// A parameter's number, or `fallback`.
uint64_t arguments_number(const char *name, uint64_t fallback);

// Runs what they name. False: some workload could not be prepared.
bool arguments_run(void);

#endif
