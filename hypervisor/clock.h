/* SPDX-License-Identifier: Apache-2.0
 *
 * Time: the system counter, and EL2's own timer of each core (CNTHP). The counter is the same on all cores.
 */
#ifndef BULKHEAD_CLOCK_H
#define BULKHEAD_CLOCK_H

#include <stdint.h>

uint64_t clock_now(void); /* counter value */
uint32_t clock_hz(void);

/* Moment from which clock_since_start_us() counts; zero before it was set. */
void clock_set_start(uint64_t counter);
uint64_t clock_since_start_us(void);

/* Counter ticks of a duration, rounded up. */
uint64_t clock_ticks(uint64_t duration_ns);

/* Arms EL2's timer of this core for an absolute counter value. */
void clock_arm(uint64_t deadline);
/* Turns it off, which also withdraws its interrupt. */
void clock_disarm(void);

#endif
