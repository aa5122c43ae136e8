/* SPDX-License-Identifier: Apache-2.0
 *
 * PSCI (DEN0022) for guests. It controls the power of their own VCPUs and of their own domain, never of the
 * machine.
 */
#ifndef BULKHEAD_PSCI_H
#define BULKHEAD_PSCI_H

#include "vm/vcpu.h"
#include <stdbool.h>

#define PSCI_VERSION     0x84000000u
#define SMCCC_VERSION    0x80000000u
#define PSCI_VERSION_1_1 0x10001u /* version of PSCI and of the SMC calling convention */

#ifdef __cplusplus
extern "C" {
#endif

/* Handles a call with the SMC calling convention: function in x[0], arguments in x[1..3], result in x[0].
 * Calls that end or stop the VCPU return, too; the end of the exit path checks the VCPU's state. Unknown
 * functions return 'not supported'. */
void psci_call(struct vcpu *vcpu, uint64_t x[31]);

/* True for the calls that only ask for a version; the answer to them is PSCI_VERSION_1_1. */
static inline bool psci_is_version(uint64_t function)
{
    return (uint32_t)function == PSCI_VERSION || (uint32_t)function == SMCCC_VERSION;
}

#ifdef __cplusplus
}
#endif

#endif
