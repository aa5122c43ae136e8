/* SPDX-License-Identifier: Apache-2.0
 *
 * Driver of the board's UART, as the console needs it. One driver is linked in (pl011.c, cadence.c,
 * imx_uart.c). Only the console calls it: on the first core until domains start, then on the console core. No
 * function waits.
 */
#ifndef BULKHEAD_PLATFORM_UART_H
#define BULKHEAD_PLATFORM_UART_H

#include <bulkhead_layout.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sets up the UART at platform->uart_pa: transmitter and receiver on, interrupts off. A line speed that a
 * loader has set is kept. */
void uart_init(const struct manifest_platform *platform);

/* True if a character can be written now. */
bool uart_tx_ready(void);
void uart_write(uint8_t character);

/* True if characters are still being transmitted. */
bool uart_tx_busy(void);

/* Returns the next received character, or -1 if there is none. */
int uart_read(void);

void uart_enable_rx_irq(bool on);

/* Turns the interrupt on or off that arrives when the transmit FIFO has room again. */
void uart_enable_tx_irq(bool on);

/* Clears the interrupt conditions that reading and writing do not clear. */
void uart_clear_irq(void);

#ifdef __cplusplus
}
#endif

#endif
