// SPDX-License-Identifier: Apache-2.0
//
// Functions that a program defines and the runtime calls. The linker selects the program; the last three
// functions have defaults (program_default.c) for programs that do not need them.
#ifndef BULKHEAD_GUESTS_PROGRAM_H
#define BULKHEAD_GUESTS_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

struct exception_frame;

// Called on the first VCPU with MMU and caches on, console ready, interrupts masked. Returning powers the
// guest off.
void program_main(void);

// Called on each VCPU that smp_start() started; `cpu` is its index, 1 or more. Returning powers the VCPU off.
void program_secondary(uint32_t cpu);

// Called at each interrupt, between acknowledge and end, with interrupts masked.
void program_interrupt(uint32_t intid);

// Called at any other exception. True: execution continues with `frame`, which may have been changed; false:
// the guest ends.
bool program_exception(struct exception_frame *frame, uint64_t vector);

#endif
