// SPDX-License-Identifier: Apache-2.0
//
// Between the first instructions (arch/aarch64/start.S) and the program.
#ifndef BULKHEAD_GUESTS_START_H
#define BULKHEAD_GUESTS_START_H

#include <stdint.h>
#include <stdnoreturn.h>

// On the first VCPU, with stack and zeroed bss, MMU off. `device_tree` may be NULL; `counter` is the one of
// the generic timer at the guest's first instruction.
noreturn void start_first(const void *device_tree, uint64_t counter);

// The counter at the guest's first instruction.
uint64_t start_counter(void);

// On the others, MMU on.
noreturn void start_secondary(uint32_t cpu);

// Where CPU_ON lets them enter, MMU off, x0 = index.
void start_secondary_entry(void);

#endif
