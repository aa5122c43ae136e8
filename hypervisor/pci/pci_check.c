/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares a function with the manifest: identity, kind, interrupt pin, and kind and size of each BAR;
 * finds the capabilities that EL2 uses or that a guest sees. PCI Local Bus 3.0, 6.2.5.1 (sizes of BARs), 6.7
 * (list of capabilities).
 */
#include "core/pci_virtio.h"
#include "pci/pci_function.h"
#include <stddef.h>
#include <string.h>

#define CLASS_SHIFT          24u
#define CLASS_BRIDGE         0x06u /* of any kind: a host bridge is not silenced */
#define HEADER_TYPE          0x007F0000u
#define MULTIFUNCTION        0x00800000u
#define LAST_PLACE           0xF4u /* the words that EL2 uses end where extended capabilities begin */
#define CAPABILITY_ALLOCATES 0x14u /* Enhanced Allocation */
#define MOST_STRUCTURES      8u    /* places of virtio structures that are read: a bound of the time */
#define BAR_REGISTER(number) (PCI_BAR + 4 * (number))

/* The value of a BAR that all ones have been written to. */
static uint32_t sized(const struct manifest_function *function, uint32_t bar)
{
    pci_write(function, BAR_REGISTER(bar), UINT32_MAX);
    return pci_read(function, BAR_REGISTER(bar));
}

/* Whether the function's BAR has the kind and size that the manifest says. A BAR of I/O addresses counts as
 * none: EL2 never lets a function answer there. `*wide`: the next register has the upper half. */
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
    bool wide;

    for (uint32_t bar = 0; bar < BH_PCI_BARS; bar += wide ? 2 : 1) {
        if (!bar_agrees(function, bar, &wide)) {
            return false;
        }
    }
    return true;
}

/* What EL2 keeps of a function's capabilities. */
struct capabilities {
    uint32_t express; /* as in struct pci_config */
    uint32_t express_words[PCI_EXPRESS_WORDS];
    uint32_t msix;
    uint32_t msix_words[PCI_MSIX_WORDS];
    struct pci_virtio virtio[PCI_VIRTIO_STRUCTURES];
    uint32_t looked;    /* at capabilities of virtio structures */
    uint64_t heads;     /* bit n: the capability at word n has been read */
    uint64_t shown;     /* bit n: word n is part of a capability that a guest may see */
    const char *refuse; /* why the function cannot be given; NULL: nothing is known */
};

/* Takes note that a guest may see the words. The device says where they are, and could let them overlap. */
static void show(struct capabilities *found, uint32_t offset, uint32_t count)
{
    uint64_t words = ((UINT64_C(1) << count) - 1) << offset / 4;

    if ((found->shown & words) != 0) {
        found->refuse = "its capabilities overlap";
    }
    found->shown |= words;
}

static void read_words(const struct manifest_function *config, uint32_t offset, uint32_t *words,
                       uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        words[i] = pci_read(config, offset + 4 * i);
    }
}

/* Takes note of where a structure of a virtio device is. If there are several of one type, drivers use the
 * first one (virtio 1.2, 4.1.4.1), and so a guest sees the first one that it can use. */
static void take_virtio(const struct manifest_function *config, struct capabilities *found, uint32_t offset,
                        uint32_t word)
{
    uint32_t words[PCI_VIRTIO_MOST_WORDS] = {0};
    uint32_t index = pci_virtio_index(config, offset, word);
    enum pci_virtio_place place;

    if (index == PCI_VIRTIO_STRUCTURES || found->virtio[index].offset != 0 ||
        found->looked++ >= MOST_STRUCTURES) {
        return;
    }
    read_words(config, offset, words, pci_virtio_words(index));
    place = pci_virtio_locate(config, words);
    if (place == PCI_VIRTIO_OUTSIDE) {
        found->refuse = "its capabilities name registers that are not within a BAR (virtio)";
    } else if (place == PCI_VIRTIO_PLACED) {
        show(found, offset, pci_virtio_words(index));
        words[0] = pci_virtio_header(index);
        found->virtio[index].offset = offset;
        memcpy(found->virtio[index].words, words, sizeof words);
    }
}

/* Takes note of a capability. Turns off message interrupts that a boot loader has left enabled: the function
 * would write to the addresses that the boot loader has set, and not use its interrupt line. */
static void take_capability(const struct manifest_function *config, struct capabilities *found,
                            uint32_t offset, uint32_t word)
{
    switch (word & 0xFF) {
    case PCI_CAPABILITY_MSI:
        pci_write(config, offset, word & ~PCI_MSI_ENABLE);
        break;
    case PCI_CAPABILITY_MSIX:
        pci_write(config, offset, word & ~PCI_MSIX_ENABLE);
        if (offset <= LAST_PLACE) {
            found->msix = offset;
            read_words(config, offset, found->msix_words, PCI_MSIX_WORDS);
            show(found, offset, PCI_MSIX_WORDS);
        }
        break;
    case PCI_CAPABILITY_EXPRESS:
        if (offset <= LAST_PLACE) {
            found->express = offset;
            read_words(config, offset, found->express_words, PCI_EXPRESS_WORDS);
            show(found, offset, PCI_EXPRESS_WORDS);
        }
        break;
    case PCI_CAPABILITY_VENDOR:
        take_virtio(config, found, offset, word);
        break;
    case CAPABILITY_ALLOCATES:
        found->refuse = "it may have registers outside of its BARs (Enhanced Allocation)";
        break;
    default:
        break;
    }
}

/* The device makes the list, so the list may be circular: it ends where it comes back. Returns what is wrong
 * with it, or NULL. */
