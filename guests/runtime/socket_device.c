// SPDX-License-Identifier: Apache-2.0
//
// Finds the device and its interrupt: behind the MMIO transport, or on PCI in a program that is compiled with
// SOCKET_ON_PCI.
#include "guests/runtime/socket_device.h"

#include <arch/mmu.h>

#include "guests/runtime/board.h"
#include "guests/runtime/gic.h"
#include "guests/socket/socket.h"

enum { spi_first_intid = 32 };

static uint32_t device_intid; // 0: none was found

#ifdef SOCKET_ON_PCI

#include "guests/runtime/pci.h"
#include "guests/runtime/port/socket_pci.h"

enum {
    virtio_vendor = 0x1AF4,
    first_modern_device = 0x1040,
    cell_bytes = 4,
    map_tail = 2, // cells of the only row of `interrupt-map` from the interrupt's number on; a controller
                  // with addresses has cells of its own before its kind and number
};

struct socket_pci socket_pci;

// The places of the registers, from the function's capabilities (virtio 1.2, 4.1.4).
static void find_places(uint64_t config, uint64_t registers)
{
    uint64_t *const places[] = {&socket_pci.common, &socket_pci.notify, &socket_pci.isr, &socket_pci.device};
    uint32_t at = mmio_read32(config + pci_capabilities) & 0xFF;

    while (at != 0) {
        uint32_t first = mmio_read32(config + at);
        uint32_t type = first >> 24;

        if (type >= 1 && type <= 4)
            *places[type - 1] = registers + mmio_read32(config + at + 8);
        at = first >> 8 & 0xFF;
    }
}

// The device is the function in slot 0 of a root that has nothing else.
static bool find_device(uint64_t *registers, uint32_t *intid)
{
    const struct board *b = board();
    struct dt_node node;
    struct dt_value value;
    struct dt_range range;
    uint32_t number;

    for (unsigned nth = 0; dt_find_compatible(&b->tree, "pci-host-ecam-generic", nth, &node); nth++) {
        if (!dt_reg(&b->tree, &node, 0, &range) ||
            mmio_read32(range.address + pci_id) !=
                ((first_modern_device + socket_pci_device_id) << 16 | virtio_vendor))
            continue;
        if (!dt_property(&b->tree, &node, "interrupt-map", &value) ||
            !dt_cell(&value, value.length / cell_bytes - map_tail, &number))
            return false;
        *registers = pci_registers(range.address);
        pci_enable(range.address);
        find_places(range.address, *registers);
        *intid = number + spi_first_intid;
        return true;
    }
    return false;
}

#else

static bool find_device(uint64_t *registers, uint32_t *intid)
{
    const struct board *b = board();
    struct dt_node node;
    struct dt_value value;
    struct dt_range range;
    uint32_t number;

    if (!dt_find_compatible(&b->tree, "virtio,mmio", 0, &node) || !dt_reg(&b->tree, &node, 0, &range) ||
        !dt_property(&b->tree, &node, "interrupts", &value) || !dt_cell(&value, 1, &number))
        return false;
    *registers = range.address;
    *intid = number + spi_first_intid;
    return true;
}

#endif

static void use_pool(void)
{
    const struct dt_range *pool = &board()->socket_pool;

    if (pool->size != 0)
        socket_use_pool((void *)(uintptr_t)mmu_virtual(pool->address), (size_t)pool->size);
}

bool socket_init(void)
{
    uint64_t registers;
    uint32_t intid;

    use_pool();
    if (!find_device(&registers, &intid) || !gic_init() || !socket_start(registers))
        return false;
    device_intid = intid;
    gic_enable_shared(intid);
    return true;
}

void socket_interrupt(uint32_t intid)
{
    if (device_intid != 0 && intid == device_intid)
        socket_acknowledge();
}
