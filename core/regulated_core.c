/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Passes the events that the reservation counted in an interval to the exchange, and the published budgets
 * back to the reservation as limits.
 */
#include "core/regulated_core.h"
#include <stddef.h>

bool regulated_init(struct regulated_core *core, struct budget *budget, struct regulator_exchange *exchange,
                    uint32_t index)
{
    const struct reservation_parameters *parameters = &budget->reservation.parameters;

    if (parameters->kind == RESERVATION_EACH || parameters->grid.length_ticks == 0 ||
        budget->reclaim != NULL || index >= REGULATOR_MAX_CORES) {
        return false;
    }
    *core = (struct regulated_core){.budget = budget, .exchange = exchange, .index = index};
    return true;
}

/* A message is some dozen words long. Its writer is a core with its interrupts masked, so it is soon
 * complete; it brings no interrupt to a core whose budget stays. */
#define TAKE_ATTEMPTS 16u

static bool take(const struct regulated_core *core, struct regulator_message *message)
{
    for (uint32_t i = 0; i < TAKE_ATTEMPTS; i++) {
        if (regulator_exchange_take(core->exchange, message)) {
            return true;
        }
    }
    return false;
}

/* Takes the message with new budgets, unless the period's deadline has passed: in that case the timer
 * interrupt takes it. Returns true if the core has the grid of the last message. */
static bool take_message(struct regulated_core *core, uint64_t now_ticks)
{
    struct reservation *reservation = &core->budget->reservation;
    uint64_t count = regulator_exchange_count(core->exchange);
    struct regulator_message message;

    if (count == core->seen) {
        return true;
    }
    if (now_ticks >= budget_deadline(core->budget) || !take(core, &message)) {
        return false;
    }
    /* Also for a message of another interval: this core has left the others' grid if it missed a change of
     * the interval. */
    (void)reservation_set_grid(reservation, &message.grid, now_ticks);
    /* A message of an earlier interval has the budget that is still in force: only a change is sent. This
     * core usually has it, but not if the interrupt came after its deadline. */
    if (message.number > reservation->period.number) {
        return true; /* its budgets are taken when its interval begins here */
    }
    if (message.budgets[core->index] != reservation->parameters.limit_events[0]) {
        uint64_t limits[RESERVATION_COUNTERS] = {message.budgets[core->index], 0};

        (void)reservation_set_limits_now(reservation, limits, now_ticks);
    }
    core->seen = count;
    return true;
}

void regulated_join(struct regulated_core *core)
{
    core->joins = true;
}

/* Called by the last core of an interval, which will publish the grid from its own period on. It has not seen
 * a change of the interval yet if its budget stayed in the interval before. */
static void collect(struct regulated_core *core, uint64_t now_ticks, uint64_t number,
                    struct regulator_sample *sample)
{
    (void)take_message(core, now_ticks);
    regulator_exchange_collect(core->exchange, number, sample);
}

/* True if the budget of the period was spent, also if nothing has stopped the core yet. */
static bool was_throttled(const struct reservation *reservation)
{
    return reservation->spent || reservation_has_nothing_left(reservation);
}

bool regulated_timer(struct regulated_core *core, uint64_t now_ticks,
                     const uint64_t readings[RESERVATION_COUNTERS], struct regulator_sample *sample)
{
    struct reservation *reservation = &core->budget->reservation;
    uint64_t used_events;
    uint64_t number;
    bool throttled;

    budget_save(core->budget, readings);
    used_events = reservation->used_events[0];
    throttled = was_throttled(reservation);
    if (budget_recharge(core->budget, now_ticks) == 0) {
        return false;
    }
    number = reservation->period.number - 1; /* the period that ended last */
    if (!regulator_exchange_post(core->exchange, core->index, number, used_events, throttled)) {
        return false;
    }
    collect(core, now_ticks, number, sample);
    return true;
}

bool regulated_leave(struct regulated_core *core, uint64_t now_ticks, struct regulator_sample *sample)
{
    const struct reservation *reservation = &core->budget->reservation;
    uint64_t number;

    if (core->joins) { /* its intervals have numbers of its own */
        core->joins = false;
        return false;
    }
    regulator_exchange_note(core->exchange, core->index, reservation->period.number,
                            reservation->used_events[0], was_throttled(reservation));
    if (!regulator_exchange_leave(core->exchange, core->index, &number)) {
        return false;
    }
    (void)budget_recharge(core->budget, now_ticks);
    collect(core, now_ticks, number, sample);
    return true;
}

uint32_t regulated_step(struct regulated_core *core, struct regulator *regulator,
                        const struct regulator_sample *sample)
{
    const struct period *period = &core->budget->reservation.period;
    struct regulator_message message;

    (void)regulator_step(regulator, sample);
    message.number = period->number;
    message.grid.number = period->number + 1;
    message.grid.start_ticks = period->end_ticks;
    message.grid.length_ticks = regulator->parameters.interval_ticks;
    for (uint32_t i = 0; i < REGULATOR_MAX_CORES; i++) {
        message.budgets[i] = regulator->budgets[i];
    }
    return regulator_exchange_publish(core->exchange, &message);
}

struct budget_action regulated_load(struct regulated_core *core, uint64_t now_ticks)
{
    bool has_grid = take_message(core, now_ticks);

    if (core->joins && has_grid) {
        core->joins = false;
        regulator_exchange_join(core->exchange, core->index);
    }
    return budget_load(core->budget, now_ticks);
}
