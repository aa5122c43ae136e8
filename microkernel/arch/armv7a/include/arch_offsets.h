/* SPDX-License-Identifier: Apache-2.0
 *
 * Offsets of fields that entry.S uses, and the kernel's address space; arch.c asserts the offsets.
 */
#ifndef BULKHEAD_MICROKERNEL_ARCH_OFFSETS_H
#define BULKHEAD_MICROKERNEL_ARCH_OFFSETS_H

#define KERNEL_CURRENT   0
#define KERNEL_LOADED    4
#define THREAD_COMPONENT 68
#define SPACE_TTBR0      0
#define SPACE_ASID       4

/* Components use the lower half of the address space (TTBR0). In the upper half (TTBR1) the kernel maps the
 * first GiB of DRAM a second time, devices and on-chip memory. */
#define KERNEL_ALIAS 0x80000000

/* Section descriptors (DDI 0406C, B3.5.1) with privileged read and write access. */
#define SECTION_NORMAL 0x140E /* write-back, allocate */
#define SECTION_DEVICE 0x0406
#define SECTION_XN     0x0010

/* Table walks are write-back, allocate, in both levels of cache. */
#define WALK_CACHED 0x48

#endif
