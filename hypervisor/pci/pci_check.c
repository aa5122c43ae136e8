/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares a function with the manifest: identity, kind, and kind and size of each BAR; finds the
 * capabilities that EL2 uses. PCI Local Bus 3.0, 6.2.5.1 (sizes of BARs), 6.7 (list of capabilities).
 */
#include "pci/pci_function.h"
#include <stddef.h>

#define NEXT_SHIFT           8u
#define CLASS_SHIFT          24u
#define CLASS_BRIDGE         0x06u       /* of any kind: a host bridge is not silenced */
#define HEADER_KIND          0x00FF0000u /* type of the header, and whether there are other functions */
#define MOST_CAPABILITIES    48u         /* 192 bytes of at least 4 bytes each */
#define FIRST_CAPABILITY     0x40u
#define POINTER              0xFCu
#define CAPABILITY_MSI       0x05u
#define CAPABILITY_EXPRESS   0x10u
#define CAPABILITY_MSIX      0x11u
#define MSI_ENABLE           0x00010000u
#define MSIX_ENABLE          0x80000000u
#define BAR_REGISTER(number) (PCI_BAR + 4 * (number))

/* The value of a BAR that all ones have been written to. */
static uint32_t sized(const struct manifest_function *function, uint32_t bar)
{
    pci_write(function, BAR_REGISTER(bar), UINT32_MAX);
    return pci_read(function, BAR_REGISTER(bar));
}

/* Whether the function's BAR has the kind and size that the manifest says. Addresses of I/O are none: EL2
 * never lets a function answer at them. `*wide`: the next register has the upper half. */
static bool bar_agrees(const struct manifest_function *function, uint32_t bar, bool *wide)
{
    uint32_t low = sized(function, bar);
    uint64_t mask = 0xFFFFFFFF00000000u | (low & ~PCI_BAR_KIND);

    *wide = false;
    if (low == 0 || (low & PCI_BAR_IO) != 0) {
        return function->bar_bytes[bar] == 0;
    }
    if ((low & PCI_BAR_WIDE) != 0 && bar + 1 < BH_PCI_BARS) {
        *wide = true;
        mask = (uint64_t)sized(function, bar + 1) << 32 | (low & ~PCI_BAR_KIND);
    }
    return (low & PCI_BAR_KIND) == pci_bar_kind(function, bar) && ~mask + 1 == function->bar_bytes[bar];
}

static bool bars_agree(const struct manifest_function *function)
{
    bool agree = true;
    bool wide;

    for (uint32_t bar = 0; bar < BH_PCI_BARS; bar += wide ? 2 : 1) {
        agree = bar_agrees(function, bar, &wide) && agree;
    }
    return agree;
}

/* A boot loader may have left message interrupts enabled: the function would write to the addresses that the
 * boot loader has set, and raise no other interrupt. */
static void take_capability(struct pci_function *function, uint32_t offset)
{
    const struct manifest_function *config = function->config.function;
    uint32_t word = pci_read(config, offset);

    switch (word & 0xFF) {
    case CAPABILITY_MSI:
        pci_write(config, offset, word & ~MSI_ENABLE);
        break;
    case CAPABILITY_MSIX:
        pci_write(config, offset, word & ~MSIX_ENABLE);
        break;
    case CAPABILITY_EXPRESS:
        function->config.express = offset;
        function->has_reset = (pci_read(config, offset + PCI_EXPRESS_DEVICE) & PCI_EXPRESS_FLR) != 0;
        break;
    default:
        break;
    }
}

/* The list is the device's: it may be a circle. */
static void take_capabilities(struct pci_function *function)
{
    const struct manifest_function *config = function->config.function;
    uint32_t offset;

    if ((pci_read(config, PCI_COMMAND) & PCI_STATUS_LIST) == 0) {
        return;
    }
    offset = pci_read(config, PCI_CAPABILITIES) & POINTER;
    for (uint32_t i = 0; i < MOST_CAPABILITIES && offset >= FIRST_CAPABILITY; i++) {
        take_capability(function, offset);
        offset = pci_read(config, offset) >> NEXT_SHIFT & POINTER;
    }
}

const char *pci_function_check(struct pci_function *function)
{
    const struct manifest_function *config = function->config.function;
    uint32_t id = pci_read(config, PCI_ID);

    if (id == PCI_NO_FUNCTION) {
        return "it is not there";
    }
    if (id != config->id) {
        return "it is another device";
    }
    if ((pci_read(config, PCI_HEADER) & HEADER_KIND) != 0 ||
        pci_read(config, PCI_CLASS) >> CLASS_SHIFT == CLASS_BRIDGE) {
        return "it is a bridge, or a device of several functions";
    }
    if (!bars_agree(config)) {
        return "a BAR has another size or kind";
    }
    take_capabilities(function);
    return NULL;
}

void pci_place_bars(const struct manifest_function *function)
{
    for (uint32_t bar = 0; bar < BH_PCI_BARS; bar++) {
        if (function->bar_bytes[bar] != 0) {
            pci_write(function, BAR_REGISTER(bar), (uint32_t)function->bar_pa[bar]);
            if ((pci_bar_kind(function, bar) & PCI_BAR_WIDE) != 0) {
                pci_write(function, BAR_REGISTER(bar + 1), (uint32_t)(function->bar_pa[bar] >> 32));
            }
        }
    }
}
