/* SPDX-License-Identifier: Apache-2.0
 *
 * Output of one source (a domain's virtual UART, or the hypervisor's log) on its way to the console core: a
 * ring of characters, with the time at which each line began. There is one producer at a time (producers lock
 * among themselves) and one consumer; neither waits.
 */
#ifndef BULKHEAD_CONSOLE_RING_H
#define BULKHEAD_CONSOLE_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CONSOLE_RING_BYTES 2048u /* a power of two */

struct console_ring {
    _Atomic uint32_t head;     /* number of bytes pushed so far */
    _Atomic uint32_t tail;     /* number of bytes taken so far */
    _Atomic uint32_t newlines; /* number of newlines pushed so far */
    bool in_line;              /* for the producer: the next character continues a line */
    uint8_t bytes[CONSOLE_RING_BYTES];
};

/* Kinds of items that console_ring_take() returns. */
enum console_item {
    CONSOLE_ITEM_NONE = 0,
    CONSOLE_ITEM_LINE, /* a line begins; its time is returned */
    CONSOLE_ITEM_CHARACTER,
};

/* Number of free bytes. A line of n characters, including its newline, takes n + 7 bytes. */
uint32_t console_ring_room(const struct console_ring *ring);

/* Adds a character. If it begins a line, `now_us` is stored as the line's time. NUL is dropped. Returns false
 * if there is no room for it; 8 free bytes always suffice. */
bool console_ring_push(struct console_ring *ring, uint8_t character, uint64_t now_us);

/* Adds a whole line: `length` characters, none of which is NUL, and a newline. The last line in the ring must
 * be complete. Returns false, and adds nothing, if there is no room. */
bool console_ring_push_line(struct console_ring *ring, const char *text, uint32_t length, uint64_t now_us);

/* Takes the next item and returns its kind. */
enum console_item console_ring_take(struct console_ring *ring, uint8_t *character, uint64_t *time_us);

/* Takes the printable ASCII characters that come next, at most `most`, into `text`. Returns their number. */
uint32_t console_ring_take_printable(struct console_ring *ring, uint8_t *text, uint32_t most);

/* True if the next item is the beginning of a line; then sets `*time_us`. For the consumer. */
bool console_ring_peek_line(const struct console_ring *ring, uint64_t *time_us);

/* Number of bytes in the ring. */
uint32_t console_ring_waiting(const struct console_ring *ring);

#ifdef __cplusplus
}
#endif

#endif
