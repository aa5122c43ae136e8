// SPDX-License-Identifier: Apache-2.0
//
// Displaces what others, and the hypervisor, have in the caches, and keeps the memory busy: writes to a
// buffer line by line, a step at a time, between whatever else the program does.
#ifndef BULKHEAD_GUESTS_DISPLACER_H
#define BULKHEAD_GUESTS_DISPLACER_H

#include <stdbool.h>
#include <stdint.h>

#include "guests/runtime/memory.h"

struct displacer {
    struct memory_area buffer; // whole steps; empty: nothing is written
    uint64_t line_bytes;
    uint64_t at; // bytes from the start of the buffer
};

// Takes the buffer from the start of `arena`, which gets smaller. Returns false if it is too small.
bool displacer_init(struct displacer *displacer, struct memory_area *arena, uint64_t bytes);

// Writes to the next lines, of 4 KiB.
void displacer_step(struct displacer *displacer);

// Writes to all lines once.
void displacer_pass(struct displacer *displacer);

#endif
