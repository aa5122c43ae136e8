/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of guests by HVC and SMC. Calls to the hypervisor's own services are answered here; all others are
 * passed to PSCI. The trap handlers call this; call numbers and answers are in schema/manifest.yaml.
 */
#ifndef BULKHEAD_HYPERCALL_H
#define BULKHEAD_HYPERCALL_H

#include "trap/psci.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bits 29 to 24 of a function number: its owner (DEN0028). 6 is the owner of vendor-specific hypervisor
 * services. */
#define HYPERCALL_OWNER_MASK       0x3F000000u
#define HYPERCALL_OWNER_HYPERVISOR 0x06000000u

/* Handles a call to the hypervisor's own services. Uses x[0] to x[17] at most. This is the only place where
 * these values of the guest are checked. */
void hypercall_service(struct vcpu *vcpu, uint64_t x[31]);

static inline void hypercall(struct vcpu *vcpu, uint64_t x[31])
{
    if (((uint32_t)x[0] & HYPERCALL_OWNER_MASK) == HYPERCALL_OWNER_HYPERVISOR) {
        hypercall_service(vcpu, x);
    } else {
        psci_call(vcpu, x);
    }
}

#ifdef __cplusplus
}
#endif

#endif
