/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions that the architecture provides for the neutral kernel; selected when the kernel is linked. Each
 * architecture also has arch_types.h (struct arch_space, struct arch_context) and arch_inline.h (arguments of
 * a system call).
 */
#ifndef BULKHEAD_MICROKERNEL_ARCH_H
#define BULKHEAD_MICROKERNEL_ARCH_H

#include "microkernel/kernel/kernel.h"

/* The kernel's address of memory at a physical address. */
void *arch_memory(uint32_t address);

/* Sets up a component without memory except its code. False if the code cannot be protected. */
bool arch_space_init(struct component *component);

/* Makes a range of the component's trie accessible, with enum mxu_rights, enum mxu_memory_type and flags of
 * enum sys_map; arch_unmap() makes it inaccessible. */
enum sys_status arch_map(struct component *component, int16_t range, uint32_t rights, uint32_t type,
                         uint32_t flags);
void arch_unmap(struct component *component, int16_t range);

/* SYS_GIVE of memory for tables. */
enum sys_status arch_give_tables(struct component *component, uint32_t purpose, uint32_t first,
                                 uint32_t last);

/* Drops the tables of a dead component that has nothing mapped; their frames are taken back. */
void arch_take_tables(struct component *component);

/* Whether the thread's stack is mapped so that an exception can be taken on it at any time. */
bool arch_stack_is_ready(const struct thread *thread);

/* Prepares the thread to begin at its entry, with an empty stack. */
void arch_start(struct thread *thread);

/* Whether the saved stack pointer is within the thread's stack, so that the kernel may use the frame
 * there. */
bool arch_frame_is_sound(const struct thread *thread);

/* Executes an operation that the hardware capability allows. */
enum sys_status arch_hardware(uint32_t operation, const uint32_t word[2]);

/* arch_can_put(): whether the UART takes a character now. arch_put(): gives it one. */
bool arch_can_put(void);
void arch_put(char character);

/* A clock that no component can change: counts up modulo 2^32; arch_time_hz() is its frequency. */
uint32_t arch_time(void);
uint32_t arch_time_hz(void);

/* Physical address of an object in the kernel's own data. */
uint32_t arch_physical(const void *of_kernel);

/* Sets the period of ticks, in clocks of the timer. */
void arch_set_tick(uint32_t clocks);

/* Starts the timer that calls kernel_tick(). */
void arch_start_timer(void);

/* Number of refills of a component's dynamic regions, modulo 2^32; 0 if the hardware refills. */
uint32_t arch_refills(const struct component *component);

/* Stops the processor after a fatal error. */
__attribute__((noreturn)) void arch_halt(void);

/* An exception that the kernel itself caused: reports it and halts. */
__attribute__((noreturn)) void arch_unexpected(void);

#endif
