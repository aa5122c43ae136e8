/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames as capabilities: retyped from free memory to the users' or the kernel's kind, mapped in a component,
 * given to the kernel for a component's ranges. Called by system calls alone.
 */
#ifndef BULKHEAD_MICROKERNEL_MEMORY_H
#define BULKHEAD_MICROKERNEL_MEMORY_H

#include "microkernel/kernel/kernel.h"

/* Takes free frames [first, first + bytes) of an untyped capability for a kind; `slot` gets their capability.
 * All of it is cleared, CLEARED_AT_ONCE bytes in each pass: *again says that the system call has to be made
 * once more. */
enum sys_status memory_retype(struct component *caller, struct cap *untyped, uint32_t first, uint32_t bytes,
                              uint32_t slot, bool *again);

/* Makes users' frames accessible in a component; they must be one region where the hardware has regions. */
enum sys_status memory_map(struct cap *memory, uint32_t component, uint32_t rights, uint32_t type,
                           uint32_t flags);

/* SYS_EBUSY if a thread's stack is there. */
enum sys_status memory_unmap(struct cap *memory);

/* Uses the kernel's frames for a component's ranges (once) or tables. */
enum sys_status memory_give(struct cap *memory, uint32_t component, uint32_t purpose);

/* Before a memory capability is deleted: takes the memory away from whom it is mapped for; threads whose
 * stacks are there die. SYS_EBUSY if the kernel uses it. */
enum sys_status memory_withdraw(struct cap *memory);

/* One more capability for the same frames. */
enum sys_status memory_share(const struct cap *memory);

#endif
