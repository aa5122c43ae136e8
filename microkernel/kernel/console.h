/* SPDX-License-Identifier: Apache-2.0
 *
 * The console that all components share. If the system's description says so, each line begins with a tag:
 * the component's name and the time since the start, as in lines of domains (docs/design/architecture.md,
 * Console). A component cannot write a tag at the start of a line, so no line can be mistaken for another
 * component's.
 */
#ifndef BULKHEAD_MICROKERNEL_CONSOLE_H
#define BULKHEAD_MICROKERNEL_CONSOLE_H

#include "microkernel/kernel/kernel.h"

/* Resets the console: nothing has been written. */
void console_start(void);

/* HW_CONSOLE: writes up to 8 characters. Non-printable characters are written as '?', except the end of a
 * line. False: the component must repeat the call with the same characters, because the UART has not taken
 * all of them. The scheduler waits only for room in the buffer. */
bool console_text(const struct component *component, const uint32_t word[2]);

/* Gives the UART the characters that it takes without waiting. */
void console_drain(void);

/* Gives the UART all characters, before the kernel halts. */
void console_flush(void);

/* Number of characters that the UART has not taken yet. */
uint32_t console_waits(void);

/* Begin a line of the kernel itself, add a character, end the line. */
void console_begin(void);
void console_put(char character);
void console_end(void);

/* Reads the time often enough to notice each wrap-around: called with each tick. */
void console_keep_time(void);

#endif
