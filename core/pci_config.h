/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * What a guest sees of a PCI function's configuration space, and what it can change there: policy without
 * hardware. hypervisor/pci/ calls it for trapped accesses. Registers are named by the offset of their 32-bit
 * word. The only registers of the hardware that an access can change are the command register and the one
 * that enables message interrupts.
 *
 * A read returns what is kept here, and does not access the hardware. BARs are where the manifest places
 * them: a guest can ask for their sizes, but not move them. A guest sees each function as function 0 of a
 * slot on bus 0, without bridges, whatever bus the function is on. Of the capabilities a guest sees PCI
 * Express, read-only and without function-level reset; MSI-X if the manifest gives the function message
 * interrupts, with as many as the manifest says; and of a virtio device, read-only, where the structures of
 * its registers are (core/pci_virtio.h). The table of messages and these structures are behind BARs, where
 * the guest accesses them without EL2. Everything else reads as zero: the status register's other bits, other
 * capabilities, the extended configuration space.
 */
#ifndef BULKHEAD_CORE_PCI_CONFIG_H
#define BULKHEAD_CORE_PCI_CONFIG_H

#include "core/pci_virtio.h"
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
#define PCI_ROM          0x30u /* address of the expansion ROM */
#define PCI_CAPABILITIES 0x34u
#define PCI_INTERRUPT    0x3Cu
#define PCI_PIN_SHIFT    8u /* of the interrupt pin in its word */
#define PCI_PIN          0xFFu
#define PCI_MOST_PIN     4u          /* INTD */
#define PCI_NO_FUNCTION  0xFFFFFFFFu /* what a read returns where no function is */
#define PCI_NOT_READY    0xFFFF0001u /* what a read of PCI_ID may return until a reset function is ready */

/* The command register is the lower half of its word; the upper half is the status register. */
#define PCI_COMMAND_MEMORY   0x0002u
#define PCI_COMMAND_MASTER   0x0004u
#define PCI_COMMAND_INTX_OFF 0x0400u
#define PCI_COMMAND_OFF      PCI_COMMAND_INTX_OFF
#define PCI_STATUS_LIST      0x00100000u

#define PCI_BAR_IO   0x1u
#define PCI_BAR_WIDE 0x4u /* 64 bits: the next register has the upper half */
#define PCI_BAR_KIND 0xFu

/* The list of capabilities: an entry has its id in the lowest byte, and where the next one is. */
#define PCI_FIRST_CAPABILITY   0x40u
#define PCI_MOST_CAPABILITIES  48u /* 192 bytes of at least 4 bytes each */
#define PCI_CAPABILITY_NEXT    8u  /* shift */
#define PCI_CAPABILITY_POINTER 0xFCu

#define PCI_CAPABILITY_MSI     0x05u
#define PCI_CAPABILITY_EXPRESS 0x10u
#define PCI_CAPABILITY_MSIX    0x11u

#define PCI_MSI_ENABLE 0x00010000u /* in the first word of the MSI capability */

/* In the first word of the MSI-X capability; the other two are the places of its tables. */
#define PCI_MSIX_ENABLE     0x80000000u
#define PCI_MSIX_MASK       0x40000000u
#define PCI_MSIX_SIZE(word) (((word) >> 16 & 0x7FFu) + 1)
#define PCI_MSIX_WORDS      3u

/* Offsets in the PCI Express capability. */
#define PCI_EXPRESS_DEVICE    0x04u
#define PCI_EXPRESS_CONTROL   0x08u
#define PCI_EXPRESS_FLR       0x10000000u /* in PCI_EXPRESS_DEVICE: the function can be reset */
#define PCI_EXPRESS_RESET     0x00008000u /* in PCI_EXPRESS_CONTROL */
#define PCI_EXPRESS_ROOT      0x1Cu       /* root control, and root capabilities in the upper half */
#define PCI_EXPRESS_CONTROL2  0x28u
#define PCI_EXPRESS_PAYLOAD   0x000000E0u /* in PCI_EXPRESS_CONTROL: 0 is 128 bytes, as after a reset */
#define PCI_EXPRESS_TYPE      0x00F00000u /* in the first word: endpoint, root port, ... */
#define PCI_EXPRESS_ROOT_PORT 0x00400000u
#define PCI_EXPRESS_IN_ROOT   0x00900000u /* an endpoint that is integrated in the root complex */
#define PCI_EXPRESS_WORDS     3u          /* of the capability that a guest sees */

struct pci_config {
    const struct manifest_function *function;
    uint32_t command;      /* as the guest has set it */
    uint32_t sized;        /* mask of BARs whose size the guest asks for: its last write was all ones */
    uint32_t express;      /* offset of the PCI Express capability; 0: the function has none */
    uint32_t msix;         /* offset of the MSI-X capability; 0: the guest sees none */
    uint32_t msix_control; /* PCI_MSIX_ENABLE and PCI_MSIX_MASK, as the guest has set them */

    /* Registers of the hardware that do not change while a guest has the function. */
    uint32_t class_code;
    uint32_t subsystem;
    uint32_t express_words[PCI_EXPRESS_WORDS];
    uint32_t msix_words[PCI_MSIX_WORDS];
    struct pci_virtio virtio[PCI_VIRTIO_STRUCTURES]; /* none overlaps another capability that a guest sees */
};

/* What must be written to the hardware after a guest's write. */
enum pci_config_effect {
    PCI_CONFIG_NOTHING,
    PCI_CONFIG_COMMAND, /* pci_config_command() to the command register */
    PCI_CONFIG_MSIX,    /* `msix_control` to the first word of the MSI-X capability */
};

/* The state after a reset. */
void pci_config_reset(struct pci_config *config);

/* The four lowest bits of a BAR. */
uint32_t pci_bar_kind(const struct manifest_function *function, uint32_t bar);

/* The BAR that register `index` (below BH_PCI_BARS) belongs to: a BAR of 64 bits has two registers. */
uint32_t pci_bar_of(const struct manifest_function *function, uint32_t index);

/* What register `index` contains if its BAR has the address, or the mask of a size, `value`. */
uint32_t pci_bar_word(const struct manifest_function *function, uint32_t index, uint64_t value);

/* What the guest reads in the register at `offset` (a multiple of 4). */
uint32_t pci_config_read(const struct pci_config *config, uint32_t offset);

/* The guest writes the bits in `mask` of the register at `offset` (a multiple of 4). The hardware's register
 * must be written also if the guest writes the same value again, because it may have reset the function. */
enum pci_config_effect pci_config_write(struct pci_config *config, uint32_t offset, uint32_t mask,
                                        uint32_t value);

/* The command register of the hardware, while the function's domain runs. The function always answers at its
 * BARs: otherwise a guest could cause errors on the bus. Its interrupt stays off if it has no pin. */
uint32_t pci_config_command(const struct pci_config *config);

#ifdef __cplusplus
}
#endif

#endif
