// SPDX-License-Identifier: Apache-2.0
//
// The virtual timer of the calling VCPU and the virtual counter. Times are counter ticks unless the name
// says nanoseconds.
#ifndef BULKHEAD_GUESTS_TIMER_H
#define BULKHEAD_GUESTS_TIMER_H

#include <stdint.h>

// How long a program waits for a device before it says that the device does not answer. A pause of an
// emulator's host passes in the guest's time, and the host answers for the device: so this is long.
enum { device_patience_s = 30 };

uint64_t timer_now(void);

// Ticks in a second, never 0.
uint64_t timer_frequency(void);

// Requests the timer's interrupt from the moment when the counter reaches `deadline` (at once if it has).
void timer_set(uint64_t deadline);

// Sleeps until the counter has reached `deadline`. Interrupts must be masked before and are masked after the
// call, and are taken during it; the timer's interrupt must be enabled, and program_interrupt() must call
// timer_stop() for it.
void timer_sleep_until(uint64_t deadline);

// Cancels the request.
void timer_stop(void);

#endif
