/* SPDX-License-Identifier: Apache-2.0
 *
 * The Cortex-A9 MPCore's own devices (DDI 0407I): interrupt controller and private timer, for the tick.
 */
#ifndef BULKHEAD_MICROKERNEL_ARMV7A_MPCORE_H
#define BULKHEAD_MICROKERNEL_ARMV7A_MPCORE_H

#include <stdbool.h>
#include <stdint.h>

/* Starts the global timer. */
void mpcore_start_time(void);

/* Enables the timer's interrupt; the timer does not run yet. */
void mpcore_start(void);

/* Acknowledges the pending interrupt; returns whether it was the timer's. */
bool mpcore_timer_has_ticked(void);

#endif
