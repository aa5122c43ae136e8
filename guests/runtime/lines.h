// SPDX-License-Identifier: Apache-2.0
//
// Walks over memory by cache lines: the load that the programs put on the memory system. Each step
// accesses the first word of a line, in address order; the compiler may not drop any.
#ifndef BULKHEAD_GUESTS_LINES_H
#define BULKHEAD_GUESTS_LINES_H

#include <stdint.h>

// Size of a data-cache line, according to the processor.
uint64_t lines_bytes(void);

// Reads, increments and writes one word in each line of [start, end); both are line-aligned.
void lines_touch(uint64_t start, uint64_t end, uint64_t line_bytes);

// Writes one word in each line of [start, end), without reading it first: a core has more such accesses in
// flight, so that it delays others more.
void lines_write(uint64_t start, uint64_t end, uint64_t line_bytes);

#endif
