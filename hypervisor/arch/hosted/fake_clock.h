/* SPDX-License-Identifier: Apache-2.0
 *
 * Time in unit tests: the generic timer's counter advances only when a test says so. There are two backends,
 * as for fake_gic.h: fake_clock.c, a plain number without timers, and the simulated machine
 * (tests/hypervisor/machine_board.cpp), whose timers expire as time advances.
 */
#ifndef BULKHEAD_FAKE_CLOCK_H
#define BULKHEAD_FAKE_CLOCK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sets the counter of all cores to `ticks`, which must not be less than before. */
void fake_clock_set(uint64_t ticks);

#ifdef __cplusplus
}
#endif

#endif
