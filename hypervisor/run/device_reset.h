/* SPDX-License-Identifier: Apache-2.0
 *
 * Resets of devices that are no PCI functions, by the reset registers of the chip that the manifest names: so
 * that no device goes on with what a boot loader, or the previous life of its domain, has left it.
 */
#ifndef BULKHEAD_DEVICE_RESET_H
#define BULKHEAD_DEVICE_RESET_H

#include <bulkhead_layout.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct domain;

/* Resets all devices of the manifest, whether a domain has them or not. Waits BH_MAX_RESET_HOLD_NS at most
 * for each. Returns the first one whose register does not hold what is written to it, or NULL: all do. Called
 * on the first core with the MMU off, before anything is loaded. */
const struct manifest_reset *device_reset_all(const struct manifest_header *manifest);

/* The domain stops: its devices are to be reset when its VCPUs are off. Called before another core can see
 * that the domain does not run. */
void device_reset_expect(struct domain *domain);

/* Resets the domain's devices, if that is still to be done. All VCPUs of the domain are off, and stay off
 * until its next start. Waits BH_MAX_RESET_HOLD_NS at most, and while another core changes a register. May be
 * called on any core. */
void device_reset_domain(struct domain *domain);

/* Whether no reset of the domain's devices is to be done or under way: its memory may be used again. */
bool device_reset_is_done(const struct domain *domain);

#ifdef __cplusplus
}
#endif

#endif
