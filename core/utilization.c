/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Fractions without floating point: both numbers are shifted right until their product fits in 64 bits.
 */
#include "core/utilization.h"

#define WHOLE_LIMIT (1ull << 46)
#define TICKS_LIMIT (1ull << 24)

uint32_t utilization_fraction(uint64_t part, uint64_t whole)
{
    uint64_t fraction;

    while (whole >= WHOLE_LIMIT) {
        whole >>= 1;
        part >>= 1;
    }
    if (part / 2 >= whole) {
        return UTILIZATION_MAX;
    }
    fraction = (part * UTILIZATION_ONE + whole / 2) / whole;
    return fraction < UTILIZATION_MAX ? (uint32_t)fraction : UTILIZATION_MAX;
}

bool utilization_measure(struct utilization_meter *meter, uint64_t busy_reading, uint64_t cycles_reading,
                         uint32_t *utilization)
{
    uint64_t busy = event_counter_advance(&meter->busy, busy_reading);
    uint64_t cycles = event_counter_advance(&meter->cycles, cycles_reading);
    uint32_t fraction;

    if (!meter->started || cycles == 0) {
        meter->started = true;
        return false;
    }
    fraction = utilization_fraction(busy, cycles);
    /* The two counters are not read at the same moment, so the fraction can exceed one. */
    *utilization = fraction < UTILIZATION_ONE ? fraction : UTILIZATION_ONE;
    return true;
}

static uint64_t at_most(uint64_t value, uint64_t limit)
{
    return value < limit ? value : limit;
}

bool utilization_of_traffic(uint64_t traffic_events, uint64_t elapsed_ticks, uint64_t threshold_events,
                            uint64_t interval_ticks, uint32_t *fraction)
{
    uint64_t traffic = at_most(traffic_events, TRAFFIC_MAX_EVENTS);
    uint64_t threshold = at_most(threshold_events, TRAFFIC_MAX_EVENTS);

    while (elapsed_ticks >= TICKS_LIMIT || interval_ticks >= TICKS_LIMIT) {
        elapsed_ticks >>= 1;
        interval_ticks >>= 1;
    }
    if (elapsed_ticks == 0) {
        return false;
    }
    *fraction = utilization_fraction(traffic * interval_ticks, threshold * elapsed_ticks);
    return true;
}
