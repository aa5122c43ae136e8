/* SPDX-License-Identifier: Apache-2.0
 *
 * USART1 and TIM2 (RM0410, chapters USART and general-purpose timers). The boot loader has set their clocks,
 * and the pins and baud rate of USART1.
 */
#include "board.h"
#include "microkernel/arch/armv7m/caches.h"
#include "microkernel/arch/armv7m/scb.h"
#include "microkernel/kernel/arch.h"

#define USART_FIRST  0x40011000u
#define USART_CR1    0x00u
#define USART_BRR    0x0Cu
#define USART_ISR    0x1Cu
#define USART_TDR    0x28u
#define CR1_UE       (1u << 0)
#define CR1_TE       (1u << 3)
#define ISR_TXE      (1u << 7)
#define CLOCKS_A_BIT 938u /* clocks per bit: 115200 baud at APB2's 108 MHz */

#define RCC_APB1ENR 0x40023840u
#define RCC_APB2ENR 0x40023844u
#define TIM2_ON     (1u << 0)
#define USART1_ON   (1u << 4)

#define TIM_CR1 0x00u
#define TIM_EGR 0x14u
#define TIM_PSC 0x28u
#define TIM_ARR 0x2Cu

static volatile uint32_t *at(uint32_t address)
{
    return (volatile uint32_t *)(uintptr_t)address;
}

void board_start(void)
{
    *scb(SCB_VTOR) = BOARD_KERNEL_FIRST;
    caches_on();
    *at(RCC_APB1ENR) |= TIM2_ON;
    *at(RCC_APB2ENR) |= USART1_ON;
    (void)*at(
        RCC_APB2ENR); /* a device can be accessed two clocks after its clock is enabled (RM0410 5.2.12) */
    *at(USART_FIRST + USART_CR1) = 0;
    *at(USART_FIRST + USART_BRR) = CLOCKS_A_BIT;
    *at(USART_FIRST + USART_CR1) = CR1_UE | CR1_TE;
    *at(BOARD_TIM2_FIRST + TIM_CR1) = 0;
    *at(BOARD_TIM2_FIRST + TIM_PSC) = 0;
    *at(BOARD_TIM2_FIRST + TIM_ARR) = UINT32_MAX;
    *at(BOARD_TIM2_FIRST + TIM_EGR) = 1; /* loads the prescaler */
    *at(BOARD_TIM2_FIRST + TIM_CR1) = 1;
}

bool arch_can_put(void)
{
    return (*at(USART_FIRST + USART_ISR) & ISR_TXE) != 0;
}

void arch_put(char character)
{
    *at(USART_FIRST + USART_TDR) = (uint8_t)character;
}
