/* SPDX-License-Identifier: Apache-2.0
 *
 * The ring between a producer of console output and the console core. Before the first character of a line,
 * the ring holds its time: a zero byte and six bytes of microseconds. The two sides run on different cores.
 */
#include "base/console_ring.h"

#define STAMP_MARK  0u
#define STAMP_BYTES 6u

static uint8_t *byte_at(struct console_ring *ring, uint32_t position)
{
    return &ring->bytes[position % CONSOLE_RING_BYTES];
}

static uint64_t stamp_at(const struct console_ring *ring, uint32_t position)
{
    uint64_t time_us = 0;

    for (uint32_t i = 0; i < STAMP_BYTES; i++) {
        time_us |= (uint64_t)ring->bytes[(position + i) % CONSOLE_RING_BYTES] << 8 * i;
    }
    return time_us;
}

uint32_t console_ring_waiting(const struct console_ring *ring)
{
    return atomic_load_explicit(&ring->head, memory_order_acquire) -
           atomic_load_explicit(&ring->tail, memory_order_acquire);
}

uint32_t console_ring_room(const struct console_ring *ring)
{
    return CONSOLE_RING_BYTES - console_ring_waiting(ring);
}

/* Returns the position after the stamp. */
static uint32_t put_stamp(struct console_ring *ring, uint32_t head, uint64_t now_us)
{
    *byte_at(ring, head++) = STAMP_MARK;
    for (uint32_t i = 0; i < STAMP_BYTES; i++) {
        *byte_at(ring, head++) = (uint8_t)(now_us >> 8 * i);
    }
    return head;
}

bool console_ring_push(struct console_ring *ring, uint8_t character, uint64_t now_us)
{
    uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

    if (character == STAMP_MARK) {
        return true;
    }
    if (console_ring_room(ring) < (ring->in_line ? 0 : 1 + STAMP_BYTES) + (character == '\n' ? 1 : 2)) {
        return false; /* the last byte is kept for the end of a line */
    }
    if (!ring->in_line) {
        head = put_stamp(ring, head, now_us);
    }
    *byte_at(ring, head++) = character;
    ring->in_line = character != '\n';
    atomic_store_explicit(&ring->head, head, memory_order_release);
    if (character == '\n') {
        atomic_fetch_add_explicit(&ring->newlines, 1, memory_order_release);
    }
    return true;
}

bool console_ring_push_line(struct console_ring *ring, const char *text, uint32_t length, uint64_t now_us)
{
    uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

    if (console_ring_room(ring) < 1 + STAMP_BYTES + length + 1) {
        return false;
    }
    head = put_stamp(ring, head, now_us);
    for (uint32_t i = 0; i < length; i++) {
        *byte_at(ring, head++) = (uint8_t)text[i];
    }
    *byte_at(ring, head++) = '\n';
    atomic_store_explicit(&ring->head, head, memory_order_release);
    atomic_fetch_add_explicit(&ring->newlines, 1, memory_order_release);
    return true;
}

enum console_item console_ring_take(struct console_ring *ring, uint8_t *character, uint64_t *time_us)
{
    uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    enum console_item item = CONSOLE_ITEM_CHARACTER;

    if (atomic_load_explicit(&ring->head, memory_order_acquire) == tail) {
        return CONSOLE_ITEM_NONE;
    }
    *character = *byte_at(ring, tail++);
    if (*character == STAMP_MARK) {
        *time_us = stamp_at(ring, tail);
        tail += STAMP_BYTES;
        item = CONSOLE_ITEM_LINE;
    }
    atomic_store_explicit(&ring->tail, tail, memory_order_release);
    return item;
}

uint32_t console_ring_take_printable(struct console_ring *ring, uint8_t *text, uint32_t most)
{
    uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    uint32_t waiting = atomic_load_explicit(&ring->head, memory_order_acquire) - tail;
    uint32_t count = 0;

    most = waiting < most ? waiting : most;
    while (count < most) {
        uint8_t character = *byte_at(ring, tail + count);

        if (character < ' ' || character > '~') {
            break;
        }
        text[count++] = character;
    }
    atomic_store_explicit(&ring->tail, tail + count, memory_order_release);
    return count;
}

bool console_ring_peek_line(const struct console_ring *ring, uint64_t *time_us)
{
    uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

    if (atomic_load_explicit(&ring->head, memory_order_acquire) == tail ||
        ring->bytes[tail % CONSOLE_RING_BYTES] != STAMP_MARK) {
        return false;
    }
    *time_us = stamp_at(ring, tail + 1);
    return true;
}
