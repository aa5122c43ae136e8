// SPDX-License-Identifier: Apache-2.0
//
// Conversion between ticks of the generic timer's counter and nanoseconds. Programs use it for their reports
// and periods; it knows no hardware.
#ifndef BULKHEAD_GUESTS_TICKS_H
#define BULKHEAD_GUESTS_TICKS_H

#include <stdint.h>

// Converts `ticks` at `frequency` ticks a second, rounded down. Exact if the result fits, for any frequency
// up to 18 GHz (not 0).
uint64_t ticks_to_ns(uint64_t ticks, uint64_t frequency);

// The reverse, rounded down, with the same limits.
uint64_t ns_to_ticks(uint64_t ns, uint64_t frequency);

#endif
