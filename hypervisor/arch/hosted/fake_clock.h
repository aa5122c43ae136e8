/* SPDX-License-Identifier: Apache-2.0
 *
 * Time in unit tests: the generic timer's counter goes on when a test says so. Two backends, as of
 * fake_gic.h: fake_clock.c, a number and no timers, and the simulated machine's
 * (tests/hypervisor/machine_board.cpp), whose timers expire on the way.
 */
#ifndef BULKHEAD_FAKE_CLOCK_H
#define BULKHEAD_FAKE_CLOCK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The counter of all cores shows `ticks`, which is not less than before. */
void fake_clock_set(uint64_t ticks);

#ifdef __cplusplus
}
#endif

#endif
