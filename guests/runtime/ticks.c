// SPDX-License-Identifier: Apache-2.0
//
// Whole seconds and the rest are converted apart, so that no product overflows.
#include "guests/runtime/ticks.h"

#define NS_PER_SECOND 1000000000u

uint64_t ticks_to_ns(uint64_t ticks, uint64_t frequency)
{
    return ticks / frequency * NS_PER_SECOND + ticks % frequency * NS_PER_SECOND / frequency;
}

uint64_t ns_to_ticks(uint64_t ns, uint64_t frequency)
{
    return ns / NS_PER_SECOND * frequency + ns % NS_PER_SECOND * frequency / NS_PER_SECOND;
}
