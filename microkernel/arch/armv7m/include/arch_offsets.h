/* SPDX-License-Identifier: Apache-2.0
 *
 * Offsets of fields that entry.S uses; arch.c asserts each number.
 */
#ifndef BULKHEAD_MICROKERNEL_ARCH_OFFSETS_H
#define BULKHEAD_MICROKERNEL_ARCH_OFFSETS_H

#define KERNEL_CURRENT   0
#define KERNEL_LOADED    4
#define THREAD_COMPONENT 36
#define COMPONENT_TRIE   256
#define FRAME_PC         24

/* System control block (DDI 0403E, B3.2). */
#define SCB_CFSR         0xE000ED28
#define CFSR_TO_MMFAR    0x0C
#define CFSR_TO_MPU_RBAR 0x74
#define MPU_RBAR         0xE000ED9C
#define MMFSR_DATA       0x82 /* DACCVIOL, MMARVALID */
#define MMFSR_FETCH      0x01 /* IACCVIOL */

#endif
