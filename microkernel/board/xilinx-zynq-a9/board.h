/* SPDX-License-Identifier: Apache-2.0
 *
 * Xilinx Zynq-7000 (UG585): where memory, UART and the processor's own devices are. The kernel is in the
 * second MiB of DRAM, the components' code in the third, frames from 16 MiB on.
 */
#ifndef BULKHEAD_MICROKERNEL_BOARD_H
#define BULKHEAD_MICROKERNEL_BOARD_H

#define BOARD_FRAMES_FIRST 0x01000000u
#define BOARD_FRAME_BITS   12u
#define BOARD_FRAMES       8192u

/* Free frames for test components. */
#define MANY_FIRST  0x01800000ul
#define MANY_NEAR   0x1000ul
#define MANY_FAR    0x2000ul
#define OWNER_FIRST 0x01400000ul

#define BOARD_OCM_FIRST 0xFFFC0000u
#define BOARD_OCM_BYTES 0x40000u

#define BOARD_UART_FIRST   0xE0000000u
#define BOARD_MPCORE_FIRST 0xF8F00000u
#define BOARD_PL310_FIRST  0xF8F02000u

#define BOARD_TICK_CLOCKS   100000u /* of the private timer */
#define BOARD_SHORTEST_TICK 10000u

/* The UART sends afterwards. */
void board_start(void);

#endif
