// SPDX-License-Identifier: Apache-2.0
//
// The admission test of flows that managers add (core/broker_admission.h), for which the broker uses only
// time in which it would sleep.
#ifndef BULKHEAD_GUESTS_BROKER_ADMISSION_H
#define BULKHEAD_GUESTS_BROKER_ADMISSION_H

#include <stdbool.h>
#include <stdint.h>

// Whether EL2 has a request that is not answered yet.
bool admission_is_requested(void);

// Called when there is nothing to do until `until` unless an event comes. If there is a request, runs its
// test, serves the domains meanwhile, and answers the request. Returns false if there is no request.
bool admission_work(uint64_t until);

#endif
