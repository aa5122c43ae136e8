// SPDX-License-Identifier: Apache-2.0
//
// Selects the driver of the interrupt controller that the device tree describes.
#include "guests/runtime/gic.h"

#include <arch/mmio.h>

#include "guests/runtime/board.h"
#include "guests/runtime/gic_versions.h"

#define GICD_ISPENDR 0x200u

static bool is_v3(void)
{
    return board()->gic_redistributor.size != 0;
}

bool gic_init(void)
{
    return is_v3() ? gic_v3_init() : gic_v2_init();
}

bool gic_init_secondary(void)
{
    return is_v3() ? gic_v3_init_secondary() : gic_v2_init_secondary();
}

void gic_enable_private(uint32_t intid)
{
    if (is_v3())
        gic_v3_enable_private(intid);
    else
        gic_v2_enable_private(intid);
}

void gic_enable_shared(uint32_t intid)
{
    if (is_v3())
        gic_v3_enable_shared(intid);
    else
        gic_v2_enable_shared(intid);
}

void gic_pend_shared(uint32_t first, uint32_t mask)
{
    // Both versions have this register at the same offset.
    mmio_write32(board()->gic_distributor.address + GICD_ISPENDR + first / 8, mask);
}

void gic_send(uint32_t intid, uint32_t cpu)
{
    if (is_v3())
        gic_v3_send(intid, cpu);
    else
        gic_v2_send(intid, cpu);
}

bool gic_acknowledge(uint32_t *intid)
{
    return is_v3() ? gic_v3_acknowledge(intid) : gic_v2_acknowledge(intid);
}

void gic_end(uint32_t intid)
{
    if (is_v3())
        gic_v3_end(intid);
    else
        gic_v2_end(intid);
}
