/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * How loaded the memory is, as a fraction (B5, B6): busy cycles of the memory controller's own counters, or
 * traffic against a threshold. Called by whoever samples for the regulator.
 */
#ifndef BULKHEAD_CORE_UTILIZATION_H
#define BULKHEAD_CORE_UTILIZATION_H

#include "core/event_counter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fractions are in 1/65536, and at most two: what is beyond makes no difference. */
#define UTILIZATION_ONE 65536u
#define UTILIZATION_MAX 131072u

#define TRAFFIC_MAX_EVENTS ((1ull << 38) - 1)

/* part / whole, rounded to nearest, at most UTILIZATION_MAX; that also if whole is 0. Numbers that need more
 * than 46 bits lose their lowest. */
uint32_t utilization_fraction(uint64_t part, uint64_t whole);

/* Two counters of a memory controller, free running: busy cycles and all cycles. Starts as {{bits, 0}, {bits,
 * 0}, false}; must be read before one of them has wrapped twice. */
struct utilization_meter {
    struct event_counter busy;
    struct event_counter cycles;
    bool started;
};

/* U since the last call. False, and nothing stored, at the first call and if no cycle has passed. */
bool utilization_measure(struct utilization_meter *meter, uint64_t busy_reading, uint64_t cycles_reading,
                         uint32_t *utilization);

/* Traffic of `elapsed_ticks` as a fraction of a threshold for `interval_ticks`. Event counts above
 * TRAFFIC_MAX_EVENTS are taken for that. False if no time has passed that can be told from none. */
bool utilization_of_traffic(uint64_t traffic_events, uint64_t elapsed_ticks, uint64_t threshold_events,
                            uint64_t interval_ticks, uint32_t *fraction);

#ifdef __cplusplus
}
#endif

#endif
