/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Capabilities of a virtio function of the board, by which a driver finds the function's registers (virtio
 * 1.2, 4.1.4): which of them a guest sees, and whether what they say is possible. The device writes them, so
 * nothing in them is trusted. hypervisor/pci/pci_check.c reads them from the hardware and calls this. What a
 * guest then reads is core/pci_config.c's. The virtio device of flows is no function of the board
 * (core/virtio_pci.h).
 *
 * A guest sees the places of four structures: common configuration, notification, ISR status and device
 * configuration. Each place is part of a BAR that the guest accesses without EL2. A guest does not see the
 * window from configuration space to the BARs (VIRTIO_PCI_CAP_PCI_CFG): the function would carry out writes
 * to configuration space that EL2 does not understand.
 */
#ifndef BULKHEAD_CORE_PCI_VIRTIO_H
#define BULKHEAD_CORE_PCI_VIRTIO_H

#include <bulkhead_layout.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PCI_CAPABILITY_VENDOR   0x09u
#define PCI_VIRTIO_STRUCTURES   4u /* types 1 to 4 of the capability's header */
#define PCI_VIRTIO_NOTIFICATION 2u
#define PCI_VIRTIO_MOST_WORDS   5u /* of the capability for notification; others have one less */

/* A capability as a guest sees it. In `words[0]` the place of the next one is 0. */
struct pci_virtio {
    uint32_t offset; /* in configuration space; 0: the function has none that a guest may see */
    uint32_t words[PCI_VIRTIO_MOST_WORDS];
};

/* Words of the capability of structure `index`, which is its type less one (below PCI_VIRTIO_STRUCTURES). */
uint32_t pci_virtio_words(uint32_t index);

/* What a guest sees of the capability at `offset` (a multiple of 4, below 256) whose first word is `header`:
 * the index of its structure; PCI_VIRTIO_STRUCTURES: nothing, because the function is not a virtio device,
 * the structure has another type, or the capability is too short or does not end in the first 256 bytes. */
uint32_t pci_virtio_index(const struct manifest_function *function, uint32_t offset, uint32_t header);

enum pci_virtio_place {
    PCI_VIRTIO_PLACED,  /* in a BAR of the function */
    PCI_VIRTIO_IGNORED, /* in a BAR that no guest sees: of I/O addresses, absent or reserved (4.1.4) */
    PCI_VIRTIO_OUTSIDE, /* empty, or not within the BAR that the capability names */
};

/* Where the structure is that the capability's words `words[1]` to `words[3]` describe. */
enum pci_virtio_place pci_virtio_locate(const struct manifest_function *function, const uint32_t *words);

/* The first word of the capability of structure `index`, without a next one. */
uint32_t pci_virtio_header(uint32_t index);

#ifdef __cplusplus
}
#endif

#endif
