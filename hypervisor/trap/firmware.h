/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of a guest to the board's firmware.
 */
#ifndef BULKHEAD_TRAP_FIRMWARE_H
#define BULKHEAD_TRAP_FIRMWARE_H

#include "vm/domain.h"
#include "vm/vcpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether the VCPU's guest may call anything there. */
static inline bool firmware_may_be_called(const struct vcpu *vcpu)
{
    return vcpu->domain->config->call_count != 0;
}

/* Makes the call in x[0 .. 7] for the guest if its domain may make it, with the answer in x[0 .. 3]. False:
 * it may not, and nothing was done. */
bool firmware_call(const struct vcpu *vcpu, uint64_t x[31]);

#ifdef __cplusplus
}
#endif

#endif
