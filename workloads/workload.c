// SPDX-License-Identifier: Apache-2.0
//
// Lookup by name. A name that the workload does not declare is a mistake in its source, found by the first
// test.
#include "workloads/workload.h"

#include "workloads/text.h"

uint64_t workload_value(const struct workload_setup *setup, const char *name)
{
    for (int i = 0; i < WORKLOAD_MAX_PARAMETERS && setup->parameters[i].name != NULL; i++) {
        if (text_same(setup->parameters[i].name, name))
            return setup->values[i];
    }
    __builtin_trap();
}
