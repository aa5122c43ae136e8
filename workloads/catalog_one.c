// SPDX-License-Identifier: Apache-2.0
//
// The catalog of a program that has one workload: WORKLOAD, which the build names.
#include "workloads/catalog.h"
#include "workloads/driver.h"

const struct workload *const workload_catalog[] = {&WORKLOAD, NULL};
