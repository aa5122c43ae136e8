/* SPDX-License-Identifier: Apache-2.0
 *
 * Maintenance of the first-level caches by set and way (DDI 0406C, B2.2.7), for the sets and ways that CCSIDR
 * reports.
 */
#include "microkernel/arch/armv7a/first_level.h"
#include "microkernel/arch/armv7a/cp15.h"
#include <stdint.h>

#define WAY_SHIFT 30u

void first_level_clean(void)
{
    uint32_t id;
    uint32_t sets;
    uint32_t line_bits;

    cp15_write_csselr(0);
    cp15_complete();
    id = cp15_read_ccsidr();
    sets = (id >> 13 & 0x7FFFu) + 1u;
    line_bits = (id & 7u) + 4u;
    for (uint32_t set = 0; set < sets; set++) {
        for (uint32_t way = 0; way <= (id >> 3 & 0x3FFu); way++) {
            cp15_write_cache_clean_set_way(way << WAY_SHIFT | set << line_bits);
        }
    }
    cp15_complete();
}
