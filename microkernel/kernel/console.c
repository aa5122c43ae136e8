/* SPDX-License-Identifier: Apache-2.0
 *
 * Text is written to a queue. The UART gets as many characters as it accepts without waiting: when a
 * component writes, at each tick, and when the scheduler idles. A component waits for its text by repeating
 * its call, with interrupts enabled, so it waits in its own time, at its own priority and on its own budget.
 * The queue has reserved space for lines of the kernel and of the scheduler, which therefore never wait.
 */
#include "microkernel/kernel/console.h"
#include "microkernel/kernel/arch.h"
#include "microkernel/kernel/boot.h"

#define NAME_COLUMNS    12u
#define SECONDS_COLUMNS 3u
#define US_DIGITS       6u
#define US_PER_S        1000000u
#define MOST_DIGITS     10u
#define KERNEL          MOST_COMPONENTS /* the kernel's number as a writer */
#define TEXT_BYTES      8u              /* of a call */
#define FIRST_PRINTABLE 0x20u
#define LAST_PRINTABLE  0x7Eu

/* The kernel writes at most one line at the end of each component, the scheduler one line at its first
 * overrun. A component writes only into an empty queue, and at most a tag and 8 characters. */
#define LONGEST_LINE 256u
#define QUEUE_BYTES  8192u
_Static_assert(QUEUE_BYTES >= (2u * MOST_COMPONENTS + 3u) * LONGEST_LINE,
               "the queue needs space for all lines that never wait");

static struct {
    uint64_t clocks;
    uint32_t last_clock;
    uint32_t writer;     /* writer of the unfinished line */
    uint32_t unfinished; /* bit i: the line of component i was interrupted by another writer's */
    bool is_open;
    uint32_t first; /* start of the queue */
    uint32_t count;
    uint8_t
        accepted[MOST_COMPONENTS]; /* characters accepted so far of the call that each component repeats */
    char queue[QUEUE_BYTES];
} console;

void console_start(void)
{
    console.clocks = 0;
    console.last_clock = 0;
    console.unfinished = 0;
    console.is_open = false;
    console.count = 0;
    for (uint32_t i = 0; i < MOST_COMPONENTS; i++) {
        console.accepted[i] = 0;
    }
}

/* bound: QUEUE_BYTES, and the characters that the UART accepts without waiting */
void console_drain(void)
{
    while (console.count != 0 && arch_can_put()) {
        arch_put(console.queue[console.first]);
        console.first = (console.first + 1u) % QUEUE_BYTES;
        console.count--;
    }
}

void console_flush(void)
{
    while (console.count != 0) {
        console_drain();
    }
}

uint32_t console_waits(void)
{
    return console.count;
}

/* The sizes above ensure that there is space. If they were wrong, the kernel would wait, and no character
 * would be lost. */
void console_put(char character)
{
    if (console.count == 0 && arch_can_put()) {
        arch_put(character);
        return;
    }
    while (console.count == QUEUE_BYTES) {
        console_drain();
    }
    console.queue[(console.first + console.count) % QUEUE_BYTES] = character;
    console.count++;
}

void console_keep_time(void)
{
    uint32_t now = arch_time();

    console.clocks += now - console.last_clock;
    console.last_clock = now;
}

static uint32_t put_number(uint32_t value, uint32_t least_digits, char fill)
{
    char text[MOST_DIGITS];
    uint32_t digits = 0;
    uint32_t columns;

    do {
        text[digits++] = (char)('0' + value % 10u);
        value /= 10u;
    } while (value != 0);
    columns = digits > least_digits ? digits : least_digits;
    for (uint32_t i = columns; i > digits; i--) {
        console_put(fill);
    }
    while (digits > 0) {
        console_put(text[--digits]);
    }
    return columns;
}

static void put_tag(const char *name, bool continues)
{
    uint32_t hz = arch_time_hz();
    uint32_t columns = 0;
    uint32_t rest;

    console_keep_time();
    console_put('[');
    while (columns < NAME_BYTES && name[columns] != '\0') {
        console_put(name[columns++]);
    }
    if (continues) {
        console_put('+');
        columns++;
    }
    while (columns++ < NAME_COLUMNS) {
        console_put(' ');
    }
    console_put(' ');
    rest = (uint32_t)(console.clocks % hz);
    (void)put_number((uint32_t)(console.clocks / hz), SECONDS_COLUMNS, ' ');
    console_put('.');
    (void)put_number((uint32_t)((uint64_t)rest * US_PER_S / hz), US_DIGITS, '0');
    console_put(']');
    console_put(' ');
}

static bool has_tags(void)
{
    return kernel.system != 0 && (kernel.system->flags & SYSTEM_TAGS) != 0;
}

/* Begins or continues a line of the writer. */
static void open_line(uint32_t writer, const char *name)
{
    if (console.is_open && console.writer == writer) {
        return;
    }
    if (console.is_open) {
        console.unfinished |= 1u << console.writer;
        console_put('\n');
    }
    put_tag(name, (console.unfinished >> writer & 1u) != 0);
    console.is_open = true;
    console.writer = writer;
}

static void finish(uint32_t writer)
{
    console.unfinished &= ~(1u << writer);
    console.is_open = false;
}

void console_begin(void)
{
    if (has_tags()) {
        open_line(KERNEL, "kernel");
        return;
    }
    for (const char *text = "kernel: "; *text != '\0'; text++) {
        console_put(*text);
    }
}

void console_end(void)
{
    console_put('\n');
    finish(KERNEL);
    console_drain();
}

/* Writes one character of a component. False if it ends the line. */
static bool put_text(const struct component *component, char character)
{
    uint32_t writer = component_number(component);

    if (has_tags()) {
        open_line(writer, component->name);
    }
    if (character == '\n') {
        finish(writer);
    } else if ((uint8_t)character < FIRST_PRINTABLE || (uint8_t)character > LAST_PRINTABLE) {
        character = '?';
    }
    console_put(character);
    return character != '\n';
}

static char character_of(const uint32_t word[2], uint32_t index)
{
    return (char)(index < TEXT_BYTES ? (uint8_t)(word[index / sizeof word[0]] >> 8 * (index % sizeof word[0]))
                                     : 0);
}

bool console_text(const struct component *component, const uint32_t word[2])
{
    uint32_t writer = component_number(component);
    uint8_t *accepted = &console.accepted[writer];
    bool waits = writer != SCHEDULER;

    console_drain();
    if (character_of(word, 0) == '\0') {
        return true;
    }
    /* At most one line at a time: no other writer waits for more than one tag and 8 characters. */
    while (character_of(word, *accepted) != '\0' &&
           (waits ? console.count == 0 : console.count < QUEUE_BYTES - LONGEST_LINE)) {
        bool is_in_line = true;

        while (is_in_line && character_of(word, *accepted) != '\0') {
            is_in_line = put_text(component, character_of(word, *accepted));
            (*accepted)++;
        }
        console_drain();
    }
    if (character_of(word, *accepted) != '\0' || (waits && console.count != 0)) {
        return false;
    }
    *accepted = 0;
    return true;
}
