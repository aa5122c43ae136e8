/* SPDX-License-Identifier: Apache-2.0
 *
 * Turns off everything on bus 0 that a boot loader has left on, and holds everything behind bridges in reset.
 * PCI Express Base 9.3.3.3 (virtual functions), PCI-to-PCI Bridge 1.2, 3.2.5 (registers of a bridge).
 */
#include "pci/pci.h"
#include "pci/pci_bridge.h"
#include "pci/pci_function.h"

#define MULTI_FUNCTION      0x00800000u /* in the word of the header's type */
#define FUNCTIONS_OF_A_SLOT 8u
#define CLASS_SHIFT         16u
#define CLASS_HOST_BRIDGE   0x0600u
#define SRIOV_CONTROL       0x08u
#define SRIOV_ENABLES       0x0009u /* the virtual functions, and their registers */

/* Virtual functions do not depend on the command register of their physical function. */
static void silence_virtual_functions(paddr_t place)
{
    uint32_t offset = pci_extended_capability(place, PCI_EXTENDED_SRIOV);

    if (offset != 0) {
        uint32_t control = pci_read_at(place, offset + SRIOV_CONTROL);

        pci_write_at(place, offset + SRIOV_CONTROL, control & 0xFFFF & ~SRIOV_ENABLES);
    }
}

/* The host bridge stays as it is, because it does not master memory itself. */
static void silence_function(paddr_t place)
{
    if (pci_read_at(place, PCI_ID) != PCI_NO_FUNCTION &&
        pci_read_at(place, PCI_CLASS) >> CLASS_SHIFT != CLASS_HOST_BRIDGE) {
        silence_virtual_functions(place);
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
