/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Configuration space as a guest sees it. PCI Local Bus 3.0, 6.1 and 6.2.5 (header, BARs), PCI Express Base
 * 7.5.3 (its capability), 7.7.2 (MSI-X).
 */
#include "core/pci_config.h"

#define COMMAND_REGISTER    0x0000FFFFu /* the upper half of its word is the status register */
#define ALLOWED_COMMAND     (PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_INTX_OFF)
#define ALLOWED_MSIX        (PCI_MSIX_ENABLE | PCI_MSIX_MASK)
#define NEXT_SHIFT          8u
#define BUS_SHIFT           8u /* in a requester id */
#define SIZE_SHIFT          16u
#define WITHOUT_NEXT        0xFFFF00FFu /* of a capability's first word: all but the offset of the next one */
#define DEVICE_CONTROL      0x0000FFFFu /* without the device status */
#define ALL_ONES_BUT_KIND   0xFFFFFFF0u
#define BAR_REGISTER(index) (PCI_BAR + 4 * (index))

/* The list of capabilities as a guest sees it. */
enum list {
    LIST_EXPRESS,
    LIST_MSIX,
    LIST_VIRTIO,
    LIST_LENGTH = LIST_VIRTIO + PCI_VIRTIO_STRUCTURES,
};

void pci_config_reset(struct pci_config *config)
{
    config->command = 0;
    config->sized = 0;
    config->msix_control = 0;
}

uint32_t pci_bar_kind(const struct manifest_function *function, uint32_t bar)
{
    return function->bar_kinds >> 4 * bar & PCI_BAR_KIND;
}

uint32_t pci_bar_of(const struct manifest_function *function, uint32_t index)
{
    return index > 0 && (pci_bar_kind(function, index - 1) & PCI_BAR_WIDE) != 0 ? index - 1 : index;
}

uint32_t pci_bar_word(const struct manifest_function *function, uint32_t index, uint64_t value)
{
    return pci_bar_of(function, index) != index ? (uint32_t)(value >> 32)
                                                : (uint32_t)value | pci_bar_kind(function, index);
}

static bool is_bar(uint32_t offset)
{
    return offset >= PCI_BAR && offset < BAR_REGISTER(BH_PCI_BARS);
}

/* Where the first capability is from `number` on, in the order in which a guest sees them; 0: there is none.
 */
static uint32_t capability_from(const struct pci_config *config, uint32_t number)
{
    uint32_t places[LIST_LENGTH] = {[LIST_EXPRESS] = config->express, [LIST_MSIX] = config->msix};

    for (uint32_t i = 0; i < PCI_VIRTIO_STRUCTURES; i++) {
        places[LIST_VIRTIO + i] = config->virtio[i].offset;
    }
    while (number < LIST_LENGTH && places[number] == 0) {
        number++;
    }
    return number < LIST_LENGTH ? places[number] : 0;
}

/* The first word. Other endpoints than integrated ones are behind a port, which the guest does not see. */
static uint32_t express_word(const struct pci_config *config)
{
    uint32_t word = (config->express_words[0] & WITHOUT_NEXT) | capability_from(config, LIST_MSIX)
                                                                    << NEXT_SHIFT;

    return config->function->requester >> BUS_SHIFT == 0 ? word
                                                         : (word & ~PCI_EXPRESS_TYPE) | PCI_EXPRESS_IN_ROOT;
}

static uint32_t express_register(const struct pci_config *config, uint32_t offset)
{
    switch (offset) {
    case 0:
        return express_word(config);
    case PCI_EXPRESS_DEVICE:
        return config->express_words[1] & ~PCI_EXPRESS_FLR;
    case PCI_EXPRESS_CONTROL:
        return config->express_words[2] & DEVICE_CONTROL;
    default:
        return 0;
    }
}

