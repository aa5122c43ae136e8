// SPDX-License-Identifier: Apache-2.0
//
// Functions that the driver needs from its environment. Each build links one implementation (hosts/): a
// bare-metal guest, a Linux program, or the simulated machine. Workloads themselves never call them.
#ifndef BULKHEAD_WORKLOADS_HOST_H
#define BULKHEAD_WORKLOADS_HOST_H

#include <stdint.h>

#include "workloads/arena.h"

// All the memory that the workload may use.
struct arena host_memory(void);

// The user's value, or `fallback`.
uint64_t host_parameter(const char *name, uint64_t fallback);

void host_print(const char *text);

uint64_t host_now_ns(void);

// Called around each timed iteration. They do as little as possible: the machine records the core's clock;
// tools find them by their symbols.
void host_iteration_begins(void);
void host_iteration_ends(void);

#endif
