/* SPDX-License-Identifier: Apache-2.0
 *
 * What the neutral kernel asks of the architecture; chosen when the kernel is linked. Each architecture also
 * has arch_types.h (struct arch_space, struct arch_context) and arch_inline.h (arguments of a system call).
 */
#ifndef BULKHEAD_MICROKERNEL_ARCH_H
#define BULKHEAD_MICROKERNEL_ARCH_H

#include "microkernel/kernel/kernel.h"

/* Where the kernel has the memory at a physical address. */
void *arch_memory(uint32_t address);

/* A component without memory but for its code. False if the code cannot be protected. */
bool arch_space_init(struct component *component);

/* Makes a range of the component's trie accessible, with enum mxu_rights and enum mxu_memory_type, flags of
 * enum sys_map; and takes it away. */
enum sys_status arch_map(struct component *component, int16_t range, uint32_t rights, uint32_t type,
                         uint32_t flags);
void arch_unmap(struct component *component, int16_t range);

/* SYS_GIVE of memory for tables, not for ranges. */
enum sys_status arch_give_tables(struct component *component, uint32_t purpose, uint32_t first,
                                 uint32_t last);

/* Forgets the tables of a dead component that has nothing mapped; their frames are taken back. */
void arch_take_tables(struct component *component);

/* Whether the thread's stack is mapped so that an exception can be taken on it at any time. */
bool arch_stack_is_ready(const struct thread *thread);

/* The thread begins at its entry, with its whole stack. */
void arch_start(struct thread *thread);

/* The saved stack pointer is in the thread's stack, so that the kernel may use the frame there. */
bool arch_frame_is_sound(const struct thread *thread);

/* An operation that the hardware capability allows. */
enum sys_status arch_hardware(uint32_t operation, const uint32_t word[2]);

/* Whether the UART takes a character now; and gives it one. */
bool arch_can_put(void);
void arch_put(char character);

/* Time that no component can change: counts up, modulo 2^32, so often in a second. */
uint32_t arch_time(void);
uint32_t arch_time_hz(void);

/* The physical address of what the kernel has in its own data. */
uint32_t arch_physical(const void *of_kernel);

/* Ticks come this far apart, in clocks of the timer. */
void arch_set_tick(uint32_t clocks);

/* Starts the timer that calls kernel_tick(). */
void arch_start_timer(void);

/* Refills of a component's dynamic regions, modulo 2^32; 0 where the hardware does them. */
uint32_t arch_refills(const struct component *component);

/* Nothing can go on. */
__attribute__((noreturn)) void arch_halt(void);

/* An exception that the kernel itself caused: reports it and halts. */
__attribute__((noreturn)) void arch_unexpected(void);

#endif
