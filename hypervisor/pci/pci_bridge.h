/* SPDX-License-Identifier: Apache-2.0
 *
 * PCI bridges. EL2 keeps their registers. A bridge with functions of domains behind it has one bus and a
 * window for their BARs, and its ACS sends all their requests to the SMMU. Every other bridge holds the buses
 * behind it in reset. Of the driver's files only; other rooms use pci.h.
 */
#ifndef BULKHEAD_PCI_BRIDGE_H
#define BULKHEAD_PCI_BRIDGE_H

#include <arch/mmio.h>
#include <bulkhead_layout.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Holds everything behind the function at `place` in reset, if the function is a bridge, and lets the bridge
 * pass no access to configuration space. Also with the MMU off. */
void pci_bridge_silence(paddr_t place);

/* Sets the bridges of the manifest up, and ends the reset behind them. False: a bridge is not what the
 * manifest says, which is logged. */
bool pci_bridges_init(void);

/* The bridge that the function is behind; NULL: it is on bus 0. */
const struct manifest_bridge *pci_bridge_of(const struct manifest_function *function);

/* Whether a read of the function's first register returns PCI_NOT_READY at once, in place of waiting for a
 * function that is not ready. */
bool pci_bridge_tells(const struct manifest_function *function);

/* Begins or ends a reset of the bus behind the bridge. */
void pci_bridge_reset(const struct manifest_bridge *bridge, bool begin);

#ifdef __cplusplus
}
#endif

#endif
