// SPDX-License-Identifier: Apache-2.0
//
// Parameters about a domain's flows, as the tool names them: "out<n>_<key>" of those that begin there,
// "in<n>_<key>" of those that end there.
#ifndef BULKHEAD_GUESTS_FLOW_PARAMS_H
#define BULKHEAD_GUESTS_FLOW_PARAMS_H

#include <stdint.h>

// 0: there is no such parameter.
uint64_t flow_param(const char *kind, uint32_t n, const char *key);

#endif