static uint32_t msix_register(const struct pci_config *config, uint32_t offset)
{
    return offset != 0 ? config->msix_words[offset / 4]
                       : PCI_CAPABILITY_MSIX | capability_from(config, LIST_VIRTIO) << NEXT_SHIFT |
                             (config->function->messages - 1) << SIZE_SHIFT | config->msix_control;
}

/* A word of a virtio device's capabilities; 0: there is none at `offset`. */
static uint32_t virtio_register(const struct pci_config *config, uint32_t offset)
{
    for (uint32_t i = 0; i < PCI_VIRTIO_STRUCTURES; i++) {
        const struct pci_virtio *one = &config->virtio[i];

        if (one->offset != 0 && offset == one->offset) {
            return one->words[0] | capability_from(config, LIST_VIRTIO + i + 1) << NEXT_SHIFT;
        }
        if (one->offset != 0 && offset - one->offset < 4 * pci_virtio_words(i)) {
            return one->words[(offset - one->offset) / 4];
        }
    }
    return 0;
}

static uint32_t capability_register(const struct pci_config *config, uint32_t offset)
{
    if (config->express != 0 && offset - config->express < 4 * PCI_EXPRESS_WORDS) {
        return express_register(config, offset - config->express);
    }
    if (config->msix != 0 && offset - config->msix < 4 * PCI_MSIX_WORDS) {
        return msix_register(config, offset - config->msix);
    }
    return virtio_register(config, offset);
}

/* A register of a BAR: its place, or its size while the guest asks for that. */
static uint32_t bar_register(const struct pci_config *config, uint32_t index)
{
    const struct manifest_function *function = config->function;
    uint32_t bar = pci_bar_of(function, index);
    uint64_t value;

    if (function->bar_bytes[bar] == 0) {
        return 0;
    }
    value = (config->sized & 1u << index) != 0 ? ~(function->bar_bytes[bar] - 1) : function->bar_pa[bar];
    return pci_bar_word(function, index, value);
}

uint32_t pci_config_read(const struct pci_config *config, uint32_t offset)
{
    if (is_bar(offset)) {
        return bar_register(config, (offset - PCI_BAR) / 4);
    }
    switch (offset) {
    case PCI_ID:
        return config->function->id;
    case PCI_COMMAND:
        return config->command | (capability_from(config, LIST_EXPRESS) != 0 ? PCI_STATUS_LIST : 0);
    case PCI_CLASS:
        return config->class_code;
    case PCI_SUBSYSTEM:
        return config->subsystem;
    case PCI_CAPABILITIES:
        return capability_from(config, LIST_EXPRESS);
    case PCI_INTERRUPT:
        return config->function->pin << PCI_PIN_SHIFT;
    default:
        return capability_register(config, offset);
    }
}

enum pci_config_effect pci_config_write(struct pci_config *config, uint32_t offset, uint32_t mask,
                                        uint32_t value)
{
    if (is_bar(offset)) {
        uint32_t bit = 1u << (offset - PCI_BAR) / 4;
        bool asks = (mask & value & ALL_ONES_BUT_KIND) == ALL_ONES_BUT_KIND;

        config->sized = asks ? config->sized | bit : config->sized & ~bit;
    } else if (offset == PCI_COMMAND && (mask & COMMAND_REGISTER) != 0) {
        config->command = (config->command & ~mask) | (value & mask & ALLOWED_COMMAND);
        return PCI_CONFIG_COMMAND;
    } else if (config->msix != 0 && offset == config->msix && (mask & ALLOWED_MSIX) != 0) {
        config->msix_control = (config->msix_control & ~mask) | (value & mask & ALLOWED_MSIX);
        return PCI_CONFIG_MSIX;
    }
    return PCI_CONFIG_NOTHING;
}

uint32_t pci_config_command(const struct pci_config *config)
{
    return config->command | PCI_COMMAND_MEMORY | (config->function->pin == 0 ? PCI_COMMAND_INTX_OFF : 0);
}
