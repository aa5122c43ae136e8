/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Checks the parameters of a reservation, which come from a manifest or a hypercall.
 */
#include "core/reservation.h"

static bool limit_is_valid(uint64_t events)
{
    return events <= RESERVATION_MAX_EVENTS || events == RESERVATION_UNLIMITED;
}

static bool limits_are_valid(enum reservation_kind kind, const uint64_t events[RESERVATION_COUNTERS])
{
    return limit_is_valid(events[0]) && limit_is_valid(events[1]) &&
           (kind == RESERVATION_EACH || events[1] == 0);
}

static bool nothing_is_limited(const struct reservation_parameters *parameters)
{
    return parameters->limit_events[0] == RESERVATION_UNLIMITED &&
           (parameters->kind != RESERVATION_EACH || parameters->limit_events[1] == RESERVATION_UNLIMITED);
}

enum reservation_error reservation_check(const struct reservation_parameters *parameters)
{
    if ((uint32_t)parameters->kind >= RESERVATION_KIND_COUNT) {
        return RESERVATION_ERROR_KIND;
    }
    if (parameters->counter_bits < EVENT_COUNTER_MIN_BITS ||
        parameters->counter_bits > EVENT_COUNTER_MAX_BITS) {
        return RESERVATION_ERROR_COUNTER;
    }
    if (!limits_are_valid(parameters->kind, parameters->limit_events)) {
        return RESERVATION_ERROR_LIMIT;
    }
    if (parameters->slack_events != 0 &&
        (parameters->kind != RESERVATION_SUM || parameters->slack_events > RESERVATION_MAX_EVENTS)) {
        return RESERVATION_ERROR_SLACK;
    }
    if (parameters->grid.start_ticks > PERIOD_MAX_TICKS) {
        return RESERVATION_ERROR_PERIOD;
    }
    if (parameters->grid.length_ticks == 0) {
        return nothing_is_limited(parameters) ? RESERVATION_ERROR_NONE : RESERVATION_ERROR_PERIOD;
    }
    return period_length_is_valid(parameters->grid.length_ticks) ? RESERVATION_ERROR_NONE
                                                                 : RESERVATION_ERROR_PERIOD;
}
