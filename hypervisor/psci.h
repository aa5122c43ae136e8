/* SPDX-License-Identifier: Apache-2.0
 *
 * PSCI (DEN0022) for guests: power of their own VCPUs and of their own domain, never of the machine.
 */
#ifndef BULKHEAD_PSCI_H
#define BULKHEAD_PSCI_H

#include "vcpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A call with the SMC calling convention: function in x[0], arguments in x[1..3], result in x[0]. Calls that
 * end or stop the VCPU return too; the end of the exit path notices. Unknown functions get "not supported".
 */
void psci_call(struct vcpu *vcpu, uint64_t x[31]);

#ifdef __cplusplus
}
#endif

#endif
