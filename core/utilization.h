/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The load of the memory as a fraction (B5, B6): busy cycles from the counters of the memory controller, or
 * traffic relative to a threshold. Called by the code that takes samples for the regulator.
 */
#ifndef BULKHEAD_CORE_UTILIZATION_H
#define BULKHEAD_CORE_UTILIZATION_H

#include "core/event_counter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fractions are in 1/65536 and at most 2: larger values would make no difference. */
#define UTILIZATION_ONE 65536u
#define UTILIZATION_MAX 131072u

#define TRAFFIC_MAX_EVENTS ((1ull << 38) - 1)

/* part / whole, rounded to nearest, at most UTILIZATION_MAX; UTILIZATION_MAX also if whole is 0. The lowest
 * bits of numbers of more than 46 bits are dropped. */
uint32_t utilization_fraction(uint64_t part, uint64_t whole);

/* Two free-running counters of a memory controller: busy cycles and all cycles. Starts as {{bits, 0}, {bits,
 * 0}, false}; must be measured before one of them has wrapped twice. */
struct utilization_meter {
    struct event_counter busy;
    struct event_counter cycles;
    bool started;
};

/* Computes U since the last call. Returns false and stores nothing at the first call or if no cycle has
 * passed. */
bool utilization_measure(struct utilization_meter *meter, uint64_t busy_reading, uint64_t cycles_reading,
                         uint32_t *utilization);

/* The traffic of `elapsed_ticks` as a fraction of a threshold that is for `interval_ticks`. Event counts
 * above TRAFFIC_MAX_EVENTS are taken as TRAFFIC_MAX_EVENTS. Returns false if the elapsed time is 0 or too
 * short to be told from 0. */
bool utilization_of_traffic(uint64_t traffic_events, uint64_t elapsed_ticks, uint64_t threshold_events,
                            uint64_t interval_ticks, uint32_t *fraction);

#ifdef __cplusplus
}
#endif

#endif
