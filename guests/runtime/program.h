// SPDX-License-Identifier: Apache-2.0
//
// What a program defines for the runtime to call. Which program it is, is decided by the linker; the last
// three functions have defaults (program_default.c) for programs that do not need them.
#ifndef BULKHEAD_GUESTS_PROGRAM_H
#define BULKHEAD_GUESTS_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

struct exception_frame;

// On the first VCPU, MMU and caches on, console ready, interrupts masked. Returning powers the guest off.
void program_main(void);

// On each VCPU that smp_start() started; `cpu` is its index, 1 or more. Returning powers the VCPU off.
void program_secondary(uint32_t cpu);

// At each interrupt, between acknowledge and end, interrupts masked.
void program_interrupt(uint32_t intid);

// At any other exception. True: it goes on as `frame` says, which may have been changed; false: it ends here.
bool program_exception(struct exception_frame *frame, uint64_t vector);

#endif
