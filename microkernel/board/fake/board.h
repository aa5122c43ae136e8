/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory map of the fake architecture, for unit tests on the host: small, so that tests can exhaust it.
 */
#ifndef BULKHEAD_MICROKERNEL_BOARD_H
#define BULKHEAD_MICROKERNEL_BOARD_H

#define BOARD_FRAMES_FIRST 0x10000000u
#define BOARD_FRAME_BITS   10u
#define BOARD_FRAMES       256u

/* Code of components, before the frames. */
#define FAKE_CODE_FIRST  0x0FFF0000u
#define BOARD_CODE_FIRST FAKE_CODE_FIRST
#define BOARD_CODE_BYTES 0x00010000u

/* The system's description is where a test puts it; the memory manager sees it at this address. */
#define BOARD_SYSTEM_FIRST 0x0FFE0000u
#define BOARD_SYSTEM_BYTES 0x2000u

#endif
