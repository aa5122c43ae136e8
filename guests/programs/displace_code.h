// SPDX-License-Identifier: Apache-2.0
//
// Displaces what others, and the hypervisor, have in the core's instruction cache.
#ifndef BULKHEAD_GUESTS_DISPLACE_CODE_H
#define BULKHEAD_GUESTS_DISPLACE_CODE_H

// Executes 64 KiB of instructions once.
void displace_code(void);

#endif
