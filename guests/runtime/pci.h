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
    pci_bar_wide = 1 << 2,   // of a BAR: its address has 64 bits, and the upper half is in the next one
    pci_bar_kind = 0xF,      // bits of a BAR that are no address
    pci_command_memory = 1 << 1,
    pci_command_master = 1 << 2,
    pci_class_shift = 8,
};

// The address in BAR 0, and in BAR 1 if it has 64 bits; 0: it has no place.
static inline uint64_t pci_registers(uint64_t config)
{
    uint32_t low = mmio_read32(config + pci_bar_0);
    uint64_t high = (low & pci_bar_wide) != 0 ? mmio_read32(config + pci_bar_0 + 4) : 0;

    return high << 32 | (low & ~(uint32_t)pci_bar_kind);
}

// Turns on the function's registers and its accesses to memory.
static inline void pci_enable(uint64_t config)
{
    mmio_write32(config + pci_command, pci_command_memory | pci_command_master);
}

#endif
