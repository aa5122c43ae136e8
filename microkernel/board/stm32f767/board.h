/* SPDX-License-Identifier: Apache-2.0
 *
 * A board with an STM32F767 and 16 MiB of SDRAM (RM0410). A boot loader has set up clocks, pins and the FMC,
 * has swapped the FMC's banks (SYSCFG_MEMRMP.SWP_FMC, RM0410 7.2.1), so that the SDRAM is at 0x60000000, and
 * has loaded the image there. The kernel runs with the default memory map, in which 0xC0000000, the SDRAM's
 * other address, is Device memory and not executable. The kernel's data are in the DTCM, frames in the SDRAM.
 */
#ifndef BULKHEAD_MICROKERNEL_BOARD_H
#define BULKHEAD_MICROKERNEL_BOARD_H

#define BOARD_KERNEL_FIRST 0x60000000u

#define BOARD_FRAMES_FIRST 0x60200000u
#define BOARD_FRAME_BITS   10u
#define BOARD_FRAMES       14336u

/* Code of components, behind the kernel's; the system's description lies before it. */
#define BOARD_SYSTEM_FIRST 0x6000E000u
#define BOARD_SYSTEM_BYTES 0x2000u
#define BOARD_CODE_FIRST   0x60010000u
#define BOARD_CODE_BYTES   0x001F0000u

/* Free frames for test components. */
#define MANY_FIRST  0x60600000ul
#define MANY_NEAR   0x400ul
#define MANY_FAR    0x800ul
#define OWNER_FIRST 0x60400000ul

/* TIM2. Its registers from 0x20 on, which include the count, are readable by all components. It counts up at
 * the clock of APB1's timers, half of the core's. */
#define BOARD_TIM2_FIRST  0x40000000u
#define BOARD_TIMER_FIRST (BOARD_TIM2_FIRST + 0x20u)
#define BOARD_TIMER_BYTES 32u

#define BOARD_TICK_CLOCKS   216000u /* 1 ms */
#define BOARD_SHORTEST_TICK 2160u

/* Hardware of systems described in C; other systems define it themselves. */
#define BOARD_CLOCK_HZ 108000000u
#define BOARD_TIMER_HZ 216000000u
#define BOARD_HARDWARE                                                                                       \
    {                                                                                                        \
        .limit = {[MXU_REGIONS] = 8u}, .system_regions = 2u, .eviction = MXU_ROUND_ROBIN,                    \
        .most_region_bits = 32u                                                                              \
    }

/* Starts console, timer and caches. */
void board_start(void);

#endif
