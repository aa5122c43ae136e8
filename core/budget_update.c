/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * A new setting begins where a period of the previous one ends, and continues its numbering.
 */
#include "core/budget_update.h"
#include <stddef.h>

void budget_update_init(struct budget_update *update, const struct budget_setting *first)
{
    update->held = *first;
    update->staged = *first;
}

const struct budget_setting *budget_update_current(struct budget_update *update, uint64_t now_ticks)
{
    if (now_ticks >= update->staged.grid.start_ticks) {
        update->held = update->staged;
    }
    return &update->held;
}

const struct budget_setting *budget_update_latest(const struct budget_update *update)
{
    return &update->staged;
}

/* The first period of the grid that begins at or after `ticks`. */
static struct period_grid next_period(const struct period_grid *grid, uint64_t ticks)
{
    struct period_grid next = *grid;
    uint64_t periods;

    if (ticks > grid->start_ticks) {
        periods = (ticks - grid->start_ticks - 1) / grid->length_ticks + 1;
        next.number += periods;
        next.start_ticks += periods * grid->length_ticks;
    }
    return next;
}

uint64_t budget_update_request(struct budget_update *update, uint64_t now_ticks, uint64_t notice_ticks,
                               uint64_t events, uint64_t chunk_events, uint64_t length_ticks)
{
    const struct budget_setting *held = budget_update_current(update, now_ticks);
    struct period_grid grid;

    if (events > EVENT_POOL_MAX_EVENTS || !period_length_is_valid(length_ticks) ||
        held->grid.length_ticks == 0) {
        return 0;
    }
    grid = next_period(&held->grid, now_ticks + notice_ticks);
    grid.length_ticks = length_ticks;
    update->staged = (struct budget_setting){
        .sequence = update->staged.sequence + 1,
        .events = events,
        .chunk_events = chunk_events,
        .grid = grid,
    };
    return grid.start_ticks;
}

void budget_apply(struct budget *budget, const struct budget_setting *setting, uint64_t now_ticks)
{
    const uint64_t limits[RESERVATION_COUNTERS] = {setting->events, 0};

    if (setting->chunk_events != 0 && budget->reclaim != NULL) {
        event_pool_set_base(budget->reclaim->pool, setting->events);
        budget->reclaim->chunk_events = setting->chunk_events;
    } else {
        (void)budget_set_limits(budget, limits); /* cannot fail: the request was checked */
    }
    if (budget->reservation.started) {
        (void)budget_recharge(budget, now_ticks);
    } else if (budget->reservation.begun) { /* a recharge that counts no periods while it was stopped */
        budget_start(budget, now_ticks);
        budget_stop(budget, now_ticks);
    }
    (void)reservation_set_grid(&budget->reservation, &setting->grid, now_ticks);
}
