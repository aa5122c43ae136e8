// SPDX-License-Identifier: Apache-2.0
//
// Configuration space of a PCI function with a header of type 0 (PCI Local Bus Specification 3.0, 6.1).
// `config`: its address in this domain.
#ifndef BULKHEAD_GUESTS_PCI_H
#define BULKHEAD_GUESTS_PCI_H

#include <arch/mmio.h>
#include <stdint.h>

enum {
    pci_id = 0x00, // vendor id, and the device id in the upper half
    pci_command = 0x04,
    pci_class = 0x08, // revision, and the class code in the upper three bytes
    pci_bar_0 = 0x10,
    pci_capabilities = 0x34, // offset of the first one
    pci_bar_kind = 0xF,      // bits of a BAR that are no address
    pci_command_memory = 1 << 1,
    pci_command_master = 1 << 2,
    pci_class_shift = 8,
};

// The lower half of the address in BAR 0; 0: it has no place.
static inline uint64_t pci_registers(uint64_t config)
{
    return mmio_read32(config + pci_bar_0) & ~(uint32_t)pci_bar_kind;
}

// Turns on the function's registers and its accesses to memory.
static inline void pci_enable(uint64_t config)
{
    mmio_write32(config + pci_command, pci_command_memory | pci_command_master);
}

#endif
