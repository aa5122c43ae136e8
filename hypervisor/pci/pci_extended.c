/* SPDX-License-Identifier: Apache-2.0
 *
 * The lists of capabilities (PCI Express Base 7.5.1.1.11) and of extended ones (7.6.3), and access control
 * services (ACS, 6.12 and 7.7.11).
 */
#include "pci/pci_function.h"

#define FIRST_EXTENDED        0x100u
#define MOST_EXTENDED         480u  /* 3840 bytes of at least 8 bytes each */
#define EXTENDED_ROOM         0x08u /* a header and a word */
#define EXTENDED_NEXT_SHIFT   20u
#define EXTENDED_POINTER      0xFFCu
#define EXTENDED_ID(word)     ((word)&0xFFFFu)
#define EXTENDED_OFFSET(word) ((word) >> EXTENDED_NEXT_SHIFT & EXTENDED_POINTER)

/* The device makes the lists, so they may be circular. */
uint32_t pci_capability(paddr_t place, uint32_t id)
{
    uint32_t offset = 0;

    if ((pci_read_at(place, PCI_COMMAND) & PCI_STATUS_LIST) != 0) {
        offset = pci_read_at(place, PCI_CAPABILITIES) & PCI_CAPABILITY_POINTER;
    }
    for (uint32_t i = 0; i < PCI_MOST_CAPABILITIES && offset >= PCI_FIRST_CAPABILITY; i++) {
        uint32_t word = pci_read_at(place, offset);

        if ((word & 0xFF) == id) {
            return offset;
        }
        offset = word >> PCI_CAPABILITY_NEXT & PCI_CAPABILITY_POINTER;
    }
    return 0;
}

uint32_t pci_extended_capability(paddr_t place, uint32_t id)
{
    uint32_t offset = FIRST_EXTENDED;

    for (uint32_t i = 0; i < MOST_EXTENDED && offset >= FIRST_EXTENDED; i++) {
        uint32_t word = pci_read_at(place, offset);

        if (word == 0 || word == PCI_NO_FUNCTION) {
            return 0;
        }
        if (EXTENDED_ID(word) == id && offset <= PCI_CONFIG_BYTES - EXTENDED_ROOM) {
            return offset;
        }
        offset = EXTENDED_OFFSET(word);
    }
    return 0;
}

bool pci_acs_enable(paddr_t place, uint32_t wanted, uint32_t needed)
{
    uint32_t offset = pci_extended_capability(place, PCI_EXTENDED_ACS);
    uint32_t control;

    if (offset == 0) {
        return false;
    }
    control = pci_read_at(place, offset + PCI_ACS) & wanted;
    if ((control & PCI_ACS_ENHANCED) != 0) {
        control = (control & ~PCI_ACS_ENHANCED) | PCI_ACS_TARGET_BLOCK;
    }
    pci_write_at(place, offset + PCI_ACS, control << PCI_ACS_CONTROL_SHIFT);
    return (control & needed) == needed && (pci_read_at(place, offset + PCI_ACS) >> PCI_ACS_CONTROL_SHIFT &
                                            (wanted | PCI_ACS_EXCEPTIONS | PCI_ACS_TARGET)) == control;
}
