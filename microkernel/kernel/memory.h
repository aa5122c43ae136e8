/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames as capabilities: retyped from free memory to user or kernel memory, mapped in a component, or given
 * to the kernel for a component's ranges. Called only by system calls.
 */
#ifndef BULKHEAD_MICROKERNEL_MEMORY_H
#define BULKHEAD_MICROKERNEL_MEMORY_H

#include "microkernel/kernel/kernel.h"

/* Retypes free frames [first, first + bytes) of an untyped capability; `slot` gets their capability. All of
 * it is cleared, CLEARED_AT_ONCE bytes in each pass; *again: the system call must be repeated. */
enum sys_status memory_retype(struct component *caller, struct cap *untyped, uint32_t first, uint32_t bytes,
                              uint32_t slot, bool *again);

/* Maps user frames in a component; they must fit one region if the hardware has regions. */
enum sys_status memory_map(struct cap *memory, uint32_t component, uint32_t rights, uint32_t type,
                           uint32_t flags);

/* Unmaps user frames. SYS_EBUSY if a thread's stack is there. */
enum sys_status memory_unmap(struct cap *memory);

/* Uses kernel frames for a component's ranges (once) or tables. */
enum sys_status memory_give(struct cap *memory, uint32_t component, uint32_t purpose);

/* Called before a memory capability is deleted: unmaps the memory; threads whose stacks are there die.
 * SYS_EBUSY if the kernel uses it. */
enum sys_status memory_withdraw(struct cap *memory);

/* Notes one more capability for the same frames. */
enum sys_status memory_share(const struct cap *memory);

#endif
