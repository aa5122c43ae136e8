/* SPDX-License-Identifier: Apache-2.0
 *
 * One UART for all: the domains' output and the hypervisor's own lines are written line by line, with tags;
 * typed input goes to the domain that has the focus. Once domains run, only the console core accesses the
 * UART, in bounded steps; producers put characters into rings and never wait. The format is in
 * docs/design/architecture.md, "Console".
 */
#ifndef BULKHEAD_CONSOLE_H
#define BULKHEAD_CONSOLE_H

#include <bulkhead_layout.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Answer to the escape followed by `t`: the line's tag has the time. src/bulkhead/run/console.py expects this
 * text. */
#define CONSOLE_TIME_LINE "this is the time"

struct domain;

/* Sets up the UART and clears all output state. Called on the first core before anything is logged; the
 * domains may be set up later. `console_domain`: the domain that gets typed input first, or BH_ALL_DOMAINS
 * for the first domain with a console. */
void console_init(const struct manifest_platform *platform, uint32_t console_core, uint32_t console_domain);

/* Lets the UART's interrupts come and wakes the console core. Called on the console core, after
 * gic_cpu_init() and domain_init_all(). */
void console_start(void);

/* Writes what was logged so far, polling the UART for at most 20 ms, so that this output does not interrupt
 * the first steps of a guest. Output that is left is written later. Called on the first core, after
 * console_start() and before any domain runs. */
void console_write_start(void);

/* Handles CPU_REQUEST_CONSOLE, the alarm and the UART's interrupt: moves characters that were typed, and
 * waiting output, within the time that the console may take from the console core's own guest. If something
 * was moved it sets the alarm. Called on the console core. */
void console_handle(void);

/* A domain has put a character into its ring: wakes the console core if the output is due. */
void console_output_pushed(struct domain *domain, uint8_t character);

/* Logs a line of the hypervisor, without a newline at its end. May be called on any core; lines are never
 * mixed and are cut at 160 characters. A line for which there is no room is dropped, and a later line states
 * how many were. */
void console_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Registers a source of hypervisor texts that the console core formats. `print_next` logs the next line and
 * is called on the console core, once for each line, when there is room; it returns false if there is no
 * line. Called on the first core, before the start. */
void console_add_text(bool (*print_next)(void));

/* Wakes the console core because a line for `print_next` is waiting. May be called on any core. */
void console_text_waits(void);

/* Writes all waiting output, polling the UART, and drops what guests write from now on. Called on one core
 * before the machine is stopped. */
void console_flush(void);

/* True if guests' new output is no longer shown. */
bool console_is_closed(void);

#ifdef __cplusplus
}
#endif

#endif
