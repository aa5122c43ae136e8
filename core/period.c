/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Period arithmetic. A period that is ended on time needs no division; one is needed only if several periods
 * have passed.
 */
#include "core/period.h"

void period_start(struct period *period, uint64_t now_ticks)
{
    period->number = period->grid.number;
    period->end_ticks = PERIOD_NEVER;
    if (period->grid.length_ticks == 0) {
        return;
    }
    period->end_ticks = period->grid.start_ticks + period->grid.length_ticks;
    (void)period_advance(period, now_ticks);
}

uint64_t period_advance(struct period *period, uint64_t now_ticks)
{
    uint64_t length = period->grid.length_ticks;
    uint64_t ended = 1;

    if (length == 0 || now_ticks < period->end_ticks) {
        return 0;
    }
    if (now_ticks - period->end_ticks >= length) {
        ended += (now_ticks - period->end_ticks) / length;
    }
    period->number += ended;
    period->end_ticks += ended * length;
    return ended;
}

void period_change_grid(struct period *period, const struct period_grid *grid, uint64_t now_ticks)
{
    period->grid = *grid;
    if (now_ticks >= grid->start_ticks) {
        period_start(period, now_ticks);
        return;
    }
    period->number = grid->number - 1;
    period->end_ticks = grid->start_ticks;
}
