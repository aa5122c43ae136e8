/* SPDX-License-Identifier: Apache-2.0
 *
 * Driver of the Cadence UART of Zynq and ZynqMP (UG1085, chapter UART Controllers; register reference
 * UG1087). Called by the console only. Its only state is the device's address.
 */
#include "uart.h"

#include <arch/mmio.h>

#define CONTROL           0x00u
#define MODE              0x04u
#define INTERRUPT_ENABLE  0x08u
#define INTERRUPT_DISABLE 0x0Cu
#define INTERRUPT_STATUS  0x14u
#define BAUD_GENERATOR    0x18u
#define RECEIVE_TIMEOUT   0x1Cu
#define RECEIVE_TRIGGER   0x20u
#define STATUS            0x2Cu
#define FIFO              0x30u
#define BAUD_DIVIDER      0x34u

#define CONTROL_RESETS   0x003u /* of both FIFOs; the bits clear themselves */
#define CONTROL_ENABLE   0x014u /* transmitter and receiver */
#define CONTROL_DISABLE  0x028u
#define CONTROL_RESTART  0x040u /* restarts the receiver's timeout counter */
#define MODE_8N1         0x020u
#define STATUS_RX_EMPTY  (1u << 1)
#define STATUS_TX_EMPTY  (1u << 3)
#define STATUS_TX_FULL   (1u << 4)
#define STATUS_TX_ACTIVE (1u << 11)
#define INT_RX_TRIGGER   (1u << 0)
#define INT_TX_EMPTY     (1u << 3)
#define INT_RX_TIMEOUT   (1u << 8)
#define INT_RX           (INT_RX_TRIGGER | INT_RX_TIMEOUT)
#define INT_ALL          0x1FFFu

#define LINE_SPEED_BAUD 115200u
#define SAMPLES         7u /* generator clocks per bit: the divider's value plus 1 */
#define RESET_POLLS     1000u

static struct cadence {
    paddr_t base;
} uart;

static uint32_t read(uint32_t offset)
{
    return mmio_read32(paddr(uart.base.value + offset));
}

static void write(uint32_t offset, uint32_t value)
{
    mmio_write32(paddr(uart.base.value + offset), value);
}

/* A write to the control register before these bits have cleared themselves would end the resets early. */
static void reset_fifos(void)
{
    write(CONTROL, CONTROL_DISABLE | CONTROL_RESETS);
    for (uint32_t i = 0; i < RESET_POLLS && (read(CONTROL) & CONTROL_RESETS) != 0; i++) {
    }
}

void uart_init(const struct manifest_platform *platform)
{
    uart.base = paddr(platform->uart_pa);
    write(INTERRUPT_DISABLE, INT_ALL);
    if ((read(CONTROL) & (CONTROL_ENABLE | CONTROL_DISABLE)) != CONTROL_ENABLE) {
        uint32_t per_bit = SAMPLES * LINE_SPEED_BAUD;

        write(CONTROL, CONTROL_DISABLE);
        write(BAUD_GENERATOR, (platform->uart_clock_hz + per_bit / 2) / per_bit);
        write(BAUD_DIVIDER, SAMPLES - 1);
        write(MODE, MODE_8N1);
        reset_fifos();
    }
    write(RECEIVE_TRIGGER, 1);
    write(RECEIVE_TIMEOUT, 0);
    write(CONTROL, CONTROL_ENABLE | CONTROL_RESTART);
    write(INTERRUPT_STATUS, INT_ALL);
}

bool uart_tx_ready(void)
{
    return (read(STATUS) & STATUS_TX_FULL) == 0;
}

bool uart_tx_busy(void)
{
    return (read(STATUS) & (STATUS_TX_EMPTY | STATUS_TX_ACTIVE)) != STATUS_TX_EMPTY;
}

/* The state 'FIFO empty' is latched. It is cleared before the write, so that the interrupt reports this
 * character. */
void uart_write(uint8_t character)
{
    write(INTERRUPT_STATUS, INT_TX_EMPTY);
    write(FIFO, character);
}

/* The receive condition stays latched after the last character was read. It is cleared after each character,
 * and is set again by hardware while more characters are in the FIFO. */
int uart_read(void)
{
    int character;

    if ((read(STATUS) & STATUS_RX_EMPTY) != 0) {
        return -1;
    }
    character = (int)(read(FIFO) & 0xFF);
    write(INTERRUPT_STATUS, INT_RX);
    return character;
}

void uart_enable_rx_irq(bool on)
{
    write(on ? INTERRUPT_ENABLE : INTERRUPT_DISABLE, INT_RX);
}

/* Does not clear the latched state: the FIFO may have become empty since it was filled, and the interrupt
 * would be lost. */
void uart_enable_tx_irq(bool on)
{
    write(on ? INTERRUPT_ENABLE : INTERRUPT_DISABLE, INT_TX_EMPTY);
}

void uart_clear_irq(void)
{
    write(INTERRUPT_STATUS, INT_ALL);
}
