/* SPDX-License-Identifier: Apache-2.0
 *
 * Cache maintenance by set and way.
 */
#include "microkernel/arch/armv7m/caches.h"
#include "microkernel/arch/armv7m/scb.h"

#define WAY_SHIFT 30u /* for four ways */

/* bound: sets times ways of the data cache */
static void on_all_lines(enum scb_register operation)
{
    uint32_t id;
    uint32_t sets;
    uint32_t ways;
    uint32_t line_bits;

    *scb(SCB_CSSELR) = 0;
    id = *scb(SCB_CCSIDR);
    sets = (id >> 13 & 0x7FFFu) + 1u;
    ways = (id >> 3 & 0x3FFu) + 1u;
    line_bits = (id & 7u) + 4u;
    for (uint32_t set = 0; set < sets; set++) {
        for (uint32_t way = 0; way < ways; way++) {
            *scb(operation) = way << WAY_SHIFT | set << line_bits;
        }
    }
    __asm__ volatile("dsb" ::: "memory");
}

void caches_clean(void)
{
    on_all_lines(SCB_DCCISW);
}

void caches_on(void)
{
    uint32_t control = *scb(SCB_CCR);

    if ((control & CCR_IC) == 0) {
        *scb(SCB_ICIALLU) = 0;
        __asm__ volatile("dsb\n\tisb" ::: "memory");
    }
    if ((control & CCR_DC) == 0) {
        on_all_lines(SCB_DCISW);
    }
    *scb(SCB_CCR) = control | CCR_IC | CCR_DC;
    __asm__ volatile("dsb\n\tisb" ::: "memory");
}
