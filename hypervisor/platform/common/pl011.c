/* SPDX-License-Identifier: Apache-2.0
 *
 * Driver of the PL011 (DDI 0183). Called by the console only. Its only state is the device's address and the
 * interrupt mask.
 */
#include "uart.h"

#include <arch/mmio.h>

#define UARTDR    0x000u
#define UARTFR    0x018u
#define UARTIBRD  0x024u
#define UARTFBRD  0x028u
#define UARTLCR_H 0x02Cu
#define UARTCR    0x030u
#define UARTIMSC  0x038u
#define UARTICR   0x044u

#define FR_BUSY         (1u << 3)
#define FR_RXFE         (1u << 4)
#define FR_TXFF         (1u << 5)
#define LCR_H_8BIT_FIFO 0x70u
#define CR_ENABLE       0x301u /* UART, transmitter, receiver */
#define INT_RX          (1u << 4)
#define INT_TX          (1u << 5)
#define INT_RT          (1u << 6)
#define INT_ALL         0x7FFu

#define LINE_SPEED_BAUD 115200u

static struct pl011 {
    paddr_t base;
    uint32_t mask; /* enabled interrupts */
} uart;

static uint32_t read(uint32_t offset)
{
    return mmio_read32(paddr(uart.base.value + offset));
}

static void write(uint32_t offset, uint32_t value)
{
    mmio_write32(paddr(uart.base.value + offset), value);
}

void uart_init(const struct manifest_platform *platform)
{
    uart.base = paddr(platform->uart_pa);
    uart.mask = 0;
    write(UARTIMSC, 0);
    write(UARTICR, INT_ALL);
    if ((read(UARTCR) & CR_ENABLE) != CR_ENABLE) {
        /* The divisor in 64ths: clock * 64 / (16 * speed), rounded. */
        uint32_t divisor = (uint32_t)(((uint64_t)platform->uart_clock_hz * 8 / LINE_SPEED_BAUD + 1) / 2);

        write(UARTCR, 0);
        write(UARTIBRD, divisor >> 6);
        write(UARTFBRD, divisor & 0x3F);
    }
    write(UARTLCR_H, LCR_H_8BIT_FIFO);
    write(UARTCR, CR_ENABLE);
}

bool uart_tx_ready(void)
{
    return (read(UARTFR) & FR_TXFF) == 0;
}

bool uart_tx_busy(void)
{
    return (read(UARTFR) & FR_BUSY) != 0;
}

void uart_write(uint8_t character)
{
    write(UARTDR, character);
}

int uart_read(void)
{
    if ((read(UARTFR) & FR_RXFE) != 0) {
        return -1;
    }
    return (int)(read(UARTDR) & 0xFF);
}

static void set_mask(uint32_t bits, bool on)
{
    uint32_t mask = on ? uart.mask | bits : uart.mask & ~bits;

    if (mask != uart.mask) {
        uart.mask = mask;
        write(UARTIMSC, mask);
    }
}

void uart_enable_rx_irq(bool on)
{
    set_mask(INT_RX | INT_RT, on);
}

void uart_enable_tx_irq(bool on)
{
    set_mask(INT_TX, on);
}

void uart_clear_irq(void)
{
    write(UARTICR, INT_ALL);
}
