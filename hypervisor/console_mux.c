/* SPDX-License-Identifier: Apache-2.0
 *
 * Whose turn it is, what a line looks like, and which characters of a guest reach the stream.
 */
#include "console_mux.h"

#include "format.h"
#include <string.h>

#define TAG_COLUMNS 19u /* between the brackets, if name and time fit */

struct bytes {
    uint8_t *data;
    uint32_t count;
};

static void append(struct bytes *out, uint8_t byte)
{
    out->data[out->count++] = byte;
}

void console_mux_init(struct console_mux *mux)
{
    memset(mux, 0, sizeof *mux);
    mux->through = CONSOLE_NOBODY;
    mux->open = CONSOLE_NOBODY;
    mux->turn = CONSOLE_SOURCES - 1; /* the first source is next */
    mux->taken = CONSOLE_TURN_CHARACTERS;
}

void console_mux_add(struct console_mux *mux, uint32_t source, struct console_ring *ring, const char *name)
{
    mux->sources[source] = (struct console_source){.ring = ring, .name = name};
}

static bool is_due(const struct console_mux *mux, uint32_t index, bool everything)
{
    const struct console_source *source = &mux->sources[index];
    uint32_t waiting;

    if (source->ring == NULL) {
        return false;
    }
    waiting = console_ring_waiting(source->ring);
    if (waiting == 0) {
        return false;
    }
    return everything || index == mux->through || waiting >= CONSOLE_RING_BYTES / 2 ||
           (int32_t)(atomic_load_explicit(&source->ring->newlines, memory_order_acquire) - source->newlines) >
               0;
}

/* Round robin, a line at a time; a long line gives way when others wait. */
static bool choose(struct console_mux *mux, bool everything)
{
    if (mux->taken < CONSOLE_TURN_CHARACTERS && console_ring_waiting(mux->sources[mux->turn].ring) != 0) {
        return true;
    }
    mux->taken = CONSOLE_TURN_CHARACTERS;
    for (uint32_t i = 1; i <= CONSOLE_SOURCES; i++) {
        uint32_t next = (mux->turn + i) % CONSOLE_SOURCES;

        if (is_due(mux, next, everything)) {
            mux->turn = next;
            mux->taken = 0;
            return true;
        }
    }
    return false;
}

static void write_tag(struct bytes *out, const struct console_source *source, bool continued,
                      uint64_t time_us)
{
    char time[24];
    uint32_t time_length =
        (uint32_t)format_text(time, sizeof time, "%lu.%06lu", (unsigned long)(time_us / 1000000),
                              (unsigned long)(time_us % 1000000));
    uint32_t columns = 0;

    append(out, '[');
    for (; columns < BH_NAME_BYTES && source->name[columns] != '\0'; columns++) {
        append(out, (uint8_t)source->name[columns]);
    }
    if (continued) {
        append(out, '+');
        columns++;
    }
    do {
        append(out, ' ');
        columns++;
    } while (columns + time_length < TAG_COLUMNS);
    for (uint32_t i = 0; i < time_length; i++) {
        append(out, (uint8_t)time[i]);
    }
    append(out, ']');
    append(out, ' ');
}

static void write_newline(struct bytes *out)
{
    append(out, '\r');
    append(out, '\n');
}

/* Makes the source's line the last one of the stream. */
static void open_line(struct console_mux *mux, struct bytes *out, uint64_t now_us)
{
    struct console_source *source = &mux->sources[mux->turn];

    if (mux->open == mux->turn) {
        return;
    }
    if (mux->open != CONSOLE_NOBODY) {
        write_newline(out);
    }
    write_tag(out, source, source->tagged, source->tagged ? now_us : source->line_us);
    source->tagged = true;
    mux->open = mux->turn;
}

static bool is_printable(const struct console_source *source, uint8_t character)
{
    if (character >= ' ') {
        return character != 0x7F;
    }
    return character == '\t' || character == 0x1B || (character == '\b' && source->column != 0);
}

static void write_text(struct console_mux *mux, struct bytes *out, uint8_t character, uint64_t now_us)
{
    struct console_source *source = &mux->sources[mux->turn];

    if (!is_printable(source, character)) {
        return;
    }
    if (source->carriage_return && source->tagged && mux->open == mux->turn) {
        append(out, '\r');
        write_tag(out, source, true, now_us);
        source->column = 0;
    }
    source->carriage_return = false;
    open_line(mux, out, now_us);
    append(out, character);
    source->column = character == '\b' ? source->column - 1 : source->column + 1;
}

static void end_line(struct console_mux *mux, struct bytes *out, uint64_t now_us)
{
    struct console_source *source = &mux->sources[mux->turn];

    open_line(mux, out, now_us);
    write_newline(out);
    mux->open = CONSOLE_NOBODY;
    mux->taken = CONSOLE_TURN_CHARACTERS; /* the turn is over */
    source->newlines++;
    source->column = 0;
    source->tagged = false;
    source->carriage_return = false;
}

uint32_t console_mux_next(struct console_mux *mux, bool everything, uint64_t now_us, uint8_t *data,
                          bool *idle)
{
    struct bytes out = {0};
    struct console_source *source;
    uint8_t character;

    out.data = data;
    *idle = !choose(mux, everything);
    if (*idle) {
        return 0;
    }
    source = &mux->sources[mux->turn];
    mux->taken++;
    if (console_ring_take(source->ring, &character, &source->line_us) != CONSOLE_ITEM_CHARACTER) {
        return 0;
    }
    if (character == '\n') {
        end_line(mux, &out, now_us);
    } else if (character == '\r') {
        source->carriage_return = true;
    } else {
        write_text(mux, &out, character, now_us);
    }
    return out.count;
}
