// SPDX-License-Identifier: Apache-2.0
//
// Runs a workload: parameters, preparation, timed iterations, report. The same in all builds; a host's main
// calls it. Common parameters: `iterations` (0: endless), `warmup` iterations that are not timed, `seed`,
// `small` (1: use the test values as defaults), `report_every` iterations (0: at the end).
#ifndef BULKHEAD_WORKLOADS_DRIVER_H
#define BULKHEAD_WORKLOADS_DRIVER_H

#include <stdbool.h>

#include "workloads/workload.h"

// The workloads in this program, ended by NULL: one, or all (catalog_*.c).
extern const struct workload *const workload_catalog[];

// NULL: there is no workload of that name.
const struct workload *workload_find(const char *name);

// Returns false if the workload could not be prepared; the reason was printed.
bool workload_run(const struct workload *workload);

// Prints name, parameters and what they mean.
void workload_describe(const struct workload *workload);

#endif
