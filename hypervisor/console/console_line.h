/* SPDX-License-Identifier: Apache-2.0
 *
 * The line that one source of the console is writing: decides which of its characters reach the stream, and
 * in what form. A source can neither leave its line nor make a terminal answer, whatever the terminal: the
 * output is printable ASCII, and backspaces that stay behind the tag. Only the multiplexer uses this. It does
 * no input or output.
 *
 * Line editing needs backspace, CSI D (cursor left) and CSI J or K (erase the rest of the line). They become
 * backspaces and blanks, as long as the line fits in a row of 80 columns; beyond that, the cursor only moves
 * forward. Tabs become blanks. Colors (CSI m) are dropped, because they would outlast the line. Requests for
 * the cursor position (CSI 6 n) are dropped, because the terminal's answer would arrive as typed input. Every
 * other control character is shown as ^X, and every byte from 0x80 on as \xNN, because C1 controls, text
 * direction and character width depend on the terminal.
 */
#ifndef BULKHEAD_CONSOLE_LINE_H
#define BULKHEAD_CONSOLE_LINE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Columns of the narrowest terminal on which a source's tag is safe; lines up to this width can be edited. */
#define CONSOLE_ROW_COLUMNS 80u

/* Most bytes of an incomplete escape sequence that are held back; a longer sequence is shown as text. */
#define CONSOLE_HELD_BYTES 32u

/* Most bytes that one call of a function here appends: the held sequence, its escape being shown as two
 * characters, and a tab. */
#define CONSOLE_LINE_STEP_BYTES (CONSOLE_HELD_BYTES + 1u + 8u)

struct console_bytes {
    uint8_t *data;
    uint32_t count;
};

struct console_line {
    uint32_t room;       /* columns after the tag in a row of CONSOLE_ROW_COLUMNS, without the last one */
    uint32_t column;     /* position of the cursor, counted from the end of the tag */
    uint32_t length;     /* columns of text after the tag */
    uint32_t blanks;     /* blanks still to be written by an erasure */
    uint32_t backspaces; /* backspaces still to be written after them */
    uint8_t held_count;
    uint8_t held[CONSOLE_HELD_BYTES]; /* start of an incomplete escape sequence */
};

static inline void console_append(struct console_bytes *out, uint8_t byte)
{
    out->data[out->count++] = byte;
}

/* Begins a line: a tag of `tag_columns` columns stands before the cursor, and nothing behind it. A sequence
 * that has begun continues. */
void console_line_begin(struct console_line *line, uint32_t tag_columns);

/* The cursor has returned to the start of the row, and a tag of `tag_columns` columns was written again. */
void console_line_return(struct console_line *line, uint32_t tag_columns);

/* Takes the character and returns true if it begins or continues an escape sequence; nothing is written for
 * it yet. */
bool console_line_hold(struct console_line *line, uint8_t character);

/* Writes any other character except newline and carriage return; ends the held sequence. */
void console_line_put(struct console_line *line, struct console_bytes *out, uint8_t character);

/* Records that `columns` printable characters were written at the end of the line; no sequence may be
 * held. */
void console_line_advance(struct console_line *line, uint32_t columns);

/* Writes the held sequence as text, because it is not one that is known here. */
void console_line_release(struct console_line *line, struct console_bytes *out);

/* True if blanks or backspaces of an earlier sequence are still to be written. */
bool console_line_is_pending(const struct console_line *line);

/* Writes up to 16 of these blanks and backspaces. */
void console_line_write_pending(struct console_line *line, struct console_bytes *out);

#ifdef __cplusplus
}
#endif

#endif
