/* SPDX-License-Identifier: Apache-2.0
 *
 * PCI functions of domains, behind the SMMU. EL2 alone accesses configuration space. It places the BARs, and
 * answers the accesses of guests to configuration space (core/pci_config.h). A function can master memory
 * only while its domain runs. On a board without a PCI host bridge the functions do nothing. no_pci.c has the
 * stubs for programs without this driver. docs/design/devices.md has the design.
 */
#ifndef BULKHEAD_PCI_H
#define BULKHEAD_PCI_H

#include "base/mmio_access.h"
#include <bulkhead_layout.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct domain;

/* Turns off bus mastering, registers, interrupts and virtual functions of every function on bus 0, and holds
 * everything behind the bridges there in reset. Called on the first core with
 * the MMU off, before anything is loaded, after smmu_silence(). */
void pci_silence(const struct manifest_header *manifest);

/* Sets up the bridges with domains' functions behind them, compares the functions with the manifest, and
 * places their BARs. Waits for functions behind bridges, 1.1 s at most. Called on the first core, after
 * the domains' tables are built. BH_MANIFEST_ERROR_NONE, or BH_MANIFEST_ERROR_PCI if a bridge or a function
 * is not what the manifest says, which is logged. EL2 must not go on after an error. */
enum bh_manifest_error pci_init(void);

/* The domain starts: its functions answer at their BARs, and master no memory yet. */
void pci_domain_start(const struct domain *domain);

/* The domain does not run any more. Its functions stay as they are and answer at their BARs, because VCPUs of
 * the domain may still run: smmu_domain_stop() aborts their accesses to memory, and vgic_domain_stop()
 * disables their interrupts. Waits for nothing. */
void pci_domain_stop(const struct domain *domain);

/* The domain does not run, and none of its VCPUs is on: its functions master no memory, raise no interrupt
 * and do not answer at their BARs. May be called more than once. Does not wait for the functions. */
void pci_domain_off(const struct domain *domain);

/* Whether the functions have been reset since the domain stopped, as far as they can be. A call does
 * one step of one function: it begins or ends the function's reset, or asks whether the function answers.
 * Does not wait: if the answer is false, RARE_ALARM_RESET interrupts this core when it should ask again.
 * Called only on the core of the domain's first VCPU, when all its VCPUs are off. */
bool pci_domain_is_reset(const struct domain *domain);

/* True if guest-physical page `page` is configuration space that the domain sees, because it has a function;
 * `*offset` is then the page's offset there. */
bool pci_config_at(const struct domain *domain, uint64_t page, uint64_t *offset);

/* An access of the domain's guest to configuration space. Returns false for an access of 8 bytes, which PCI
 * does not have. */
bool pci_config_access(const struct domain *domain, struct mmio_access *access);

#ifdef __cplusplus
}
#endif

#endif
