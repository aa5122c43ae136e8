/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Checks the PCI functions of domains. The requester id of each is a stream of its domain, so the SMMU
 * confines it. The registers behind its BARs are devices of its domain at the same guest-physical addresses,
 * in whole pages, and no two BARs overlap. Two domains have functions of one device only if EL2 isolates
 * these. Part of manifest_check(); devices and streams have been checked before. manifest_bridges.c checks
 * the bridges.
 */
#include "core/manifest_internal.h"
#include "core/pci_config.h"

#define SLOTS           32u
#define SMALLEST_BAR    BH_PAGE_BYTES /* registers beside a smaller one would answer to no one */
#define NARROW_LIMIT    (1ull << 32)
#define MOST_BUSES      256u
#define BUS_SHIFT       8u
#define DEVICE_SHIFT    3u
#define NUMBER          7u /* of the function in its device */
#define ALL_FLAGS       ((uint32_t)BH_FUNCTION_FLAG_MULTIFUNCTION | (uint32_t)BH_FUNCTION_FLAG_ISOLATED)
#define BARS_OF(number) ((1u << 4 * (number)) - 1)

static bool has_no_pci(const struct manifest_header *manifest)
{
    const struct manifest_pci *pci = &manifest->pci;

    return (pci->config_pa | pci->config_bytes | pci->others_pa | pci->others_bytes) == 0 &&
           (manifest->functions.count | manifest->bridges.count) == 0;
}

static bool host_is_sound(const struct manifest_header *manifest)
{
    const struct manifest_pci *pci = &manifest->pci;

    return pci->config_pa != 0 && manifest->smmu.pa != 0 && pci->config_bytes != 0 &&
           pci->config_bytes % BH_PCI_BUS_BYTES == 0 &&
           pci->config_bytes <= (uint64_t)MOST_BUSES * BH_PCI_BUS_BYTES &&
           (pci->others_pa == 0 || pci->others_pa == pci->config_pa + pci->config_bytes) &&
           pci->others_bytes <= (uint64_t)MOST_BUSES * BH_PCI_BUS_BYTES - pci->config_bytes;
}

static bool has_stream(const struct manifest_header *manifest, const struct manifest_function *function)
{
    const struct manifest_stream *streams = manifest_streams(manifest);

    for (uint32_t i = 0; i < manifest->streams.count; i++) {
        if (streams[i].domain == function->domain && streams[i].stream == function->requester) {
            return true;
        }
    }
    return false;
}

/* Whether the BAR's registers belong to the domain, at the same guest-physical addresses. */
static bool is_given(const struct manifest_header *manifest, uint32_t domain, uint64_t pa, uint64_t bytes)
{
    const struct manifest_domain *owner = &manifest_domains(manifest)[domain];
    const struct manifest_device *devices = manifest_devices(manifest) + owner->first_device;

    for (uint32_t i = 0; i < owner->device_count; i++) {
        if (devices[i].ipa == devices[i].pa && range_within(pa, bytes, devices[i].pa, devices[i].bytes)) {
            return true;
        }
    }
    return false;
}

static bool bar_is_sound(const struct manifest_header *manifest, const struct manifest_function *function,
                         uint32_t bar)
{
    uint64_t pa = function->bar_pa[bar];
    uint64_t bytes = function->bar_bytes[bar];
    uint32_t kind = pci_bar_kind(function, bar);
    bool wide = (kind & PCI_BAR_WIDE) != 0;

    if (bytes == 0) {
        return pa == 0 && kind == 0;
    }
    return bytes >= SMALLEST_BAR && (bytes & (bytes - 1)) == 0 && (kind & 3) == 0 &&
           (pa & (bytes - 1)) == 0 && range_within(pa, bytes, 0, wide ? MANIFEST_PA_LIMIT : NARROW_LIMIT) &&
           (!wide || (bar + 1 < BH_PCI_BARS && function->bar_bytes[bar + 1] == 0)) &&
           is_given(manifest, function->domain, pa, bytes);
}

/* Whether the BAR overlaps an earlier one of the same function, or one of an earlier function. */
static bool overlaps(const struct manifest_header *manifest, uint32_t index, uint32_t bar)
{
    const struct manifest_function *functions = manifest_functions(manifest);
    uint64_t pa = functions[index].bar_pa[bar];
    uint64_t bytes = functions[index].bar_bytes[bar];

    for (uint32_t i = 0; i <= index; i++) {
        for (uint32_t j = 0; j < (i < index ? BH_PCI_BARS : bar); j++) {
            if (bytes != 0 && ranges_overlap(pa, bytes, functions[i].bar_pa[j], functions[i].bar_bytes[j])) {
                return true;
            }
        }
    }
    return false;
}

/* Whether functions of the two may be of two domains, or of one, as they are. */
static bool are_apart(const struct manifest_function *one, const struct manifest_function *other)
{
    if (one->requester == other->requester || one->guest_slot == other->guest_slot) {
        return false;
    }
    return one->requester >> DEVICE_SHIFT != other->requester >> DEVICE_SHIFT ||
           ((one->flags & other->flags & BH_FUNCTION_FLAG_MULTIFUNCTION) != 0 &&
            (one->domain == other->domain || (one->flags & other->flags & BH_FUNCTION_FLAG_ISOLATED) != 0));
}

/* Whether a function that is not function 0 of its device says that the device has several. */
static bool flags_are_sound(const struct manifest_function *function)
{
    return (function->flags & ~ALL_FLAGS) == 0 &&
           ((function->flags & BH_FUNCTION_FLAG_MULTIFUNCTION) != 0 ||
            ((function->requester & NUMBER) == 0 && function->flags == 0));
}

static bool function_is_sound(const struct manifest_header *manifest, uint32_t index)
{
    const struct manifest_function *functions = manifest_functions(manifest);
    const struct manifest_function *function = &functions[index];

    if (function->domain >= manifest->domains.count || function->guest_slot >= SLOTS ||
        function->requester >= MOST_BUSES << BUS_SHIFT || !flags_are_sound(function) ||
        !has_stream(manifest, function) || function->pin > PCI_MOST_PIN ||
        (function->bar_kinds & ~BARS_OF(BH_PCI_BARS)) != 0) {
        return false;
    }
    for (uint32_t i = 0; i < index; i++) {
        if (!are_apart(&functions[i], function)) {
            return false;
        }
    }
    if (!manifest_function_is_behind_its_bridge(manifest, function)) {
        return false;
    }
    for (uint32_t i = 0; i < BH_PCI_BARS; i++) {
        if (!bar_is_sound(manifest, function, i) || overlaps(manifest, index, i)) {
            return false;
        }
    }
    return true;
}

bool manifest_check_pci(struct manifest_check *check)
{
    const struct manifest_header *manifest = check->manifest;

    if (has_no_pci(manifest)) {
        return manifest_check_its(check);
    }
    if (!host_is_sound(manifest)) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_PCI, &manifest->pci);
    }
    if (!manifest_check_bridges(check)) {
        return false;
    }
    for (uint32_t i = 0; i < manifest->functions.count; i++) {
        if (!function_is_sound(manifest, i)) {
            return manifest_refuse(check, BH_MANIFEST_ERROR_PCI, &manifest_functions(manifest)[i]);
        }
    }
    return manifest_check_its(check);
}
