// SPDX-License-Identifier: Apache-2.0
//
// Time of a call into the hypervisor and back (F5, hypervisor_call), of a call that it does not serve.
#ifndef BULKHEAD_GUESTS_CALL_TIMES_H
#define BULKHEAD_GUESTS_CALL_TIMES_H

#include <stdint.h>

#include "guests/runtime/displacer.h"

enum { CALL_TIMES_MOST = 10000 };

// In ticks of the counter.
struct call_times {
    uint64_t count, min, avg, max, median;
};

// Makes so many calls, `rest` ticks apart. Each rest begins with a pass of `displacer` and, if that writes,
// with 64 KiB of code: both drive what the hypervisor needs out of this core's caches, and in the rest other
// cores can drive it out of the shared one.
struct call_times call_times_measure(uint64_t times, uint64_t rest, struct displacer *displacer);

#endif
