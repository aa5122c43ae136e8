/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes to a PL011 (DDI 0183) without the console, in the state in which a loader or the driver has left it.
 * For platform_early_write() of boards that have a PL011; it changes nothing but the FIFO.
 */
#ifndef BULKHEAD_PLATFORM_PL011_EARLY_H
#define BULKHEAD_PLATFORM_PL011_EARLY_H

#include <arch/mmio.h>

#define PL011_EARLY_DATA       0x00u
#define PL011_EARLY_FLAGS      0x18u
#define PL011_EARLY_TX_FULL    (1u << 5)
#define PL011_EARLY_POLL_LIMIT 1000000u /* limit on polling reads; a character takes 87 microseconds */

static inline void pl011_early_write(paddr_t uart, char character)
{
    paddr_t flags = paddr(uart.value + PL011_EARLY_FLAGS);

    for (uint32_t i = 0; i < PL011_EARLY_POLL_LIMIT && (mmio_read32(flags) & PL011_EARLY_TX_FULL) != 0; i++) {
    }
    mmio_write32(paddr(uart.value + PL011_EARLY_DATA), (uint8_t)character);
}

#endif
