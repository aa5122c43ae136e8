/* SPDX-License-Identifier: Apache-2.0
 *
 * Cadence UART 0 (UG585, B.33).
 */
#include "board.h"
#include "microkernel/kernel/arch.h"

#define UART_CONTROL 0x00u
#define UART_STATUS  0x2Cu
#define UART_FIFO    0x30u
#define ENABLED      0x14u
#define TX_FULL      (1u << 4)

static volatile uint32_t *uart(uint32_t offset)
{
    return (volatile uint32_t *)(uintptr_t)(BOARD_UART_FIRST + offset);
}

void board_start(void)
{
    *uart(UART_CONTROL) = ENABLED;
}

bool arch_can_put(void)
{
    return (*uart(UART_STATUS) & TX_FULL) == 0;
}

void arch_put(char character)
{
    *uart(UART_FIFO) = (uint8_t)character;
}
