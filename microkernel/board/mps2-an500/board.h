/* SPDX-License-Identifier: Apache-2.0
 *
 * Arm MPS2 with image AN500 (Cortex-M7; DAI 0500): addresses of memory, UART and timer. Code is in SSRAM1
 * from 0, data in SSRAM2 and 3 from 0x20000000: the first 256 KiB for the kernel, then frames.
 */
#ifndef BULKHEAD_MICROKERNEL_BOARD_H
#define BULKHEAD_MICROKERNEL_BOARD_H

#define BOARD_FRAMES_FIRST 0x20040000u
#define BOARD_FRAME_BITS   8u
#define BOARD_FRAMES       15360u

/* Code of components, behind the kernel's; the system's description lies before it. */
#define BOARD_SYSTEM_FIRST 0x0000E000u
#define BOARD_SYSTEM_BYTES 0x2000u
#define BOARD_CODE_FIRST   0x00010000u
#define BOARD_CODE_BYTES   0x003F0000u

/* Free frames for test components. */
#define MANY_FIRST  0x20200000ul
#define MANY_NEAR   0x200ul /* in the same node of the trie's last level */
#define MANY_FAR    0x400ul
#define OWNER_FIRST 0x20100000ul

/* CMSDK timer 0, which counts down at 25 MHz. */
#define BOARD_TIMER_FIRST 0x40000000u
#define BOARD_TIMER_BYTES 32u

#define BOARD_TICK_CLOCKS   25000u /* 1 ms */
#define BOARD_SHORTEST_TICK 250u

/* Hardware of systems described in C; other systems define it themselves. */
#define BOARD_CLOCK_HZ 25000000u
#define BOARD_TIMER_HZ 25000000u
#define BOARD_HARDWARE                                                                                       \
    {                                                                                                        \
        .limit = {[MXU_REGIONS] = 8u}, .system_regions = 2u, .eviction = MXU_ROUND_ROBIN,                    \
        .most_region_bits = 32u                                                                              \
    }

/* Starts UART and timer. */
void board_start(void);

#endif
