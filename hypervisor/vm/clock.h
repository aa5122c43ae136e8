/* SPDX-License-Identifier: Apache-2.0
 *
 * Time: the system counter, and EL2's own timer (CNTHP). The counter is the same on all cores.
 */
#ifndef BULKHEAD_CLOCK_H
#define BULKHEAD_CLOCK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

uint64_t clock_now(void); /* counter value */
uint32_t clock_hz(void);

/* Moment from which clock_since_start_us() counts; zero before it was set. */
void clock_set_start(uint64_t counter);
uint64_t clock_since_start_us(void);

/* Counter ticks of a duration, rounded up. */
uint64_t clock_ticks(uint64_t duration_ns);

/* What a core's timer is for. Each one more makes every alarm longer. */
enum clock_alarm {
    CLOCK_ALARM_RARE,    /* several, which share it (vm/rare_alarm.h) */
    CLOCK_ALARM_CONSOLE, /* the console core's */
    CLOCK_ALARM_PERIOD,  /* of its VCPU's budget */
    CLOCK_ALARM_COUNT,
};

/* Asks for this core's timer's interrupt when the counter reaches `deadline`; 0: no more. */
void clock_set_alarm(enum clock_alarm alarm, uint64_t deadline);

/* The timer's interrupt arrived: returns which alarms of this core are due (1 << clock_alarm). They are off
 * from now on. */
uint32_t clock_take_alarms(void);

#ifdef __cplusplus
}
#endif

#endif
