/* SPDX-License-Identifier: Apache-2.0
 *
 * Common part of the applications and patterns of X7: the report line, a clock extended beyond 32 bits, and
 * the adversary in the same component. Each program must call app_poll() often: at least once in a
 * wrap-around of the clock, and as often as the adversary is to act.
 */
#ifndef BULKHEAD_MICROKERNEL_APP_H
#define BULKHEAD_MICROKERNEL_APP_H

#include "microkernel/include/microkernel/parameters.h"
#include <stdint.h>

/* Parameters of each program: period in ns at which the adversary in this component acts, 0: never; whether
 * it also cleans the caches; mask of the ways of the outer cache in which nothing is allocated from the start
 * of the clock on. */
#define APP_PARAMETERS                                                                                       \
    {"disturb_ns", 0}, {"caches", 0},                                                                        \
    {                                                                                                        \
        "lock_ways", 0                                                                                       \
    }

/* Hints to a debugger or simulator (DBG), before and after the measured part. */
#define APP_MARK_BEGIN 1
#define APP_MARK_END   2

/* Prints "NAME: begins", locks ways, starts the clock, and marks the beginning of the measured part. */
void app_begin(const char *name);

/* The same without the mark, for programs that run next to the measured one. */
void app_start(const char *name);

/* Reads the clock and lets the adversary act if its time has come. */
void app_poll(void);

/* Action of the adversary: drops what the hardware has loaded (dynamic regions of this component, or the
 * TLB), and cleans the caches if the parameter says so. */
void app_disturb(void);

/* Marks the end of the measured part, stops the clock and prints the report up to the application's fields:
 * report {"program": NAME, "clocks": N, "clock_hz": N, "refills": N, "disturbed": N. Fields and app_end()
 * follow. */
void app_report(void);
void app_field(const char *name, uint64_t value);
void app_text(const char *name, const char *text);

/* Ends the report, and the system if the component has that right (`controls: [end]`). */
void app_end(void);

/* Reports {"program": NAME, "error": WHAT} and ends as app_end() does, or sleeps for ever. */
_Noreturn void app_fail(const char *what);

/* A number in decimal digits on the console. */
void app_print(uint64_t value);

/* The next number of a reproducible sequence (Numerical Recipes' linear congruential generator). */
static inline uint32_t app_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state;
}

#endif
