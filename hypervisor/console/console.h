/* SPDX-License-Identifier: Apache-2.0
 *
 * One UART for everybody: domains' output and the hypervisor's own lines, tagged and line by line; typed
 * input to the domain that has the focus. Once domains run only the console core touches the UART, in bounded
 * steps; producers leave characters in rings and never wait. docs/architecture.md, "Console", has the format.
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

/* Answer to the escape and `t`: its tag has the time. src/bulkhead/run/console.py knows it. */
#define CONSOLE_TIME_LINE "this is the time"

struct domain;

/* Prepares the UART and forgets all output state. First core, before anything is logged; the domains may be
 * set up later. `console_domain`: who gets typed input at first, or BH_ALL_DOMAINS for the first with a
 * console. */
void console_init(const struct manifest_platform *platform, uint32_t console_core, uint32_t console_domain);

/* Takes part in the interrupts of the UART from now on. On the console core, after gic_cpu_init() and
 * domain_init_all(). */
void console_start(void);

/* Writes what was logged so far, waiting for the UART for 20 ms at most: then no guest's first steps are
 * interrupted for it. What is left leaves later. First core, after console_start() and before any domain
 * runs. */
void console_write_start(void);

/* CPU_REQUEST_CONSOLE arrived, or the alarm: writes what waits, as far as the time of the console core's own
 * guest allows; then asks for the alarm. On the console core. */
void console_handle_request(void);

/* The UART's interrupt. On the console core. */
void console_irq(void);

/* A domain has put a character into its ring. Wakes the console core where that is due. */
void console_output_pushed(struct domain *domain, uint8_t character);

/* A line of the hypervisor's own, without a newline at its end. Any core; lines are never mixed, cut at 160
 * characters. A line that finds no room is dropped and counted in a later one. */
void console_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Texts of the hypervisor's that others have left for the console core to format: `print_next` logs the next
 * line, on the console core, one each time when there is room; false: there is none. First core, before the
 * start. */
void console_add_text(bool (*print_next)(void));

/* There is such a text. Any core. */
void console_text_waits(void);

/* Writes everything that waits, waiting for the UART, and shows no more of what guests write. Before the
 * machine is stopped; one core. */
void console_flush(void);

/* Whether what guests write is not shown any more. */
bool console_is_closed(void);

#ifdef __cplusplus
}
#endif

#endif
