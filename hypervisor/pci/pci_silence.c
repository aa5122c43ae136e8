/* SPDX-License-Identifier: Apache-2.0
 *
 * Turns off everything on bus 0 that a boot loader has left on. PCI Express Base 7.6.3 (list of extended
 * capabilities), 9.3.3.3 (virtual functions).
 */
#include "pci/pci.h"
#include "pci/pci_function.h"

#define MULTI_FUNCTION        0x00800000u /* in the word of the header's type */
#define FUNCTIONS_OF_A_SLOT   8u
#define CLASS_SHIFT           16u
#define CLASS_HOST_BRIDGE     0x0600u
#define FIRST_EXTENDED        0x100u
#define MOST_EXTENDED         480u /* 3840 bytes of at least 8 bytes each */
#define EXTENDED_NEXT_SHIFT   20u
#define EXTENDED_POINTER      0xFFCu
#define EXTENDED_SRIOV        0x0010u
#define SRIOV_BYTES           0x40u
#define SRIOV_CONTROL         0x08u
#define SRIOV_ENABLES         0x0009u /* the virtual functions, and their registers */
#define EXTENDED_ID(word)     ((word)&0xFFFFu)
#define EXTENDED_OFFSET(word) ((word) >> EXTENDED_NEXT_SHIFT & EXTENDED_POINTER)

static paddr_t place_of(const struct manifest_header *manifest, uint32_t slot, uint32_t number)
{
    return paddr(manifest->pci.config_pa + ((uint64_t)slot << PCI_SLOT_SHIFT) +
                 ((uint64_t)number << PCI_FUNCTION_SHIFT));
}

static uint32_t read_at(paddr_t place, uint32_t offset)
{
    return mmio_read32(paddr(place.value + offset));
}

static void write_at(paddr_t place, uint32_t offset, uint32_t value)
{
    mmio_write32(paddr(place.value + offset), value);
}

/* Virtual functions do not depend on the command register of their physical function. The device
 * makes the list, so the list may be circular. */
static void silence_virtual_functions(paddr_t place)
{
    uint32_t offset = FIRST_EXTENDED;

    for (uint32_t i = 0; i < MOST_EXTENDED && offset >= FIRST_EXTENDED; i++) {
        uint32_t word = read_at(place, offset);

        if (word == 0 || word == PCI_NO_FUNCTION) {
            return;
        }
        if (EXTENDED_ID(word) == EXTENDED_SRIOV && offset <= PCI_CONFIG_BYTES - SRIOV_BYTES) {
            uint32_t control = read_at(place, offset + SRIOV_CONTROL);

            write_at(place, offset + SRIOV_CONTROL, control & 0xFFFF & ~SRIOV_ENABLES);
        }
        offset = EXTENDED_OFFSET(word);
    }
}

/* The host bridge stays as it is, because it does not master memory itself. */
static void silence_function(paddr_t place)
{
    if (read_at(place, PCI_ID) != PCI_NO_FUNCTION &&
        read_at(place, PCI_CLASS) >> CLASS_SHIFT != CLASS_HOST_BRIDGE) {
        silence_virtual_functions(place);
        write_at(place, PCI_COMMAND, PCI_COMMAND_OFF);
        (void)read_at(place, PCI_COMMAND); /* the write has arrived */
    }
}

void pci_silence(const struct manifest_header *manifest)
{
    if (manifest->pci.config_pa == 0) {
        return;
    }
    for (uint32_t slot = 0; slot < PCI_SLOTS; slot++) {
        paddr_t place = place_of(manifest, slot, 0);
        bool several = (read_at(place, PCI_HEADER) & MULTI_FUNCTION) != 0;

        if (read_at(place, PCI_ID) == PCI_NO_FUNCTION) {
            continue;
        }
        for (uint32_t number = 0; number < (several ? FUNCTIONS_OF_A_SLOT : 1); number++) {
            silence_function(place_of(manifest, slot, number));
        }
    }
}
