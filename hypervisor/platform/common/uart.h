/* SPDX-License-Identifier: Apache-2.0
 *
 * The board's UART, as the console needs it. One driver is linked in (pl011.c, cadence.c). Only the
 * console calls it, on the first core until domains start, then on the console core. Nothing here waits.
 */
#ifndef BULKHEAD_PLATFORM_UART_H
#define BULKHEAD_PLATFORM_UART_H

#include <bulkhead_layout.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Takes the UART at platform->uart_pa: transmitter and receiver on, interrupts off. A loader's line speed is
 * kept if it has set one. */
void uart_init(const struct manifest_platform *platform);

/* Whether a character can be written now. */
bool uart_tx_ready(void);
void uart_write(uint8_t character);

/* Whether characters are still on their way out. */
bool uart_tx_busy(void);

/* The next received character, or -1. */
int uart_read(void);

void uart_enable_rx_irq(bool on);

/* Interrupt when the transmit FIFO has room again. */
void uart_enable_tx_irq(bool on);

/* Acknowledges the interrupt conditions that reading and writing do not clear. */
void uart_clear_irq(void);

#ifdef __cplusplus
}
#endif

#endif
