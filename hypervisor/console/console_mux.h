/* SPDX-License-Identifier: Apache-2.0
 *
 * Merges the output of all domains and of the hypervisor into one stream of tagged lines. It takes characters
 * from rings and returns bytes for the UART; it does no input or output itself. Only the code that drains the
 * console calls it.
 *
 * A guest cannot forge a tag. Each line of the stream begins with a tag that is made here, console_line.h
 * keeps a guest's output behind it, and after a carriage return that is not followed by a newline the tag is
 * written again. A raw source has the terminal to itself: its bytes are passed unchanged, without a tag.
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

/* A turn of a source ends with its line, or after this many characters if others wait. */
#define CONSOLE_TURN_CHARACTERS 160u

/* Most bytes that one call of console_mux_next() returns: CR LF, a tag and text. */
#define CONSOLE_STEP_BYTES (2u + (BH_NAME_BYTES + 28u) + CONSOLE_LINE_STEP_BYTES)

struct console_source {
    struct console_ring *ring; /* NULL: there is no such source */
    const char *name;          /* up to BH_NAME_BYTES characters, terminated by NUL if shorter */
    uint64_t line_us;          /* time at which the line began */
    uint32_t newlines;         /* number of newlines taken so far */
    bool raw;                  /* its bytes are passed unchanged */
    bool tagged;               /* the line already has a tag: the next one marks a continuation */
    bool carriage_return;      /* a carriage return is held back until the next character is known */
    struct console_line line;
};

struct console_mux {
    struct console_source sources[CONSOLE_SOURCES];
    uint32_t through; /* source whose incomplete lines are written at once, or CONSOLE_NOBODY */
    uint32_t open;    /* source whose unfinished line is the last line of the stream, or CONSOLE_NOBODY */
    uint32_t turn;    /* source that has the turn */
    uint32_t taken;   /* items taken in this turn; CONSOLE_TURN_CHARACTERS: the turn is over */
};

void console_mux_init(struct console_mux *mux);

void console_mux_add(struct console_mux *mux, uint32_t source, struct console_ring *ring, const char *name,
                     bool raw);

/* True if console_mux_next() without `everything` has an item to take. */
bool console_mux_is_due(const struct console_mux *mux);

/* Takes one item and returns the number of bytes written to `out`, 0 to CONSOLE_STEP_BYTES. Sets *idle if
 * nothing is due: unfinished lines wait for their end, except those of the source `through`, or none of them
 * if `everything`. `now_us` is the time shown in tags of continuations. */
uint32_t console_mux_next(struct console_mux *mux, bool everything, uint64_t now_us, uint8_t *out,
                          bool *idle);

#ifdef __cplusplus
}
#endif

#endif
