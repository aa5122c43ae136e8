/* SPDX-License-Identifier: Apache-2.0
 *
 * The console that all components share. If the system's description says so, each line begins with a tag:
 * the component's name and the time since the start, as lines of domains (docs/architecture.md, Console). A
 * component cannot write a tag at the start of a line, so no line can be taken for another one's.
 */
#ifndef BULKHEAD_MICROKERNEL_CONSOLE_H
#define BULKHEAD_MICROKERNEL_CONSOLE_H

#include "microkernel/kernel/kernel.h"

/* Nothing has been written. */
void console_start(void);

/* HW_CONSOLE: up to 8 characters. What is not printable is written as '?', but for the end of a line. False:
 * the component has to repeat the call, with the same characters, because the UART is not yet through with
 * them. The scheduler waits only for room. */
bool console_text(const struct component *component, const uint32_t word[2]);

/* The UART gets what it takes without waiting. */
void console_drain(void);

/* The UART gets everything: before the kernel halts. */
void console_flush(void);

/* Characters that the UART has not got yet. */
uint32_t console_waits(void);

/* The kernel's own line begins, has a character, and ends. */
void console_begin(void);
void console_put(char character);
void console_end(void);

/* Reads the time before it can have gone around: with each tick. */
void console_keep_time(void);

#endif
