/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Periods of one length, numbered on a grid that several cores can share (B1). Deadlines follow from the
 * grid, never from the time of a call, so there is no drift. Times are ticks of a counter that all cores read
 * alike, below PERIOD_MAX_TICKS.
 */
#ifndef BULKHEAD_CORE_PERIOD_H
#define BULKHEAD_CORE_PERIOD_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PERIOD_MAX_TICKS (1ull << 62)
#define PERIOD_NEVER     UINT64_MAX

/* A grid: period `number` begins at `start_ticks`, and each period is `length_ticks` long. Length 0: there
 * are no periods. */
struct period_grid {
    uint64_t number;
    uint64_t start_ticks;
    uint64_t length_ticks;
};

struct period {
    struct period_grid grid;
    uint64_t number;    /* number of the current period */
    uint64_t end_ticks; /* end of the current period, which is the deadline; PERIOD_NEVER without periods */
};

/* Whether a period can have this length. */
static inline bool period_length_is_valid(uint64_t length_ticks)
{
    return length_ticks > 0 && length_ticks <= PERIOD_MAX_TICKS;
}

/* Sets the current period to the one of period->grid that contains `now_ticks`; before the grid's start, to
 * its first period. */
void period_start(struct period *period, uint64_t now_ticks);

/* Advances to the period that contains `now_ticks`. Returns how many periods have ended; 0 before the
 * deadline. */
uint64_t period_advance(struct period *period, uint64_t now_ticks);

/* Replaces the grid, normally by one that begins where a period ends. If the new grid has begun, numbers and
 * deadlines follow it from now on; otherwise the current period ends where it begins. */
void period_change_grid(struct period *period, const struct period_grid *grid, uint64_t now_ticks);

#ifdef __cplusplus
}
#endif

#endif
