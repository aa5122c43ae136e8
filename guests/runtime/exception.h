// SPDX-License-Identifier: Apache-2.0
//
// Handling of exceptions: interrupts and all other exceptions are passed to the program; if the program does
// not handle one, the guest ends with a dump of its registers. Called by vectors.S only.
#ifndef BULKHEAD_GUESTS_EXCEPTION_H
#define BULKHEAD_GUESTS_EXCEPTION_H

#include <stdint.h>

// Layout as vectors.S stores it.
struct exception_frame {
    uint64_t x[31];
    uint64_t sp;
    uint64_t elr;
    uint64_t spsr;
    uint64_t reserved[2];
};
_Static_assert(sizeof(struct exception_frame) == 288, "FRAME_BYTES in vectors.S");

void exception_entry(struct exception_frame *frame, uint64_t vector);

#endif
