/* SPDX-License-Identifier: Apache-2.0
 *
 * Driver of the UART of NXP's i.MX chips (IMX8MPRM, chapter Universal Asynchronous Receiver/Transmitter).
 * Called by the console only. Its only state is the device's address.
 */
#include "uart.h"

#include <arch/mmio.h>

#define URXD 0x00u
#define UTXD 0x40u
#define UCR1 0x80u
#define UCR2 0x84u
#define UCR3 0x88u
#define UCR4 0x8Cu
#define UFCR 0x90u
#define USR1 0x94u
#define USR2 0x98u
#define UBIR 0xA4u
#define UBMR 0xA8u
#define UTS  0xB4u

#define UCR1_ENABLE      (1u << 0)
#define UCR1_RX_IRQ      (1u << 9)
#define UCR1_TX_IRQ      (1u << 13)
#define UCR2_NO_RESET    (1u << 0)
#define UCR2_ENABLE      0x6u    /* receiver and transmitter */
#define UCR2_8N1         0x4020u /* eight bits, no parity, one stop bit; RTS is not looked at */
#define UCR3_LINES       0x784u  /* modem lines as after reset; receiver's multiplexer; no autobaud */
#define UFCR_CLOCK_BY_1  0x280u  /* reference clock: not divided */
#define UFCR_SPEED       0x3C0u  /* fields that a loader has set: divider of the clock, DCE or DTE */
#define UFCR_WATERMARKS  0x801u  /* below two characters to send; one received */
#define USR2_RX_READY    (1u << 0)
#define USR2_TX_COMPLETE (1u << 3)
#define UTS_TX_FULL      (1u << 4)
#define LATCHED          0xFFFFu /* conditions of USR1 and USR2 that stay until a one is written */

#define LINE_SPEED_BAUD 115200u
#define SAMPLES         16u /* of the reference clock, for each bit */
#define RESET_POLLS     1000u

static struct imx_uart {
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

static bool is_set_up(void)
{
    return (read(UCR1) & UCR1_ENABLE) != 0 &&
           (read(UCR2) & (UCR2_ENABLE | UCR2_NO_RESET)) == (UCR2_ENABLE | UCR2_NO_RESET);
}

/* The UART samples with the reference clock * (UBIR + 1) / (UBMR + 1). UBMR takes effect with the write that
 * follows that of UBIR. */
static void set_line_speed(uint32_t clock_hz)
{
    write(UCR1, 0);
    write(UCR2, 0);
    for (uint32_t i = 0; i < RESET_POLLS && (read(UCR2) & UCR2_NO_RESET) == 0; i++) {
    }
    write(UFCR, UFCR_CLOCK_BY_1);
    write(UBIR, SAMPLES - 1);
    write(UBMR, (clock_hz + LINE_SPEED_BAUD / 2) / LINE_SPEED_BAUD - 1);
}

void uart_init(const struct manifest_platform *platform)
{
    uart.base = paddr(platform->uart_pa);
    if (!is_set_up()) {
        set_line_speed(platform->uart_clock_hz);
    }
    write(UCR1, UCR1_ENABLE); /* no interrupts, no DMA */
    write(UCR2, UCR2_8N1 | UCR2_ENABLE | UCR2_NO_RESET);
    write(UCR3, UCR3_LINES);
    write(UCR4, 0);
    write(UFCR, (read(UFCR) & UFCR_SPEED) | UFCR_WATERMARKS);
    uart_clear_irq();
}

bool uart_tx_ready(void)
{
    return (read(UTS) & UTS_TX_FULL) == 0;
}

bool uart_tx_busy(void)
{
    return (read(USR2) & USR2_TX_COMPLETE) == 0;
}

void uart_write(uint8_t character)
{
    write(UTXD, character);
}

int uart_read(void)
{
    if ((read(USR2) & USR2_RX_READY) == 0) {
        return -1;
    }
    return (int)(read(URXD) & 0xFF);
}

/* Both conditions end by themselves when the FIFOs are read and written. */
static void enable(uint32_t interrupt, bool on)
{
    uint32_t control = read(UCR1);

    write(UCR1, on ? control | interrupt : control & ~interrupt);
}

void uart_enable_rx_irq(bool on)
{
    enable(UCR1_RX_IRQ, on);
}

void uart_enable_tx_irq(bool on)
{
    enable(UCR1_TX_IRQ, on);
}

void uart_clear_irq(void)
{
    write(USR1, LATCHED);
    write(USR2, LATCHED);
}
