/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The PCI transport of a virtio device (virtio 1.2, 4.1): configuration space of a function, and the
 * registers behind its BAR. State and policy are those of the MMIO transport (core/virtio_mmio.h): each
 * register here is translated into registers there, so what a driver can do is decided once. Accesses must
 * have the size of the field (4.1.3.1); a field of 64 bits is accessed as two words. There is no MSI-X.
 *
 * Configuration space is what core/pci_config.h shows of a function with one BAR of a page and a pin, and the
 * capabilities of virtio. The BAR stays where it is. The function answers whatever its command register says;
 * only the bit that disables its interrupt has an effect.
 */
#ifndef BULKHEAD_CORE_VIRTIO_PCI_H
#define BULKHEAD_CORE_VIRTIO_PCI_H

#include "core/pci_config.h"
#include "core/virtio_mmio.h"
#include <bulkhead_layout.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VIRTIO_PCI_ID(device_id) ((0x1040u + (device_id)) << 16 | 0x1AF4u)

/* Places behind the BAR, which has BH_PAGE_BYTES. */
#define VIRTIO_PCI_COMMON       0x000u
#define VIRTIO_PCI_COMMON_BYTES 0x038u
#define VIRTIO_PCI_NOTIFY       0x040u
#define VIRTIO_PCI_ISR          0x050u
#define VIRTIO_PCI_DEVICE       VIRTIO_MMIO_CONFIG

/* Offsets in configuration space. */
#define VIRTIO_PCI_CAP_COMMON 0x40u
#define VIRTIO_PCI_CAP_NOTIFY 0x50u
#define VIRTIO_PCI_CAP_ISR    0x64u
#define VIRTIO_PCI_CAP_DEVICE 0x74u
#define VIRTIO_PCI_CAP_WINDOW 0x84u
#define VIRTIO_PCI_CAP_END    0x98u
#define VIRTIO_PCI_WINDOW     (VIRTIO_PCI_CAP_WINDOW + 0x10u) /* the data of the window */

struct virtio_pci {
    struct pci_config config;
    struct manifest_function function; /* what `config` shows */

    /* The window from configuration space to the registers behind the BAR (4.1.4.9), as the driver sets it.
     */
    uint32_t window_bar;
    uint32_t window_offset;
    uint32_t window_bytes;
};

/* `bar`: guest-physical address of the page with the registers. */
void virtio_pci_init(struct virtio_pci *pci, uint32_t device_id, uint64_t bar);

/* The state after a reset of the domain. A reset by the driver leaves configuration space as it is. */
void virtio_pci_reset(struct virtio_pci *pci);

/* Whether the device's line is active. */
bool virtio_pci_line(const struct virtio_pci *pci, const struct virtio_mmio *registers);

/* A word of configuration space, `offset` a multiple of 4 below PCI_CONFIG_BYTES. A write changes the bits
 * in `mask`. */
uint32_t virtio_pci_config_read(const struct virtio_pci *pci, const struct virtio_mmio *registers,
                                uint32_t offset);
void virtio_pci_config_write(struct virtio_pci *pci, uint32_t offset, uint32_t mask, uint32_t value);

/* The size of the access to the register `*at` behind the BAR that an access to configuration space at
 * `offset` stands for. 0: it stands for none. */
uint32_t virtio_pci_window(const struct virtio_pci *pci, uint32_t offset, uint32_t *at);

/* A guest's access of `bytes` bytes (1, 2, 4 or 8), aligned, at `offset` below BH_PAGE_BYTES behind the BAR.
 * Returns false and does nothing if the registers do not support the size. A read of VIRTIO_PCI_ISR clears
 * it. `*event` and `*queue` as for virtio_mmio_write(). */
bool virtio_pci_read(struct virtio_mmio *registers, uint32_t offset, uint32_t bytes, uint64_t *value);
bool virtio_pci_write(struct virtio_mmio *registers, struct guest_memory *memory, uint32_t offset,
                      uint32_t bytes, uint64_t value, enum virtio_mmio_event *event, uint32_t *queue);

#ifdef __cplusplus
}
#endif

#endif
