/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * What a guest sees of a PCI function's configuration space, and what it can change there: policy without
 * hardware. hypervisor/pci/ calls it for trapped accesses. Registers are named by the offset of their 32-bit
 * word. The only register of the hardware that an access can change is the command register.
 *
 * A read returns bits of the hardware's register (pci_config_shown) and bits that are kept here
 * (pci_config_own). BARs are where the manifest places them: a guest can ask for their sizes, but not move
 * them. Of the capabilities a guest sees PCI Express, read-only and without function-level reset. Everything
 * else reads as zero: message interrupts, other capabilities, the extended configuration space.
 */
#ifndef BULKHEAD_CORE_PCI_CONFIG_H
#define BULKHEAD_CORE_PCI_CONFIG_H

#include <bulkhead_layout.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PCI_CONFIG_BYTES 0x1000u /* of a function */
#define PCI_ID           0x00u
#define PCI_COMMAND      0x04u
#define PCI_CLASS        0x08u
#define PCI_HEADER       0x0Cu
#define PCI_BAR          0x10u
#define PCI_SUBSYSTEM    0x2Cu
#define PCI_CAPABILITIES 0x34u
#define PCI_INTERRUPT    0x3Cu
#define PCI_NO_FUNCTION  0xFFFFFFFFu /* what a read returns where no function is */

/* The command register is the lower half of its word; the upper half is the status register. */
#define PCI_COMMAND_MEMORY   0x0002u
#define PCI_COMMAND_MASTER   0x0004u
#define PCI_COMMAND_INTX_OFF 0x0400u
#define PCI_STATUS_INTERRUPT 0x00080000u
#define PCI_STATUS_LIST      0x00100000u

#define PCI_BAR_IO   0x1u
#define PCI_BAR_WIDE 0x4u /* 64 bits: the next register has the upper half */
#define PCI_BAR_KIND 0xFu

/* Offsets in the PCI Express capability. */
#define PCI_EXPRESS_DEVICE  0x04u
#define PCI_EXPRESS_CONTROL 0x08u
#define PCI_EXPRESS_FLR     0x10000000u /* in the former: the function can be reset */
#define PCI_EXPRESS_RESET   0x00008000u /* in the latter */

struct pci_config {
    const struct manifest_function *function;
    uint32_t command; /* as the guest has set it */
    uint32_t sized;   /* mask of BARs whose size the guest asks for: its last write was all ones */
    uint32_t express; /* offset of the PCI Express capability; 0: the function has none */
};

/* The state after a reset. */
void pci_config_reset(struct pci_config *config);

/* The four lowest bits of a BAR. */
uint32_t pci_bar_kind(const struct manifest_function *function, uint32_t bar);

/* Bits of the hardware's register at `offset` (a multiple of 4) that a read shows. If there are none, the
 * hardware's register need not be read. */
uint32_t pci_config_shown(const struct pci_config *config, uint32_t offset);

/* The other bits of the register. */
uint32_t pci_config_own(const struct pci_config *config, uint32_t offset);

/* The guest writes the bits in `mask` of the register at `offset` (a multiple of 4). True if the hardware's
 * command register must be written with pci_config_command(). */
bool pci_config_write(struct pci_config *config, uint32_t offset, uint32_t mask, uint32_t value);

/* The command register of the hardware, while the function's domain runs or does not run. While it runs, the
 * function always answers at its BARs: otherwise a guest could cause errors on the bus. */
uint32_t pci_config_command(const struct pci_config *config, bool runs);

#ifdef __cplusplus
}
#endif

#endif
