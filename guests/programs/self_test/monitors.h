// SPDX-License-Identifier: Apache-2.0
//
// One event counter of the calling VCPU. Each access of it is an exit to the hypervisor; the counting costs
// nothing.
#ifndef BULKHEAD_GUESTS_SELF_TEST_MONITORS_H
#define BULKHEAD_GUESTS_SELF_TEST_MONITORS_H

#include <stdbool.h>
#include <stdint.h>

// Whether the domain has performance monitors (`pmu: true`).
bool monitors_present(void);

// Begins to count an event.
void monitors_start(uint32_t event);

// Events so far, modulo 2^32.
uint64_t monitors_count(void);

#endif
