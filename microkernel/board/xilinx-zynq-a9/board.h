/* SPDX-License-Identifier: Apache-2.0
 *
 * Xilinx Zynq-7000 (UG585): addresses of memory, UART and the processor's own devices. The kernel is in the
 * second MiB of DRAM, the components' code in the third, frames from 16 MiB on.
 */
#ifndef BULKHEAD_MICROKERNEL_BOARD_H
#define BULKHEAD_MICROKERNEL_BOARD_H

#define BOARD_FRAMES_FIRST 0x01000000u
#define BOARD_FRAME_BITS   12u
#define BOARD_FRAMES       24576u

/* Code of components, behind the kernel's MiB, whose end contains the system's description. */
#define BOARD_SYSTEM_FIRST 0x001FE000u
#define BOARD_SYSTEM_BYTES 0x2000u
#define BOARD_CODE_FIRST   0x00200000u
#define BOARD_CODE_BYTES   0x00E00000u

/* Free frames for test components. */
#define MANY_FIRST  0x01800000ul
#define MANY_NEAR   0x1000ul
#define MANY_FAR    0x2000ul
#define OWNER_FIRST 0x01400000ul

/* On-chip memory, for components' table nodes; the rest is the upper half of the kernel's own table. */
#define BOARD_OCM_FIRST   0xFFFC0000u
#define BOARD_OCM_BYTES   0x3E000u
#define BOARD_TABLE_FIRST 0xFFFFC000u

#define BOARD_UART_FIRST   0xE0000000u
#define BOARD_MPCORE_FIRST 0xF8F00000u
#define BOARD_PL310_FIRST  0xF8F02000u

#define BOARD_TICK_CLOCKS   100000u /* in clocks of the private timer */
#define BOARD_SHORTEST_TICK 1000u

/* Hardware of systems described in C; other systems define it themselves. Clocks are the emulator's. */
#define BOARD_CLOCK_HZ 1000000000u
#define BOARD_TIMER_HZ 100000000u
#define BOARD_HARDWARE                                                                                       \
    {                                                                                                        \
        .limit = {[MXU_LOCKED_ENTRIES] = 4u, [MXU_OCM_BYTES] = BOARD_OCM_BYTES, [MXU_ASIDS] = 255u},         \
        .most_region_bits = 32u, .table_frames = 20u                                                         \
    }

/* Enables the UART's transmitter. */
void board_start(void);

#endif
