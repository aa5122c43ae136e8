/* SPDX-License-Identifier: Apache-2.0
 *
 * Turns off everything on bus 0 that a boot loader has left on, and holds everything behind bridges in reset.
 * PCI Express Base 9.3.3.3 (virtual functions), 10.5 (translation), PCI-to-PCI Bridge 1.2, 3.2.5 (registers
 * of a bridge).
 */
#include "pci/pci.h"
#include "pci/pci_bridge.h"
#include "pci/pci_function.h"

#define MULTI_FUNCTION      0x00800000u /* in the word of the header's type */
#define FUNCTIONS_OF_A_SLOT 8u
#define CLASS_SHIFT         16u
#define CLASS_HOST_BRIDGE   0x0600u
#define ATS_ENABLE          0x80000000u
#define MULTICAST_ENABLE    0x80000000u
#define PRI_ENABLE          0x00000001u
#define PASID_ENABLE        0x00010000u
#define SRIOV_ENABLES       0x00000009u /* the virtual functions, and their registers */
#define CONTROL             0x0000FFFFu /* of a word whose upper half is a status that ones clear */

/* What a function does by an extended capability, whatever its command register says, or how it masters
 * memory later, when a guest lets it: page requests, addresses that it calls translated, substreams, writes
 * to several functions (multicast, 6.14: a port may send them past the SMMU), virtual functions. In an order
 * in which each may be turned off (PCI Express Base 10.5.1: PASID after ATS). */
static void silence_extended(paddr_t place)
{
    static const struct {
        uint32_t id;
        uint32_t offset; /* of the control word in the capability */
        uint32_t kept;   /* of that word */
    } enables[] = {
        {PCI_EXTENDED_PRI, 0x04, CONTROL & ~PRI_ENABLE},
        {PCI_EXTENDED_ATS, 0x04, ~ATS_ENABLE},
        {PCI_EXTENDED_PASID, 0x04, ~PASID_ENABLE},
        {PCI_EXTENDED_MULTICAST, 0x04, ~MULTICAST_ENABLE},
        {PCI_EXTENDED_SRIOV, 0x08, CONTROL & ~SRIOV_ENABLES},
    };

    for (uint32_t i = 0; i < sizeof enables / sizeof enables[0]; i++) {
        uint32_t offset = pci_extended_capability(place, enables[i].id) + enables[i].offset;

        if (offset != enables[i].offset && offset < PCI_CONFIG_BYTES) {
            pci_write_at(place, offset, pci_read_at(place, offset) & enables[i].kept);
        }
    }
}

/* The host bridge stays as it is, because it does not master memory itself. */
static void silence_function(paddr_t place)
{
    if (pci_read_at(place, PCI_ID) != PCI_NO_FUNCTION &&
        pci_read_at(place, PCI_CLASS) >> CLASS_SHIFT != CLASS_HOST_BRIDGE) {
        silence_extended(place);
        pci_write_at(place, PCI_COMMAND, PCI_COMMAND_OFF);
        (void)pci_read_at(place, PCI_COMMAND); /* the write has arrived */
        pci_bridge_silence(place);
    }
}

void pci_silence(const struct manifest_header *manifest)
{
    if (manifest->pci.config_pa == 0) {
        return;
    }
    for (uint32_t slot = 0; slot < PCI_SLOTS; slot++) {
        uint32_t first = slot * FUNCTIONS_OF_A_SLOT;
        paddr_t place = pci_place(manifest, first);
        bool several = (pci_read_at(place, PCI_HEADER) & MULTI_FUNCTION) != 0;

        if (pci_read_at(place, PCI_ID) == PCI_NO_FUNCTION) {
            continue;
        }
        for (uint32_t number = 0; number < (several ? FUNCTIONS_OF_A_SLOT : 1); number++) {
            silence_function(pci_place(manifest, first + number));
        }
    }
}
