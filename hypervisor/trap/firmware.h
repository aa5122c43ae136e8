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

/* Handles a call that EL2 does not answer itself. If the call came by SMC and the domain may make it, passes
 * x[0 .. 7] to firmware and returns the answer in x[0 .. 3]. Otherwise returns false and does nothing. */
bool firmware_call(const struct vcpu *vcpu, uint64_t x[31]);

#ifdef __cplusplus
}
#endif

#endif
