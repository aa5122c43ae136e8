/* SPDX-License-Identifier: Apache-2.0
 *
 * Decides which source has the turn, how a line looks, and which characters of a guest reach the stream.
 */
#include "console/console_mux.h"

#include "base/format.h"
#include <string.h>

#define TAG_COLUMNS 19u /* between the brackets, if name and time fit */
#define RUN_BYTES   16u /* of a step that takes several characters: as many as a UART's FIFO has */

void console_mux_init(struct console_mux *mux)
{
    memset(mux, 0, sizeof *mux);
    mux->through = CONSOLE_NOBODY;
    mux->open = CONSOLE_NOBODY;
    mux->turn = CONSOLE_SOURCES - 1; /* the first source is next */
    mux->taken = CONSOLE_TURN_CHARACTERS;
}

void console_mux_add(struct console_mux *mux, uint32_t source, struct console_ring *ring, const char *name,
                     bool raw)
{
    mux->sources[source] = (struct console_source){.ring = ring, .name = name, .raw = raw};
}

/* True if blanks or backspaces of the source's line are still to be written. They are dropped when a line of
 * another source follows. */
static bool is_pending(const struct console_mux *mux, uint32_t index)
{
    return mux->open == index && console_line_is_pending(&mux->sources[index].line);
}

/* True if the newline of the source's line is in the ring. */
static bool has_whole_line(const struct console_source *source)
{
    return source->ring != NULL &&
           (int32_t)(atomic_load_explicit(&source->ring->newlines, memory_order_acquire) - source->newlines) >
               0;
}

/* The time at which the source's next line began, or the line that is being written. */
static uint64_t line_time(const struct console_source *source)
{
    uint64_t time_us;

    return console_ring_peek_line(source->ring, &time_us) ? time_us : source->line_us;
}

/* A line of the hypervisor waits for lines that domains had finished before it, so that "powered off" is the
 * last line of a domain. Lines that a domain begins later, and lines without end, do not delay it. */
static bool waits_for_domains(const struct console_mux *mux, uint32_t index)
{
    if (index != CONSOLE_HYPERVISOR) {
        return false;
    }
    for (uint32_t i = 0; i < CONSOLE_HYPERVISOR; i++) {
        if (has_whole_line(&mux->sources[i]) &&
            line_time(&mux->sources[i]) <= line_time(&mux->sources[index])) {
            return true;
        }
    }
    return false;
}

static bool is_due(const struct console_mux *mux, uint32_t index, bool everything)
{
    const struct console_source *source = &mux->sources[index];
    uint32_t waiting;

    if (source->ring == NULL) {
        return false;
    }
    if (is_pending(mux, index)) {
        return true;
    }
    waiting = console_ring_waiting(source->ring);
    if (waiting == 0) {
        return false;
    }
    return everything || index == mux->through || waiting >= CONSOLE_RING_BYTES / 2 || has_whole_line(source);
}

static bool goes_on(const struct console_mux *mux)
{
    return mux->taken < CONSOLE_TURN_CHARACTERS &&
           (is_pending(mux, mux->turn) || console_ring_waiting(mux->sources[mux->turn].ring) != 0);
}

/* The source that is next, round robin, or CONSOLE_NOBODY. */
static uint32_t next_turn(const struct console_mux *mux, bool everything)
{
    for (uint32_t i = 1; i <= CONSOLE_SOURCES; i++) {
        uint32_t next = (mux->turn + i) % CONSOLE_SOURCES;

        if (is_due(mux, next, everything) && !waits_for_domains(mux, next)) {
            return next;
        }
    }
    return CONSOLE_NOBODY;
}

bool console_mux_is_due(const struct console_mux *mux)
{
    return goes_on(mux) || next_turn(mux, false) != CONSOLE_NOBODY;
}

/* Chooses the source: one line at a time; a long line gives way if others wait. */
static bool choose(struct console_mux *mux, bool everything)
{
    uint32_t next;

    if (goes_on(mux)) {
        return true;
    }
    mux->taken = CONSOLE_TURN_CHARACTERS;
    next = next_turn(mux, everything);
    if (next == CONSOLE_NOBODY) {
        return false;
    }
    mux->turn = next;
    mux->taken = 0;
    return true;
}

/* Returns the tag's width in columns. */
static uint32_t write_tag(struct console_bytes *out, const struct console_source *source, bool continued,
                          uint64_t time_us)
{
    uint32_t before = out->count;
    char time[24];
    uint32_t time_length =
        (uint32_t)format_text(time, sizeof time, "%lu.%06lu", (unsigned long)(time_us / 1000000),
                              (unsigned long)(time_us % 1000000));
    uint32_t columns = 0;

    console_append(out, '[');
    for (; columns < BH_NAME_BYTES && source->name[columns] != '\0'; columns++) {
        console_append(out, (uint8_t)source->name[columns]);
    }
    if (continued) {
        console_append(out, '+');
        columns++;
    }
    do {
        console_append(out, ' ');
        columns++;
    } while (columns + time_length < TAG_COLUMNS);
    for (uint32_t i = 0; i < time_length; i++) {
        console_append(out, (uint8_t)time[i]);
    }
    console_append(out, ']');
    console_append(out, ' ');
    return out->count - before;
}

