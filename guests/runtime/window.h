// SPDX-License-Identifier: Apache-2.0
//
// The broker's view of other domains' memory, behind BH_BROKER_WINDOW.
#ifndef BULKHEAD_GUESTS_WINDOW_H
#define BULKHEAD_GUESTS_WINDOW_H

#include <stdint.h>

// Copies between physical addresses; the ranges must not overlap.
void window_copy(uint64_t to, uint64_t from, uint64_t bytes);

#endif
