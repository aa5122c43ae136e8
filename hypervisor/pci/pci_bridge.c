/* SPDX-License-Identifier: Apache-2.0
 *
 * Registers of bridges: PCI-to-PCI Bridge 1.2, 3.2.5, and PCI Express Base 7.5.1.3. ACS: PCI Express Base
 * 6.12.
 */
#include "pci/pci_bridge.h"
#include "console/console.h"
#include "pci/pci_function.h"
#include "vm/clock.h"

#define HEADER_TYPE   0x007F0000u /* without the bit that there are other functions */
#define TYPE_BRIDGE   0x00010000u
#define BUS_NUMBERS   0x18u /* primary, secondary, subordinate bus, and a timer of conventional PCI */
#define IO_WINDOW     0x1Cu
#define MEMORY_WINDOW 0x20u
#define PREFETCHABLE  0x24u
#define UPPER_BASE    0x28u /* of the window PREFETCHABLE */
#define UPPER_LIMIT   0x2Cu
#define BRIDGE_ROM    0x38u
#define CONTROL       0x3Cu /* in the upper half; interrupt line and pin below */
#define CONTROL_RESET 0x00400000u
#define BUSES         0x00FFFFFFu
#define NO_IO_WINDOW  0x000000F0u /* ends below its start; status bits above are cleared by ones */
#define NO_WINDOW     0x0000FFF0u
#define WINDOW_FIELDS 0xFFF0FFF0u
#define LIMIT_MASK    0xFFF00000u
#define BASE_SHIFT    16u
#define BRIDGE_ON     (PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_INTX_OFF)
#define ROOT_TELLS    0x00000010u /* root control: software sees that a function is not ready */
#define ROOT_CAN_TELL 0x00010000u /* root capabilities */
#define NEEDED        (PCI_ACS_SOURCE | PCI_ACS_REQUESTS | PCI_ACS_COMPLETIONS | PCI_ACS_UPSTREAM)

/* By bridge, in the order of the manifest: it returns PCI_NOT_READY in place of waiting for a function. */
static bool tells[BH_MAX_BRIDGES];

void pci_bridge_silence(paddr_t place)
{
    if ((pci_read_at(place, PCI_HEADER) & HEADER_TYPE) != 0) {
        pci_write_at(place, CONTROL, CONTROL_RESET);
        pci_write_at(place, BUS_NUMBERS, 0);
        (void)pci_read_at(place, BUS_NUMBERS); /* the writes have arrived */
    }
}

static paddr_t place_of(const struct manifest_bridge *bridge)
{
    return pci_place(system_manifest(), bridge->requester);
}

/* The register of a window of 32 bits: upper bits of its last address and of its first one. */
static uint32_t window_of(const struct manifest_bridge *bridge)
{
    uint32_t last = (uint32_t)(bridge->memory_pa + bridge->memory_bytes - 1);

    return (last & LIMIT_MASK) | (uint32_t)bridge->memory_pa >> BASE_SHIFT;
}

/* Whether a register has, in the bits of `mask`, what is written to it. */
static bool set(paddr_t place, uint32_t offset, uint32_t mask, uint32_t value)
{
    pci_write_at(place, offset, value);
    return (pci_read_at(place, offset) & mask) == (value & mask);
}

/* Lets the window for prefetchable memory end below its start. A bridge need not have this window, and its
 * registers then read as zero. */
static bool close_prefetchable(paddr_t place)
{
    pci_write_at(place, UPPER_BASE, UINT32_MAX);
    pci_write_at(place, UPPER_LIMIT, 0);
    return set(place, PREFETCHABLE, WINDOW_FIELDS, NO_WINDOW) || pci_read_at(place, PREFETCHABLE) == 0;
}

/* Turns off message interrupts of the bridge itself, which a boot loader may have left on. */
static void silence_messages(paddr_t place)
{
    uint32_t msi = pci_capability(place, PCI_CAPABILITY_MSI);
    uint32_t msix = pci_capability(place, PCI_CAPABILITY_MSIX);

    if (msi != 0) {
        pci_write_at(place, msi, pci_read_at(place, msi) & ~PCI_MSI_ENABLE);
    }
    if (msix != 0) {
        pci_write_at(place, msix, pci_read_at(place, msix) & ~PCI_MSIX_ENABLE);
    }
}

/* Payloads are as long as functions have them after a reset, and no requester id names more than 8 functions
 * of a device (ARI). A root port returns PCI_NOT_READY, in place of waiting for a function; returns whether
 * this one can. Status bits in the upper halves are cleared by ones. */
