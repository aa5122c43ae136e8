// SPDX-License-Identifier: Apache-2.0
//
// Registers and commands of an ITS, and the MSI-X capability (its.h).
#include "guests/messages/its.h"

#include <arch/mmio.h>
#include <arch/mmu.h>
#include <arch/sysreg.h>

#include "guests/runtime/board.h"
#include "guests/runtime/pci.h"
#include "guests/runtime/string.h"

enum {
    enabled = 1,
    id_bits = 13,    // LPIs have 14 bits, the fewest that are allowed
    property = 0xA3, // the priority of all interrupts, and enabled
    polls = 100,     // a hypervisor executes commands while the guest writes to gits_cwriter
    queue_bytes = 4096,
    command_bytes = 32,
    config_capabilities = 0x34,
    capability_msix = 0x11,
    most_capabilities = 48,
    entry_bytes = 16,
};

#define BASE_VALID  (1ull << 63)
#define MSIX_ENABLE (1u << 31)
#define MSIX_MASK   (1u << 30)

bool its_do(struct its *its, const uint64_t command[ITS_COMMAND_WORDS])
{
    volatile uint64_t *queue = its->memory->queue + its->written / 8;

    for (uint32_t i = 0; i < ITS_COMMAND_WORDS; i++)
        queue[i] = command[i];
    its->written = (its->written + command_bytes) % queue_bytes;
    cpu_sync_memory();
    mmio_write64(its->registers + gits_cwriter, its->written);
    for (uint32_t i = 0; i < polls; i++)
        if (mmio_read64(its->registers + gits_creadr) == its->written)
            return true;
    return false;
}

bool its_start(struct its *its)
{
    uint64_t map_first[ITS_COMMAND_WORDS] = {its_mapc, 0, BASE_VALID, 0};

    its->redistributor = board()->gic_redistributor.address;
    mmio_write32(its->registers + gits_ctlr, 0);
    mmio_write32(its->redistributor + gicr_ctlr, 0);
    memset(its->memory->properties, property, sizeof(its->memory->properties));
    mmio_write64(its->redistributor + gicr_propbaser, mmu_physical(its->memory->properties) | id_bits);
    mmio_write64(its->redistributor + gicr_pendbaser, mmu_physical(its->memory->pending));
    mmio_write32(its->redistributor + gicr_ctlr, enabled);
    mmio_write64(its->registers + gits_cbaser, BASE_VALID | mmu_physical(its->memory->queue));
    mmio_write64(its->registers + gits_cwriter, 0);
    its->written = 0;
    mmio_write32(its->registers + gits_ctlr, enabled);
    return its_do(its, map_first);
}

bool its_map(struct its *its, uint32_t device, uint32_t count, uint32_t lpi)
{
    uint64_t bits = (uint64_t)__builtin_ctz(count);
    uint64_t map_device[ITS_COMMAND_WORDS] = {(uint64_t)device << 32 | its_mapd, bits - 1,
                                              BASE_VALID | mmu_physical(its->memory->events), 0};

    if (!its_do(its, map_device))
        return false;
    for (uint32_t event = 0; event < count; event++) {
        uint64_t map_event[ITS_COMMAND_WORDS] = {(uint64_t)device << 32 | its_mapti,
                                                 (uint64_t)(lpi + event) << 32 | event, 0, 0};

        if (!its_do(its, map_event))
            return false;
    }
    return true;
}

// The capability's offset; 0: there is none.
static uint32_t find_msix(uint64_t config)
{
    uint32_t offset = mmio_read32(config + config_capabilities) & 0xFC;

    for (uint32_t i = 0; offset != 0 && i < most_capabilities; i++) {
        uint32_t word = mmio_read32(config + offset);

        if ((word & 0xFF) == capability_msix)
            return offset;
        offset = word >> 8 & 0xFC;
    }
    return 0;
}

uint64_t msix_enable(uint64_t config)
{
    uint32_t offset = find_msix(config);
    uint32_t place;
    uint64_t bar;

    if (offset == 0)
        return 0;
    mmio_write32(config + offset, (mmio_read32(config + offset) | MSIX_ENABLE) & ~MSIX_MASK);
    place = mmio_read32(config + offset + 4);
    bar = mmio_read32(config + pci_bar_0 + 4 * (place & 7)) & ~(uint32_t)pci_bar_kind;
    return bar + (place & ~7u);
}

void msix_set(uint64_t table, uint32_t number, uint64_t address, uint32_t data)
{
    uint64_t entry = table + number * (uint64_t)entry_bytes;

    mmio_write32(entry + 12, 1); // masked while it changes
    mmio_write32(entry, (uint32_t)address);
    mmio_write32(entry + 4, (uint32_t)(address >> 32));
    mmio_write32(entry + 8, data);
    mmio_write32(entry + 12, 0);
}
