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

static void write_at(paddr_t base, uint32_t offset, uint32_t value)
{
    mmio_write32(paddr(base.value + offset), value);
}

void qos400_limit(paddr_t regulator, uint32_t reads, uint32_t writes)
{
    write_at(regulator, QOS_CONTROL, 0);
    write_at(regulator, QOS_WRITE_PEAK, 0);
    write_at(regulator, QOS_WRITE_BURST, QOS_STRICT);
    write_at(regulator, QOS_WRITE_RATE, writes << QOS_RATE_SHIFT);
    write_at(regulator, QOS_READ_PEAK, 0);
    write_at(regulator, QOS_READ_BURST, QOS_STRICT);
    write_at(regulator, QOS_READ_RATE, reads << QOS_RATE_SHIFT);
    write_at(regulator, QOS_CONTROL, QOS_ENABLE_RATES);
}
