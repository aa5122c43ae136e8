/* SPDX-License-Identifier: Apache-2.0
 *
 * What the console core does for all domains at a time: they share one alarm of its timer, so that the alarms
 * of guests take no longer. On the console core alone.
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
    MACHINE_ALARM_MONITORS, /* of MPAM's components */
    MACHINE_ALARM_COUNT,
};

/* At counter value `deadline`; 0: no more. */
void machine_alarm_set(enum machine_alarm alarm, uint64_t deadline);

/* CLOCK_ALARM_MACHINE: which are due (1 << machine_alarm). They are off from now on. */
uint32_t machine_alarm_take(void);

#ifdef __cplusplus
}
#endif

#endif
