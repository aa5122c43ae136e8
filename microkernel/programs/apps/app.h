/* SPDX-License-Identifier: Apache-2.0
 *
 * What the applications and patterns of X7 have in common: the line with which they report, the clock over
 * more than its 32 bits, and the adversary in the same component. Each calls app_poll() often: at least once
 * in a period of the clock, and as often as the adversary is to act.
 */
#ifndef BULKHEAD_MICROKERNEL_APP_H
#define BULKHEAD_MICROKERNEL_APP_H

#include "microkernel/include/microkernel/parameters.h"
#include <stdint.h>

/* Parameters of each: the adversary in this component acts every so many nanoseconds, 0: never; and whether
 * it cleans the caches, too. Ways of the outer cache in which nothing is allocated from the start of the
 * clock on, one bit each. */
#define APP_PARAMETERS                                                                                       \
    {"disturb_ns", 0}, {"caches", 0},                                                                        \
    {                                                                                                        \
        "lock_ways", 0                                                                                       \
    }

/* Hints to whoever looks on (DBG), around what is measured. */
#define APP_MARK_BEGIN 1
#define APP_MARK_END   2

/* Prints "NAME: begins", locks ways, starts the clock, and marks the beginning of what is measured. */
void app_begin(const char *name);

/* The same without the mark: for who is beside what is measured. */
void app_start(const char *name);

/* Reads the clock and, when the adversary's time has come, lets it act. */
void app_poll(void);

/* What an adversary does: empties what the hardware has loaded, dynamic regions of this component or the TLB,
 * and the caches where the parameter says so. */
void app_disturb(void);

/* Marks the end of what is measured, stops the clock and prints the report up to the fields of the
 * application: report {"program": NAME, "clocks": N, "clock_hz": N, "refills": N, "disturbed": N. Then each
 * field, then the end. */
void app_report(void);
void app_field(const char *name, uint64_t value);
void app_text(const char *name, const char *text);

/* Ends the report, and the system if the component may do that (`controls: [end]`). */
void app_end(void);

/* Reports {"program": NAME, "error": WHAT}, ends as app_end() does, or sleeps for ever.
 */
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
