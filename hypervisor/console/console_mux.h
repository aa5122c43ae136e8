/* SPDX-License-Identifier: Apache-2.0
 *
 * Merges the output of all domains and of the hypervisor into one stream of tagged lines. Pure bookkeeping:
 * takes characters from rings, returns bytes for the UART. Only whoever drains the console calls it.
 *
 * A guest cannot forge a tag: a line of the stream begins with a tag that is made here, console_line.h makes
 * sure that a guest stays behind it, and a carriage return that is not followed by a newline puts a tag there
 * again. A source that is raw has the terminal for itself: its bytes pass as they are, without a tag.
 */
#ifndef BULKHEAD_CONSOLE_MUX_H
#define BULKHEAD_CONSOLE_MUX_H

#include "base/console_ring.h"
#include "console/console_line.h"
#include <bulkhead_layout.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CONSOLE_SOURCES    (BH_MAX_DOMAINS + 1u)
#define CONSOLE_HYPERVISOR BH_MAX_DOMAINS /* the source after the domains */
#define CONSOLE_NOBODY     UINT32_MAX

/* A turn of one source ends with its line, or after so many characters when others wait. */
#define CONSOLE_TURN_CHARACTERS 160u

/* Bytes that one call of console_mux_next() gives at most: CR LF, a tag and text. */
#define CONSOLE_STEP_BYTES (2u + (BH_NAME_BYTES + 28u) + CONSOLE_LINE_STEP_BYTES)

struct console_source {
    struct console_ring *ring; /* NULL: there is no such source */
    const char *name;          /* BH_NAME_BYTES, padded with zeros, or terminated */
    uint64_t line_us;          /* when the line began */
    uint32_t newlines;         /* taken */
    bool raw;                  /* passed as it is */
    bool tagged;               /* the line has had a tag: the next is a continuation */
    bool carriage_return;      /* held back until what follows is known */
    struct console_line line;
};

struct console_mux {
    struct console_source sources[CONSOLE_SOURCES];
    uint32_t through; /* source that is written through before its line is complete, or CONSOLE_NOBODY */
    uint32_t open;    /* source whose unfinished line is the last in the stream, or CONSOLE_NOBODY */
    uint32_t turn;    /* source whose turn it is */
    uint32_t taken;   /* items in this turn; CONSOLE_TURN_CHARACTERS: it is over */
};

void console_mux_init(struct console_mux *mux);

void console_mux_add(struct console_mux *mux, uint32_t source, struct console_ring *ring, const char *name,
                     bool raw);

/* Takes one item and returns how many bytes it gave in `out` (CONSOLE_STEP_BYTES long), 0 to that many. Sets
 * *idle if nothing is due: unfinished lines wait for their end, but for the source that is written through,
 * or all if `everything`. `now_us` is the time of continuations. */
uint32_t console_mux_next(struct console_mux *mux, bool everything, uint64_t now_us, uint8_t *out,
                          bool *idle);

#ifdef __cplusplus
}
#endif

#endif
