/* SPDX-License-Identifier: Apache-2.0
 *
 * Register accesses of a regulator (qos400.h).
 */
#include "base/qos400.h"
#include <arch/mmio.h>

#define QOS_CONTROL      0x10Cu
#define QOS_WRITE_PEAK   0x118u
#define QOS_WRITE_BURST  0x11Cu
#define QOS_WRITE_RATE   0x120u
#define QOS_READ_PEAK    0x124u
#define QOS_READ_BURST   0x128u
#define QOS_READ_RATE    0x12Cu
#define QOS_ENABLE_RATES 3u
#define QOS_RATE_SHIFT   20
#define QOS_STRICT       1u

bool qos400_limit(paddr_t regulator, uint32_t reads, uint32_t writes)
{
    const struct {
        uint32_t offset, value;
    } steps[] = {
        {QOS_CONTROL, 0},
        {QOS_WRITE_PEAK, 0},
        {QOS_WRITE_BURST, QOS_STRICT},
        {QOS_WRITE_RATE, writes << QOS_RATE_SHIFT},
        {QOS_READ_PEAK, 0},
        {QOS_READ_BURST, QOS_STRICT},
        {QOS_READ_RATE, reads << QOS_RATE_SHIFT},
        {QOS_CONTROL, QOS_ENABLE_RATES},
    };
    bool held = true;

    for (uint32_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        paddr_t place = paddr(regulator.value + steps[i].offset);

        mmio_write32(place, steps[i].value);
        held = mmio_read32(place) == steps[i].value && held;
    }
    return held;
}

void qos400_set_rates(paddr_t regulator, uint32_t reads, uint32_t writes)
{
    mmio_write32(paddr(regulator.value + QOS_WRITE_RATE), writes << QOS_RATE_SHIFT);
    mmio_write32(paddr(regulator.value + QOS_READ_RATE), reads << QOS_RATE_SHIFT);
}
