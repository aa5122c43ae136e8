/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Checks the PCI bridges: each is on bus 0, has a bus of its own behind it whose configuration space EL2
 * maps, and a window of its own. A function's BARs are in the window of its bridge, or in no bridge's window.
 * Part of manifest_check(), called by manifest_pci.c.
 */
#include "core/manifest_internal.h"

#define BUS_SHIFT    8u
#define DEVICE_SHIFT 3u
#define SLOT_MASK    31u
#define BUS_END      (1u << BUS_SHIFT) /* of the requester ids on bus 0 */
#define NARROW_LIMIT (1ull << 32)      /* a window has 32 bits */

static bool is_multiple(uint64_t value)
{
    return (value & (BH_PCI_WINDOW_BYTES - 1)) == 0;
}

static bool bridge_is_sound(const struct manifest_header *manifest, uint32_t index)
{
    const struct manifest_bridge *bridges = manifest_bridges(manifest);
    const struct manifest_bridge *bridge = &bridges[index];

    if (bridge->requester >> DEVICE_SHIFT == 0 || bridge->requester >= BUS_END || bridge->bus == 0 ||
        bridge->bus >= manifest->pci.config_bytes / BH_PCI_BUS_BYTES || bridge->memory_bytes == 0 ||
        !is_multiple(bridge->memory_pa) || !is_multiple(bridge->memory_bytes) ||
        !range_within(bridge->memory_pa, bridge->memory_bytes, 0, NARROW_LIMIT)) {
        return false;
    }
    for (uint32_t i = 0; i < index; i++) {
        if (bridges[i].requester == bridge->requester || bridges[i].bus == bridge->bus ||
            ranges_overlap(bridge->memory_pa, bridge->memory_bytes, bridges[i].memory_pa,
                           bridges[i].memory_bytes)) {
            return false;
        }
    }
    return true;
}

bool manifest_check_bridges(struct manifest_check *check)
{
    const struct manifest_header *manifest = check->manifest;

    for (uint32_t i = 0; i < manifest->bridges.count; i++) {
        if (!bridge_is_sound(manifest, i)) {
            return manifest_refuse(check, BH_MANIFEST_ERROR_PCI, &manifest_bridges(manifest)[i]);
        }
    }
    return true;
}

/* Whether each of the function's BARs is in the bridge's window, or outside of it. */
static bool bars_agree(const struct manifest_function *function, const struct manifest_bridge *bridge,
                       bool behind)
{
    for (uint32_t bar = 0; bar < BH_PCI_BARS; bar++) {
        uint64_t pa = function->bar_pa[bar];
        uint64_t bytes = function->bar_bytes[bar];

        if (bytes != 0 && (behind ? !range_within(pa, bytes, bridge->memory_pa, bridge->memory_bytes)
                                  : ranges_overlap(pa, bytes, bridge->memory_pa, bridge->memory_bytes))) {
            return false;
        }
    }
    return true;
}

bool manifest_function_is_behind_its_bridge(const struct manifest_header *manifest,
                                            const struct manifest_function *function)
{
    const struct manifest_bridge *bridges = manifest_bridges(manifest);
    uint32_t bus = function->requester >> BUS_SHIFT;
    bool found = bus == 0;

    if (bus != 0 && (function->requester >> DEVICE_SHIFT & SLOT_MASK) != 0) {
        return false; /* a port has one device behind it; ACS would not keep another one apart */
    }
    for (uint32_t i = 0; i < manifest->bridges.count; i++) {
        bool behind = bridges[i].bus == bus;

        /* A bridge in the function's device would not be kept apart from it. */
        if (bridges[i].requester >> DEVICE_SHIFT == function->requester >> DEVICE_SHIFT ||
            !bars_agree(function, &bridges[i], behind)) {
            return false;
        }
        found = found || behind;
    }
    return found;
}
