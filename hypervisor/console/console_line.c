/* SPDX-License-Identifier: Apache-2.0
 *
 * Does what a terminal does with the characters of one source, as far as that is possible with printable
 * characters and backspaces; everything else becomes text.
 */
#include "console/console_line.h"

#define TAB_COLUMNS  8u  /* between two tabulator stops, counted from the start of the text */
#define PENDING_STEP 16u /* bytes in one step of what a sequence has asked for */
#define ESCAPE       0x1Bu
#define MOST_COLUMNS 4096u /* more than any number that means something here */

void console_line_begin(struct console_line *line, uint32_t tag_columns)
{
    line->room = tag_columns < CONSOLE_ROW_COLUMNS ? CONSOLE_ROW_COLUMNS - 1 - tag_columns : 0;
    line->column = 0;
    line->length = 0;
    line->blanks = 0;
    line->backspaces = 0;
}

void console_line_return(struct console_line *line, uint32_t tag_columns)
{
    uint32_t length = line->length;

    console_line_begin(line, tag_columns);
    /* If the row is too long, the cursor may now be in the terminal's next row, whose content is unknown. */
    line->length = length <= line->room ? length : 0;
}

bool console_line_is_pending(const struct console_line *line)
{
    return line->blanks != 0 || line->backspaces != 0;
}

void console_line_write_pending(struct console_line *line, struct console_bytes *out)
{
    while (out->count < PENDING_STEP && line->blanks != 0) {
        console_append(out, ' ');
        line->blanks--;
    }
    while (out->count < PENDING_STEP && line->backspaces != 0) {
        console_append(out, '\b');
        line->backspaces--;
    }
}

void console_line_advance(struct console_line *line, uint32_t columns)
{
    line->column += columns;
    line->length = line->column > line->length ? line->column : line->length;
}

/* Writes one column of the line. */
static void write_column(struct console_line *line, struct console_bytes *out, uint8_t character)
{
    console_append(out, character);
    console_line_advance(line, 1);
}

/* Writes printable ASCII unchanged, and all other bytes in a form that every terminal shows as text. */
static void write_visible(struct console_line *line, struct console_bytes *out, uint8_t character)
{
    static const char digits[] = "0123456789abcdef";

    if (character < ' ' || character == 0x7F) {
        write_column(line, out, '^');
        write_column(line, out, character ^ 0x40);
    } else if (character < 0x7F) {
        write_column(line, out, character);
    } else {
        write_column(line, out, '\\');
        write_column(line, out, 'x');
        write_column(line, out, (uint8_t)digits[character >> 4]);
        write_column(line, out, (uint8_t)digits[character & 15]);
    }
}

/* Does nothing in a line that has left the row: a terminal stops at its last column or continues in the next
 * row, and EL2 does not know at which column, so backspaces could reach the tag. */
static void move_left(struct console_line *line, uint32_t columns)
{
    if (line->length > line->room) {
        return;
    }
    columns = columns < line->column ? columns : line->column;
    line->column -= columns;
    line->backspaces += columns;
}

static void erase_rest(struct console_line *line)
{
    if (line->length > line->room) {
        return;
    }
    line->blanks = line->length - line->column;
    line->backspaces = line->blanks;
    line->length = line->column;
}

void console_line_release(struct console_line *line, struct console_bytes *out)
{
    for (uint32_t i = 0; i < line->held_count; i++) {
        write_visible(line, out, line->held[i]);
    }
    line->held_count = 0;
}

/* The number before the final byte of the held sequence, or `missing` if there is none; UINT32_MAX if it is
 * not a number. */
static uint32_t held_number(const struct console_line *line, uint32_t missing)
{
    uint32_t number = 0;

    for (uint32_t i = 2; i < line->held_count; i++) {
        if (line->held[i] < '0' || line->held[i] > '9') {
            return UINT32_MAX;
        }
        number = number < MOST_COLUMNS ? number * 10 + line->held[i] - '0' : number;
    }
    return line->held_count == 2 ? missing : number;
}

static bool is_rendition(const struct console_line *line)
{
    for (uint32_t i = 2; i < line->held_count; i++) {
        if (line->held[i] > ';') {
            return false;
        }
    }
    return true;
}

/* `final` ends the held sequence. If it is a sequence that line editing or colors need, handles it and
 * returns true. Colors are dropped, because they would continue after the line. Requests for the cursor
 * position are dropped, because the answer would arrive as typed input. */
static bool take_sequence(struct console_line *line, uint8_t final)
{
    switch (final) {
    case 'D':
        if (held_number(line, 1) == UINT32_MAX) {
            return false;
        }
        move_left(line, held_number(line, 1) == 0 ? 1 : held_number(line, 1)); /* 0 means 1 (ECMA-48, CUB) */
        return true;
    case 'J':
    case 'K':
        if (held_number(line, 0) != 0) {
            return false;
        }
        erase_rest(line);
        return true;
    case 'm':
        return is_rendition(line);
    case 'n':
        return held_number(line, 0) == 6;
    default:
        return false;
    }
}

bool console_line_hold(struct console_line *line, uint8_t character)
{
    uint32_t count = line->held_count;

    if (count == CONSOLE_HELD_BYTES || (count == 0 && character != ESCAPE) ||
        (count == 1 && character != '[') || (count > 1 && (character < '0' || character > '?'))) {
        return false;
    }
    line->held[line->held_count++] = character;
    return true;
}

void console_line_put(struct console_line *line, struct console_bytes *out, uint8_t character)
{
    if (line->held_count > 1 && take_sequence(line, character)) {
        line->held_count = 0;
        return;
    }
    console_line_release(line, out);
    if (console_line_hold(line, character)) {
        return;
    }
    if (character == '\b') {
        move_left(line, 1);
    } else if (character == '\t') {
        do {
            write_column(line, out, ' ');
        } while (line->column % TAB_COLUMNS != 0);
    } else {
        write_visible(line, out, character);
    }
}
