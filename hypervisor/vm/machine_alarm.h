/* SPDX-License-Identifier: Apache-2.0
 *
 * Alarms of the console core's work for the whole machine. They share one entry of its clock
 * (CLOCK_ALARM_MACHINE), so that guests' alarms take no longer. Called on the console core only.
 */
#ifndef BULKHEAD_MACHINE_ALARM_H
#define BULKHEAD_MACHINE_ALARM_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum machine_alarm {
    MACHINE_ALARM_RUN_LIMIT,
    MACHINE_ALARM_MONITORS, /* a read of an MPAM monitor */
    MACHINE_ALARM_COUNT,
};

/* Sets the alarm to counter value `deadline`; 0 cancels it. */
void machine_alarm_set(enum machine_alarm alarm, uint64_t deadline);

/* When CLOCK_ALARM_MACHINE is due: cancels the alarms that are due and returns them (1 << machine_alarm). */
uint32_t machine_alarm_take(void);

#ifdef __cplusplus
}
#endif

#endif