static void write_newline(struct console_bytes *out)
{
    console_append(out, '\r');
    console_append(out, '\n');
}

/* Makes the source's line the last one of the stream. A line that another one has interrupted cannot be
 * edited any more, because a backspace would reach the new tag. */
static void open_line(struct console_mux *mux, struct console_bytes *out, uint64_t now_us)
{
    struct console_source *source = &mux->sources[mux->turn];
    uint32_t columns = 0;

    if (mux->open == mux->turn) {
        return;
    }
    if (mux->open != CONSOLE_NOBODY) {
        write_newline(out);
    }
    if (!source->raw) {
        columns = write_tag(out, source, source->tagged, source->tagged ? now_us : source->line_us);
    }
    source->tagged = true;
    console_line_begin(&source->line, columns);
    mux->open = mux->turn;
}

/* Moves the cursor to the start of the row, where the tag is, and writes the tag again. */
static void return_carriage(struct console_mux *mux, struct console_bytes *out, uint64_t now_us)
{
    struct console_source *source = &mux->sources[mux->turn];

    if (source->carriage_return && source->tagged && mux->open == mux->turn) {
        console_append(out, '\r');
        console_line_return(&source->line, write_tag(out, source, true, now_us));
    }
    source->carriage_return = false;
}

static void write_text(struct console_mux *mux, struct console_bytes *out, uint8_t character, uint64_t now_us)
{
    struct console_line *line = &mux->sources[mux->turn].line;

    if (console_line_hold(line, character)) {
        return;
    }
    return_carriage(mux, out, now_us);
    open_line(mux, out, now_us);
    console_line_put(line, out, character);
}

/* Takes the printable characters that follow in this turn, which is enough for most output. */
static void write_run(struct console_mux *mux, struct console_bytes *out)
{
    struct console_source *source = &mux->sources[mux->turn];
    uint32_t most = CONSOLE_TURN_CHARACTERS - mux->taken;
    uint32_t room = out->count < RUN_BYTES ? RUN_BYTES - out->count : 0;
    uint32_t taken;

    if (source->line.held_count != 0 || console_line_is_pending(&source->line)) {
        return;
    }
    taken = console_ring_take_printable(source->ring, &out->data[out->count], most < room ? most : room);
    console_line_advance(&source->line, taken);
    out->count += taken;
    mux->taken += taken;
}

static void take_carriage_return(struct console_mux *mux, struct console_bytes *out, uint64_t now_us)
{
    struct console_source *source = &mux->sources[mux->turn];

    if (source->line.held_count != 0) {
        return_carriage(mux, out, now_us);
        open_line(mux, out, now_us);
        console_line_release(&source->line, out);
    }
    source->carriage_return = true;
}

static void end_line(struct console_mux *mux, struct console_bytes *out, uint64_t now_us)
{
    struct console_source *source = &mux->sources[mux->turn];

    if (source->line.held_count != 0) {
        return_carriage(mux, out, now_us);
    }
    open_line(mux, out, now_us);
    console_line_release(&source->line, out);
    write_newline(out);
    mux->open = CONSOLE_NOBODY;
    mux->taken = CONSOLE_TURN_CHARACTERS; /* the turn is over */
    source->newlines++;
    source->tagged = false;
    source->carriage_return = false;
}

/* A raw source has the terminal to itself: writes every byte unchanged. */
static void write_raw(struct console_mux *mux, struct console_bytes *out, uint8_t character, uint64_t now_us)
{
    open_line(mux, out, now_us);
    console_append(out, character);
    if (character == '\n') {
        mux->open = CONSOLE_NOBODY;
        mux->taken = CONSOLE_TURN_CHARACTERS;
        mux->sources[mux->turn].newlines++;
    }
}

uint32_t console_mux_next(struct console_mux *mux, bool everything, uint64_t now_us, uint8_t *data,
                          bool *idle)
{
    struct console_bytes out = {0};
    struct console_source *source;
    uint8_t character;

    out.data = data;
    *idle = !choose(mux, everything);
    if (*idle) {
        return 0;
    }
    source = &mux->sources[mux->turn];
    mux->taken++;
    if (is_pending(mux, mux->turn)) {
        console_line_write_pending(&source->line, &out);
        return out.count;
    }
    if (console_ring_take(source->ring, &character, &source->line_us) != CONSOLE_ITEM_CHARACTER) {
        return 0;
    }
    if (source->raw) {
        write_raw(mux, &out, character, now_us);
    } else if (character == '\n') {
        end_line(mux, &out, now_us);
    } else if (character == '\r') {
        take_carriage_return(mux, &out, now_us);
    } else {
        write_text(mux, &out, character, now_us);
        write_run(mux, &out);
    }
    return out.count;
}
