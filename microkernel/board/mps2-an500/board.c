/* SPDX-License-Identifier: Apache-2.0
 *
 * CMSDK UART 0 and timer 0 (DDI 0479D, 4.2 and 4.3).
 */
#include "board.h"
#include "microkernel/kernel/arch.h"

#define UART_FIRST    0x40004000u
#define UART_DATA     0x00u
#define UART_STATE    0x04u
#define UART_CTRL     0x08u
#define UART_BAUDDIV  0x10u
#define STATE_TX_FULL 1u
#define CTRL_TX       1u
#define CLOCKS_A_BIT  217u /* clocks per bit: 115200 baud at 25 MHz */

#define TIMER_CTRL   0x00u
#define TIMER_VALUE  0x04u
#define TIMER_RELOAD 0x08u

static volatile uint32_t *device(uint32_t first, uint32_t offset)
{
    return (volatile uint32_t *)(uintptr_t)(first + offset);
}

void board_start(void)
{
    *device(UART_FIRST, UART_BAUDDIV) = CLOCKS_A_BIT;
    *device(UART_FIRST, UART_CTRL) = CTRL_TX;
    *device(BOARD_TIMER_FIRST, TIMER_RELOAD) = UINT32_MAX;
    *device(BOARD_TIMER_FIRST, TIMER_VALUE) = UINT32_MAX;
    *device(BOARD_TIMER_FIRST, TIMER_CTRL) = 1;
}

bool arch_can_put(void)
{
    return (*device(UART_FIRST, UART_STATE) & STATE_TX_FULL) == 0;
}

void arch_put(char character)
{
    *device(UART_FIRST, UART_DATA) = (uint8_t)character;
}
