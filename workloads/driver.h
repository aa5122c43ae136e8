// SPDX-License-Identifier: Apache-2.0
//
// Runs a workload: parameters, preparation, timed iterations, report. The same in all builds; a host's main
// calls it. Common parameters: `iterations` (0: forever), `warmup` iterations that are not timed, `seed`,
// `small` (1: the defaults are those for tests), `report_every` iterations (0: at the end).
#ifndef BULKHEAD_WORKLOADS_DRIVER_H
#define BULKHEAD_WORKLOADS_DRIVER_H

#include <stdbool.h>

#include "workloads/workload.h"

// The workloads that this program has; ended by NULL. One, or all of them (catalog_*.c).
extern const struct workload *const workload_catalog[];

// NULL: there is none of that name.
const struct workload *workload_find(const char *name);

// False: it could not be prepared; the reason was printed.
bool workload_run(const struct workload *workload);

// Prints name, parameters and what they mean.
void workload_describe(const struct workload *workload);

#endif
