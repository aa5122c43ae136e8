// SPDX-License-Identifier: Apache-2.0
//
// Steps between the first instructions (arch/aarch64/start.S) and the program.
#ifndef BULKHEAD_GUESTS_START_H
#define BULKHEAD_GUESTS_START_H

#include <stdint.h>
#include <stdnoreturn.h>

// Called on the first VCPU, with a stack and zeroed bss, MMU off. `device_tree` may be NULL; `counter`: the
// generic timer's counter at the guest's first instruction.
noreturn void start_first(const void *device_tree, uint64_t counter);

// The counter at the guest's first instruction.
uint64_t start_counter(void);

// Called on the other VCPUs, MMU on.
noreturn void start_secondary(uint32_t cpu);

// Entry point for CPU_ON: MMU off, x0 = index.
void start_secondary_entry(void);

#endif
