/* SPDX-License-Identifier: Apache-2.0
 *
 * Resets of devices that are no PCI functions, by the reset registers of the chip that the manifest names: so
 * that no device goes on with what a boot loader, or the previous life of its domain, has left it.
 */
#ifndef BULKHEAD_DEVICE_RESET_H
#define BULKHEAD_DEVICE_RESET_H

#include <bulkhead_layout.h>

#ifdef __cplusplus
extern "C" {
#endif

struct domain;

/* Resets all devices of the manifest, whether a domain has them or not. Waits BH_MAX_RESET_HOLD_NS at most
 * for each. Called on the first core with the MMU off, before anything is loaded. */
void device_reset_all(const struct manifest_header *manifest);

/* Resets the domain's devices. No VCPU of the domain is on, or can go on before the domain's next start.
 * Waits BH_MAX_RESET_HOLD_NS at most, and for other cores that change a register. May be called on any core,
 * again and for the same domain by two cores at a time. */
void device_reset_domain(const struct domain *domain);

#ifdef __cplusplus
}
#endif

#endif