static bool settle_express(paddr_t place)
{
    uint32_t express = pci_capability(place, PCI_CAPABILITY_EXPRESS);
    uint32_t control;

    if (express == 0) {
        return false;
    }
    control = pci_read_at(place, express + PCI_EXPRESS_CONTROL) & 0xFFFFu;
    pci_write_at(place, express + PCI_EXPRESS_CONTROL, control & ~PCI_EXPRESS_PAYLOAD);
    pci_write_at(place, express + PCI_EXPRESS_CONTROL2, 0);
    if ((pci_read_at(place, express) & PCI_EXPRESS_TYPE) == PCI_EXPRESS_ROOT_PORT &&
        (pci_read_at(place, express + PCI_EXPRESS_ROOT) & ROOT_CAN_TELL) != 0) {
        control = pci_read_at(place, express + PCI_EXPRESS_ROOT) & 0xFFFFu;
        pci_write_at(place, express + PCI_EXPRESS_ROOT, control | ROOT_TELLS);
        return true;
    }
    return false;
}

/* The bridge's own registers and ROM get no place in its parent's window, where functions' BARs are. */
static bool settle_itself(paddr_t place)
{
    pci_write_at(place, PCI_BAR, 0);
    pci_write_at(place, PCI_BAR + 4, 0);
    pci_write_at(place, BRIDGE_ROM, 0);
    silence_messages(place);
    return settle_express(place);
}

/* Whether the bridge has registers of its own behind a BAR. It answers nowhere yet. */
static bool has_registers(paddr_t place)
{
    pci_write_at(place, PCI_BAR, UINT32_MAX);
    pci_write_at(place, PCI_BAR + 4, UINT32_MAX);
    return (pci_read_at(place, PCI_BAR) | pci_read_at(place, PCI_BAR + 4)) != 0;
}

/* Turns on what the bridge passes. I/O addresses stay off in the command register. */
static bool pass(const struct manifest_bridge *bridge, paddr_t place)
{
    return set(place, BUS_NUMBERS, BUSES, bridge->bus << 16 | bridge->bus << 8) &&
           set(place, MEMORY_WINDOW, WINDOW_FIELDS, window_of(bridge)) && close_prefetchable(place) &&
           set(place, IO_WINDOW, 0, NO_IO_WINDOW) &&
           set(place, PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER, BRIDGE_ON);
}

/* Why the bridge cannot be used; NULL: it passes accesses to its window down, and requests of functions up.
 * The bus behind it is still in reset. */
static const char *enable(const struct manifest_bridge *bridge, bool *can_tell)
{
    paddr_t place = place_of(bridge);
    uint32_t wanted = NEEDED | PCI_ACS_BLOCK;

    if (pci_read_at(place, PCI_ID) != bridge->id) {
        return "it is not there, or another device";
    }
    if ((pci_read_at(place, PCI_HEADER) & HEADER_TYPE) != TYPE_BRIDGE) {
        return "it is not a bridge";
    }
    wanted |= has_registers(place) ? PCI_ACS_ENHANCED : 0;
    if (!pci_acs_enable(place, wanted, NEEDED)) {
        return "its ACS does not isolate what is behind it";
    }
    *can_tell = settle_itself(place);
    return pass(bridge, place) ? NULL : "its registers do not keep what is written";
}

bool pci_bridge_tells(const struct manifest_function *function)
{
    const struct manifest_bridge *bridge = pci_bridge_of(function);

    return bridge != NULL && tells[bridge - manifest_bridges(system_manifest())];
}

const struct manifest_bridge *pci_bridge_of(const struct manifest_function *function)
{
    const struct manifest_header *manifest = system_manifest();

    for (uint32_t i = 0; i < manifest->bridges.count; i++) {
        const struct manifest_bridge *bridge = &manifest_bridges(manifest)[i];

        if (bridge->bus == PCI_BUS(function->requester)) {
            return bridge;
        }
    }
    return NULL;
}

void pci_bridge_reset(const struct manifest_bridge *bridge, bool begin)
{
    pci_write_at(place_of(bridge), CONTROL, begin ? CONTROL_RESET : 0);
}

bool pci_bridges_init(void)
{
    const struct manifest_header *manifest = system_manifest();

    for (uint32_t i = 0; i < manifest->bridges.count; i++) {
        const struct manifest_bridge *bridge = &manifest_bridges(manifest)[i];
        const char *difference = enable(bridge, &tells[i]);

        if (difference != NULL) {
            console_log("PCI: bridge 00:%02x.%x: %s", PCI_SLOT(bridge->requester),
                        PCI_NUMBER(bridge->requester), difference);
            return false;
        }
    }
    if (manifest->bridges.count == 0) {
        return true;
    }
    pci_wait_until(clock_now() + clock_ticks(PCI_HOLD_NS)); /* pci_silence() began it */
    for (uint32_t i = 0; i < manifest->bridges.count; i++) {
        pci_bridge_reset(&manifest_bridges(manifest)[i], false);
    }
    return true;
}
