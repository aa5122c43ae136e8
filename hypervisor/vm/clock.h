/* SPDX-License-Identifier: Apache-2.0
 *
 * Time: the system counter, which is the same on all cores, and EL2's own timer (CNTHP).
 */
#ifndef BULKHEAD_CLOCK_H
#define BULKHEAD_CLOCK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cpu;

uint64_t clock_now(void); /* counter value */
uint32_t clock_hz(void);

/* Sets the time from which clock_since_start_us() counts; before that call it returns 0. */
void clock_set_start(uint64_t counter);
uint64_t clock_since_start_us(void);

/* Converts a duration to counter ticks, rounded up. */
uint64_t clock_ticks(uint64_t duration_ns);

/* The same, rounded down. */
uint64_t clock_whole_ticks(uint64_t duration_ns);

/* The purposes of a core's timer. Each further purpose makes the handling of every alarm longer. */
enum clock_alarm {
    CLOCK_ALARM_RARE,    /* shared by several rare alarms (vm/rare_alarm.h) */
    CLOCK_ALARM_CONSOLE, /* the console; on the console core only */
    CLOCK_ALARM_PERIOD,  /* end of the period of the VCPU's budget */
    CLOCK_ALARM_COUNT,
};

/* Lets this core take its timer interrupt. Called once for each core, before its first alarm. */
void clock_enable_alarms(const struct cpu *cpu);

/* Requests this core's timer interrupt when the counter reaches `deadline`; 0 cancels the alarm. */
void clock_set_alarm(enum clock_alarm alarm, uint64_t deadline);

/* Called when the timer's interrupt has arrived. Cancels this core's alarms that are due and returns them (1
 * << clock_alarm). */
uint32_t clock_take_alarms(void);

#ifdef __cplusplus
}
#endif

#endif
