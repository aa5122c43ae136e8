// SPDX-License-Identifier: Apache-2.0
//
// Registers of the socket device on PCI (virtio 1.2, 4.1.4), named as the driver names those of the MMIO
// transport: by their offset in the page. For programs that are compiled with SOCKET_ON_PCI.
#ifndef BULKHEAD_GUESTS_SOCKET_PCI_H
#define BULKHEAD_GUESTS_SOCKET_PCI_H

#include <arch/mmio.h>
#include <stdint.h>

// Where the function's capabilities place the registers. runtime/socket_device.c finds them.
struct socket_pci {
    uint64_t common;
    uint64_t notify;
    uint64_t isr;
    uint64_t device;
};

extern struct socket_pci socket_pci;

enum {
    socket_pci_page = 0x1000,
    socket_pci_device_id = 19,
};

static inline uint32_t socket_pci_read(uint64_t at)
{
    switch (at % socket_pci_page) {
    case 0x008:
        return socket_pci_device_id; // the function has said so
    case 0x010:                      // device features
        return mmio_read32(socket_pci.common + 0x04);
    case 0x060:
        return mmio_read8(socket_pci.isr);
    case 0x070:
        return mmio_read8(socket_pci.common + 0x14);
    default:
        return mmio_read32(socket_pci.device); // the CID
    }
}

static inline void socket_pci_write(uint64_t at, uint32_t value)
{
    uint32_t offset = at % socket_pci_page;

    switch (offset) {
    case 0x014: // which half of the device features
        mmio_write32(socket_pci.common + 0x00, value);
        break;
    case 0x020: // driver features
        mmio_write32(socket_pci.common + 0x0C, value);
        break;
    case 0x024: // and which half of them
        mmio_write32(socket_pci.common + 0x08, value);
        break;
    case 0x030: // queue: which one,
        mmio_write16(socket_pci.common + 0x16, (uint16_t)value);
        break;
    case 0x038: // entries,
        mmio_write16(socket_pci.common + 0x18, (uint16_t)value);
        break;
    case 0x044: // ready
        mmio_write16(socket_pci.common + 0x1C, (uint16_t)value);
        break;
    case 0x050:
        mmio_write16(socket_pci.notify, (uint16_t)value);
        break;
    case 0x064: // reading the interrupt status has acknowledged
        break;
    case 0x070:
        mmio_write8(socket_pci.common + 0x14, (uint8_t)value);
        break;
    default: // addresses of the queue's parts, 16 bytes apart
        mmio_write32(socket_pci.common + 0x20 + (offset - 0x080) / 16 * 8 + offset % 8, value);
        break;
    }
}

#endif
