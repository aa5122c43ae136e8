/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls that an instrumented program running bare (machine/program/bare.h) may make to the machine: its
 * console, its memory, the simulated time. The program includes this header; the loader binds the calls. They
 * take no simulated time.
 */
#ifndef BULKHEAD_MACHINE_PROGRAM_CALLS_H
#define BULKHEAD_MACHINE_PROGRAM_CALLS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Appends to the text that the run reports. */
void machine_write(const char *text, uint64_t bytes);

/* Records an event with the core's clock; the program chooses the number. */
void machine_mark(uint32_t id);

/* The core's clock in picoseconds. */
uint64_t machine_clock_ps(void);

/* The program's memory that is neither data nor stack; its size goes to *bytes. */
void *machine_memory(uint64_t *bytes);

/* Sets the program's result, if it is more than main's return value. */
void machine_result(uint64_t value);

/* Ends the program as if main had returned `status`. */
__attribute__((noreturn)) void machine_exit(int status);

#ifdef __cplusplus
}
#endif

#endif
