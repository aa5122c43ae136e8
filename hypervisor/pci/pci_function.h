/* SPDX-License-Identifier: Apache-2.0
 *
 * Access to the configuration space of functions on bus 0, and what the driver's files share. Other rooms use
 * pci.h.
 */
#ifndef BULKHEAD_PCI_FUNCTION_H
#define BULKHEAD_PCI_FUNCTION_H

#include "core/manifest.h"
#include "core/pci_config.h"
#include "core/spinlock.h"
#include "vm/system.h"
#include <arch/mmio.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PCI_SLOTS          32u
#define PCI_SLOT_SHIFT     15u
#define PCI_FUNCTION_SHIFT 12u

/* A function of a domain. */
struct pci_function {
    struct spinlock lock; /* protects what follows, and the function's configuration space */
    struct pci_config config;
    bool runs;      /* its domain does */
    bool has_reset; /* it has function-level reset */
};

static inline uint32_t pci_read(const struct manifest_function *function, uint32_t offset)
{
    return mmio_read32(
        paddr(system_manifest()->pci.config_pa + ((uint64_t)function->slot << PCI_SLOT_SHIFT) + offset));
}

static inline void pci_write(const struct manifest_function *function, uint32_t offset, uint32_t value)
{
    mmio_write32(
        paddr(system_manifest()->pci.config_pa + ((uint64_t)function->slot << PCI_SLOT_SHIFT) + offset),
        value);
}

/* pci_check.c. Why the function is not the one in the manifest; NULL: it is. It does not answer at its BARs
 * meanwhile, and its message interrupts are off afterwards. Fills in its capabilities. */
const char *pci_function_check(struct pci_function *function);

/* Writes the BARs as the manifest has them. The function does not answer at them meanwhile. */
void pci_place_bars(const struct manifest_function *function);

#ifdef __cplusplus
}
#endif

#endif