static const char *read_capabilities(const struct manifest_function *config, struct capabilities *found)
{
    uint32_t offset;

    if ((pci_read(config, PCI_COMMAND) & PCI_STATUS_LIST) == 0) {
        return NULL;
    }
    offset = pci_read(config, PCI_CAPABILITIES) & PCI_CAPABILITY_POINTER;
    while (offset >= PCI_FIRST_CAPABILITY && (found->heads >> offset / 4 & 1) == 0) {
        uint32_t word = pci_read(config, offset);

        if (word == PCI_NO_FUNCTION) {
            return "its list of capabilities cannot be read";
        }
        found->heads |= UINT64_C(1) << offset / 4;
        take_capability(config, found, offset, word);
        if (found->refuse != NULL) {
            return found->refuse;
        }
        offset = word >> PCI_CAPABILITY_NEXT & PCI_CAPABILITY_POINTER;
    }
    return NULL;
}

static bool is_same_virtio(const struct pci_virtio *before, const struct pci_virtio *now)
{
    bool same = true;

    for (uint32_t i = 0; i < PCI_VIRTIO_STRUCTURES; i++) {
        same = same && before[i].offset == now[i].offset;
        for (uint32_t word = 0; word < PCI_VIRTIO_MOST_WORDS; word++) {
            same = same && before[i].words[word] == now[i].words[word];
        }
    }
    return same;
}

/* Keeps the capabilities that the function has at the start. Later it must still have them: otherwise EL2
 * could not reset the function any more, or would write to another register. */
static const char *take_capabilities(struct pci_function *function)
{
    struct capabilities found = {0};
    const char *difference = read_capabilities(function->config.function, &found);

    if (difference != NULL) {
        return difference;
    }
    if (function->config.function->messages != 0 &&
        (found.msix == 0 || PCI_MSIX_SIZE(found.msix_words[0]) < function->config.function->messages)) {
        return "it has fewer message interrupts (MSI-X) than the manifest says";
    }
    if (!function->known) {
        function->config.express = found.express;
        memcpy(function->config.express_words, found.express_words, sizeof found.express_words);
        function->config.msix = function->config.function->messages != 0 ? found.msix : 0;
        memcpy(function->config.msix_words, found.msix_words, sizeof found.msix_words);
        memcpy(function->config.virtio, found.virtio, sizeof found.virtio);
    } else if (found.express != function->config.express ||
               (function->config.msix != 0 && found.msix != function->config.msix) ||
               !is_same_virtio(function->config.virtio, found.virtio) ||
               (found.express_words[PCI_EXPRESS_DEVICE / 4] & PCI_EXPRESS_FLR) !=
                   (function->config.express_words[PCI_EXPRESS_DEVICE / 4] & PCI_EXPRESS_FLR)) {
        return "it has other capabilities than at the start";
    }
    return NULL;
}

/* Why EL2 cannot give the function alone; NULL: it can. */
static const char *is_alone(const struct manifest_function *config)
{
    paddr_t place = pci_place(system_manifest(), config->requester);

    if ((pci_read(config, PCI_HEADER) & HEADER_TYPE) != 0 ||
        pci_read(config, PCI_CLASS) >> CLASS_SHIFT == CLASS_BRIDGE) {
        return "it is a bridge";
    }
    if ((pci_read(config, PCI_HEADER) & MULTIFUNCTION) != 0 &&
        (config->flags & BH_FUNCTION_FLAG_MULTIFUNCTION) == 0) {
        return "its device has several functions";
    }
    /* A function need not have what it never does, so nothing is needed. */
    if ((config->flags & BH_FUNCTION_FLAG_ISOLATED) != 0 &&
        !pci_acs_enable(place, PCI_ACS_REQUESTS | PCI_ACS_COMPLETIONS, 0)) {
        return "its ACS does not keep it apart from other functions of its device";
    }
    return NULL;
}

const char *pci_function_check(struct pci_function *function)
{
    const struct manifest_function *config = function->config.function;
    uint32_t id = pci_read(config, PCI_ID);
    const char *difference;

    if (!pci_answers(id)) {
        return "it is not there";
    }
    if (id != config->id) {
        return "it is another device";
    }
    difference = is_alone(config);
    if (difference != NULL) {
        return difference;
    }
    pci_write(config, PCI_COMMAND, PCI_COMMAND_OFF);
    if ((pci_read(config, PCI_INTERRUPT) >> PCI_PIN_SHIFT & PCI_PIN) != config->pin) {
        return "it has another interrupt pin";
    }
    if (!bars_agree(config)) {
        return "a BAR has another size or kind";
    }
    function->config.msix_control = 0;
    difference = take_capabilities(function);
    if (difference == NULL && !function->known) {
        function->config.class_code = pci_read(config, PCI_CLASS);
        function->config.subsystem = pci_read(config, PCI_SUBSYSTEM);
        function->known = true;
    }
    return difference;
}

/* Register `index` of the BARs as the manifest has it. */
static uint32_t placed(const struct manifest_function *function, uint32_t index)
{
    return pci_bar_word(function, index, function->bar_pa[pci_bar_of(function, index)]);
}

static bool is_used(const struct manifest_function *function, uint32_t index)
{
    return function->bar_bytes[pci_bar_of(function, index)] != 0;
}

void pci_place_bars(const struct manifest_function *function)
{
    pci_write(function, PCI_ROM, 0);
    for (uint32_t i = 0; i < BH_PCI_BARS; i++) {
        if (is_used(function, i)) {
            pci_write(function, BAR_REGISTER(i), placed(function, i));
        }
    }
}

bool pci_bars_are_placed(const struct manifest_function *function)
{
    for (uint32_t i = 0; i < BH_PCI_BARS; i++) {
        if (is_used(function, i) && pci_read(function, BAR_REGISTER(i)) != placed(function, i)) {
            return false;
        }
    }
    return true;
}
