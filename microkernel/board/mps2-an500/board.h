/* SPDX-License-Identifier: Apache-2.0
 *
 * Arm MPS2 with image AN500 (Cortex-M7; DAI 0500): where memory, UART and timer are. Code in SSRAM1 from 0,
 * data in SSRAM2 and 3 from 0x20000000: the first 256 KiB for the kernel, then frames.
 */
#ifndef BULKHEAD_MICROKERNEL_BOARD_H
#define BULKHEAD_MICROKERNEL_BOARD_H

#define BOARD_FRAMES_FIRST 0x20040000u
#define BOARD_FRAME_BITS   8u
#define BOARD_FRAMES       15360u

/* Free frames for test components. */
#define MANY_FIRST  0x20200000ul
#define MANY_NEAR   0x200ul /* in one node of the trie's last level */
#define MANY_FAR    0x400ul
#define OWNER_FIRST 0x20100000ul

/* CMSDK timer 0, which counts down at 25 MHz. */
#define BOARD_TIMER_FIRST 0x40000000u
#define BOARD_TIMER_BYTES 32u

#define BOARD_TICK_CLOCKS   25000u /* 1 ms */
#define BOARD_SHORTEST_TICK 2500u

#define BOARD_EVICTION MXU_ROUND_ROBIN

/* UART and timer run afterwards. */
void board_start(void);

#endif
