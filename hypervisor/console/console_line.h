/* SPDX-License-Identifier: Apache-2.0
 *
 * The line that one source of the console is writing: which of its characters reach the stream, and as what.
 * A source cannot leave its line or make a terminal answer, whatever terminal it is: what comes out is
 * printable ASCII, and backspaces that stay behind the tag. Used by the multiplexer alone; pure bookkeeping.
 *
 * Line editing needs backspace, CSI D (cursor left) and CSI J or K (erase the rest of the line): they become
 * backspaces and blanks, as long as the line has not left a row of 80 columns: behind that the cursor only
 * goes on. Tabulators become blanks. Colors (CSI m) are dropped, because they would outlast the line, and so
 * is the question where the cursor is (CSI 6 n), because the terminal's answer would be typed. Every other
 * control character is shown as ^X, and every byte from 0x80 on as \xNN: C1 controls, direction and width of
 * characters depend on the terminal.
 */
#ifndef BULKHEAD_CONSOLE_LINE_H
#define BULKHEAD_CONSOLE_LINE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Columns of the narrowest terminal for which a source's tag is safe, and in which lines can be edited. */
#define CONSOLE_ROW_COLUMNS 80u

/* Bytes of an incomplete escape sequence that are held back; a longer sequence is shown as text. */
#define CONSOLE_HELD_BYTES 32u

/* Bytes that one call of a function here appends at most: the sequence held, an escape of it as two
 * characters, and a tabulator. */
#define CONSOLE_LINE_STEP_BYTES (CONSOLE_HELD_BYTES + 1u + 8u)

struct console_bytes {
    uint8_t *data;
    uint32_t count;
};

struct console_line {
    uint32_t room;       /* columns after the tag in a row of CONSOLE_ROW_COLUMNS, but the last one */
    uint32_t column;     /* of the cursor, from the end of the tag */
    uint32_t length;     /* after the tag */
    uint32_t blanks;     /* still to be written by an erasure, */
    uint32_t backspaces; /* and then these */
    uint8_t held_count;
    uint8_t held[CONSOLE_HELD_BYTES]; /* start of an escape sequence that is not complete */
};

static inline void console_append(struct console_bytes *out, uint8_t byte)
{
    out->data[out->count++] = byte;
}

/* A tag of so many columns stands before the cursor, and nothing behind it. A sequence that has begun goes
 * on. */
void console_line_begin(struct console_line *line, uint32_t tag_columns);

/* A tag of so many columns was written again over the start of the row. */
void console_line_return(struct console_line *line, uint32_t tag_columns);

/* Takes a character if it begins or continues an escape sequence: nothing is to be written for it yet. */
bool console_line_hold(struct console_line *line, uint8_t character);

/* Writes any other character but newline and carriage return; ends the sequence held. */
void console_line_put(struct console_line *line, struct console_bytes *out, uint8_t character);

/* So many printable characters were written behind the last one; no sequence is held. */
void console_line_advance(struct console_line *line, uint32_t columns);

/* Writes the sequence held as text: it was not one that is known here. */
void console_line_release(struct console_line *line, struct console_bytes *out);

/* Whether blanks or backspaces of an earlier sequence are still to be written. */
bool console_line_is_pending(const struct console_line *line);

/* Writes up to 16 of them. */
void console_line_write_pending(struct console_line *line, struct console_bytes *out);

#ifdef __cplusplus
}
#endif

#endif
