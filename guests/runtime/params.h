// SPDX-License-Identifier: Apache-2.0
//
// The parameters of this domain from the system file: number properties of the device-tree node `/bulkhead`.
// Programs read them once at their start.
#ifndef BULKHEAD_GUESTS_PARAMS_H
#define BULKHEAD_GUESTS_PARAMS_H

#include <stdint.h>

// The parameter's value, or `fallback` if the device tree does not contain it as one or two cells.
uint64_t param(const char *name, uint64_t fallback);

#endif
