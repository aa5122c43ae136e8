/* SPDX-License-Identifier: Apache-2.0
 *
 * Output of one source (a domain's virtual UART, the hypervisor's log) on its way to the console core: a ring
 * of characters with the time at which each line began. One producer at a time (its lock is the producer's
 * business), one consumer, no waiting on either side.
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
    _Atomic uint32_t head;     /* bytes ever pushed */
    _Atomic uint32_t tail;     /* bytes ever taken */
    _Atomic uint32_t newlines; /* ever pushed */
    bool in_line;              /* producer: the next character continues a line */
    uint8_t bytes[CONSOLE_RING_BYTES];
};

/* What console_ring_take() found. */
enum console_item {
    CONSOLE_ITEM_NONE = 0,
    CONSOLE_ITEM_LINE, /* a line begins: the time is set */
    CONSOLE_ITEM_CHARACTER,
};

/* Free bytes. A line of n characters, its newline included, takes n + 7. */
uint32_t console_ring_room(const struct console_ring *ring);

/* Adds a character; `now_us` is kept if it begins a line. NUL is dropped. Returns false if there is no room
 * for it (8 free bytes always suffice). */
bool console_ring_push(struct console_ring *ring, uint8_t character, uint64_t now_us);

/* Adds a whole line of characters that are not NUL, and its newline; the ring ends with a whole line. Returns
 * false if there is no room for it. */
bool console_ring_push_line(struct console_ring *ring, const char *text, uint32_t length, uint64_t now_us);

/* Takes the next item. */
enum console_item console_ring_take(struct console_ring *ring, uint8_t *character, uint64_t *time_us);

/* Takes the printable ASCII characters that come next, `most` at most, into `text`. Returns how many. */
uint32_t console_ring_take_printable(struct console_ring *ring, uint8_t *text, uint32_t most);

/* Whether the next item is the beginning of a line; then sets its time. For the consumer. */
bool console_ring_peek_line(const struct console_ring *ring, uint64_t *time_us);

/* Bytes that wait. */
uint32_t console_ring_waiting(const struct console_ring *ring);

#ifdef __cplusplus
}
#endif

#endif
