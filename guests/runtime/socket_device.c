// SPDX-License-Identifier: Apache-2.0
//
// Finds the device and its interrupt.
#include "guests/runtime/socket_device.h"

#include "guests/runtime/board.h"
#include "guests/runtime/gic.h"
#include "guests/socket/socket.h"

enum { spi_first_intid = 32 };

static uint32_t device_intid; // 0: none was found

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

bool socket_init(void)
{
    uint64_t registers;
    uint32_t intid;

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
