/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of a guest to the board's firmware.
 */
#ifndef BULKHEAD_TRAP_FIRMWARE_H
#define BULKHEAD_TRAP_FIRMWARE_H

#include "vm/vcpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of a call that nobody else answers: makes it, as x[0 .. 7] have it, if it came by SMC and the domain may
 * make it, with the answer in x[0 .. 3]. False: it may not, and nothing was done. */
bool firmware_call(const struct vcpu *vcpu, uint64_t x[31]);

#ifdef __cplusplus
}
#endif

#endif
