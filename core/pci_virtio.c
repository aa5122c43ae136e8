/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Virtio 1.2, 4.1.2 (ids of devices), 4.1.4 (capabilities).
 */
#include "core/pci_virtio.h"

#define VENDOR       0x1AF4u
#define FIRST_DEVICE 0x1000u
#define LAST_DEVICE  0x107Fu
#define DEVICE_SHIFT 16u
#define LENGTH_SHIFT 16u /* of the capability's length in its first word */
#define TYPE_SHIFT   24u
#define BYTE         0xFFu
#define LIST_END     0x100u /* where extended capabilities begin */
#define SHORT_WORDS  4u
#define WORD_BAR     1u
#define WORD_OFFSET  2u
#define WORD_BYTES   3u

static bool is_virtio(const struct manifest_function *function)
{
    uint32_t device = function->id >> DEVICE_SHIFT;

    return (function->id & 0xFFFFu) == VENDOR && device >= FIRST_DEVICE && device <= LAST_DEVICE;
}

uint32_t pci_virtio_words(uint32_t index)
{
    return index + 1 == PCI_VIRTIO_NOTIFICATION ? PCI_VIRTIO_MOST_WORDS : SHORT_WORDS;
}

uint32_t pci_virtio_index(const struct manifest_function *function, uint32_t offset, uint32_t header)
{
    uint32_t index = (header >> TYPE_SHIFT) - 1;
    uint32_t bytes;

    if (!is_virtio(function) || (header & BYTE) != PCI_CAPABILITY_VENDOR || index >= PCI_VIRTIO_STRUCTURES) {
        return PCI_VIRTIO_STRUCTURES;
    }
    bytes = 4 * pci_virtio_words(index);
    return (header >> LENGTH_SHIFT & BYTE) >= bytes && offset + bytes <= LIST_END ? index
                                                                                  : PCI_VIRTIO_STRUCTURES;
}

enum pci_virtio_place pci_virtio_locate(const struct manifest_function *function, const uint32_t *words)
{
    uint32_t bar = words[WORD_BAR] & BYTE;
    uint64_t end = (uint64_t)words[WORD_OFFSET] + words[WORD_BYTES];

    if (bar >= BH_PCI_BARS || function->bar_bytes[bar] == 0) {
        return PCI_VIRTIO_IGNORED;
    }
    return words[WORD_BYTES] != 0 && end <= function->bar_bytes[bar] ? PCI_VIRTIO_PLACED : PCI_VIRTIO_OUTSIDE;
}

uint32_t pci_virtio_header(uint32_t index)
{
    return PCI_CAPABILITY_VENDOR | 4 * pci_virtio_words(index) << LENGTH_SHIFT | (index + 1) << TYPE_SHIFT;
}
