/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The device's side of a split virtqueue (virtio 1.2, 2.7), which trusts nothing that the guest wrote (F1).
 * Neither indirect descriptors nor event indexes nor packed queues are offered. A queue belongs to one
 * device, whose caller serializes the calls; the guest's side of it may change under every one of them.
 */
#ifndef BULKHEAD_CORE_VIRTQUEUE_H
#define BULKHEAD_CORE_VIRTQUEUE_H

#include "core/guest_memory.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VIRTQUEUE_MOST_ENTRIES 256u
#define VIRTQUEUE_MOST_SEGMENTS                                                                              \
    20u /* of a chain: a header, and the fragments of a network buffer of Linux                              \
         */

/* How far the device is. It is kept so that at every instruction another device could go on from it
 * (virtqueue_resume()). */
struct virtqueue_progress {
    uint16_t next_taken; /* chains that were taken, modulo 2^16 */
    uint16_t next_used;  /* chains that were given back */
    uint32_t reserved;
    uint64_t held[VIRTQUEUE_MOST_ENTRIES / 64]; /* heads of those that were taken and not given back */
};

struct virtqueue {
    uint64_t descriptors; /* guest-physical addresses of the three areas */
    uint64_t available;
    uint64_t used;
    uint16_t entries; /* a power of two */
    bool ready;
    struct virtqueue_progress *progress; /* whoever takes chains has set it */
};

struct virtqueue_segment {
    uint64_t at;
    uint32_t bytes;
};

/* A chain of descriptors, copied: all of its bytes are the guest's. Those that the device may write come
 * last.
 */
struct virtqueue_chain {
    uint16_t head;     /* its name, when it is given back */
    uint16_t count;    /* segments */
    uint16_t readable; /* the first of them */
    uint64_t readable_bytes;
    uint64_t writable_bytes;
    struct virtqueue_segment segments[VIRTQUEUE_MOST_SEGMENTS];
};

enum virtqueue_answer {
    VIRTQUEUE_TAKEN,
    VIRTQUEUE_EMPTY,
    VIRTQUEUE_BROKEN, /* invalid input from the guest: the device needs a reset */
};

/* Where byte `offset` of a chain lies, and how many of it from there on are in the same segment; 0: it has no
 * such byte. */
uint32_t virtqueue_chain_at(const struct virtqueue_chain *chain, uint64_t offset, uint64_t *at);

/* Copies bytes of a chain from `offset` on, out of it or into it. False: it does not have so many. */
bool virtqueue_chain_read(const struct virtqueue_chain *chain, struct guest_memory *memory, uint64_t offset,
                          void *to, uint32_t bytes);
bool virtqueue_chain_write(const struct virtqueue_chain *chain, struct guest_memory *memory, uint64_t offset,
                           const void *from, uint32_t bytes);

/* Whether entries and addresses can be a queue in this memory; asked once, before the queue is ready. */
bool virtqueue_is_sound(const struct virtqueue *queue, const struct guest_memory *memory);

/* The next chain that the guest made available, without taking it: until virtqueue_take() it is the next. */
enum virtqueue_answer virtqueue_peek(const struct virtqueue *queue, struct guest_memory *memory,
                                     struct virtqueue_chain *chain);

/* Takes the chain that was seen last, which begins at `head`. */
void virtqueue_take(struct virtqueue *queue, uint16_t head);

/* The chain that begins at descriptor `head`, copied and checked as the guest has it now. False: it is none.
 */
bool virtqueue_chain_of(const struct virtqueue *queue, struct guest_memory *memory, uint16_t head,
                        struct virtqueue_chain *chain);

/* Gives a chain back, `written` bytes of it having been written. False: broken. */
bool virtqueue_give(struct virtqueue *queue, struct guest_memory *memory, uint16_t head, uint32_t written);

/* Goes on from where another device was when it ended: what it had taken is given back, with nothing written.
 * False: the guest's side does not fit that. */
bool virtqueue_resume(struct virtqueue *queue, struct guest_memory *memory);

/* Whether the guest wants to be interrupted for chains that were given back. */
bool virtqueue_wants_interrupt(const struct virtqueue *queue, struct guest_memory *memory);

#ifdef __cplusplus
}
#endif

#endif
