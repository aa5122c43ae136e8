/* SPDX-License-Identifier: Apache-2.0
 *
 * Alarms that few cores have, and seldom. They share one entry of a core's clock (CLOCK_ALARM_RARE), so that
 * those of budgets take no longer. Each core has its own.
 */
#ifndef BULKHEAD_RARE_ALARM_H
#define BULKHEAD_RARE_ALARM_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum rare_alarm {
    RARE_ALARM_RUN_LIMIT, /* of the console core */
    RARE_ALARM_MONITORS,  /* a read of an MPAM monitor: of the console core */
    RARE_ALARM_EARLY,     /* an interrupt that came too early (vgic/vgic_early.c) */
    RARE_ALARM_COUNT,
};

/* Sets this core's alarm to counter value `deadline`; 0 cancels it. */
void rare_alarm_set(enum rare_alarm alarm, uint64_t deadline);

/* When CLOCK_ALARM_RARE is due: cancels this core's that are due and returns them (1 << rare_alarm). */
uint32_t rare_alarm_take(void);

#ifdef __cplusplus
}
#endif

#endif
