/* SPDX-License-Identifier: Apache-2.0
 *
 * What an instrumented program that runs bare (machine/program/bare.h) may ask of the machine: its console,
 * its memory, the simulated time. Included by the program; the loader binds the calls. They cost no simulated
 * time.
 */
#ifndef BULKHEAD_MACHINE_PROGRAM_CALLS_H
#define BULKHEAD_MACHINE_PROGRAM_CALLS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Appends to the text that the run reports. */
void machine_write(const char *text, uint64_t bytes);

/* Notes an event of the program's own numbering with the core's clock. */
void machine_mark(uint32_t id);

/* The core's clock. */
uint64_t machine_clock_ps(void);

/* Memory of the program's own, beside its data and its stack. */
void *machine_memory(uint64_t *bytes);

/* The program's result, if it is more than main returns. */
void machine_result(uint64_t value);

/* Ends the program as if main had returned `status`. */
__attribute__((noreturn)) void machine_exit(int status);

#ifdef __cplusplus
}
#endif

#endif
