/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The device side of a split virtqueue (virtio 1.2, 2.7), which trusts nothing that the guest wrote (F1).
 * Indirect descriptors, event indexes and packed queues are not offered. A queue belongs to one device, and
 * the caller serializes the calls; the guest may change its side of the queue at any time during a call.
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

/* The device's progress in a queue. It is updated such that after any instruction another device could
 * continue from it (virtqueue_resume()). */
struct virtqueue_progress {
    uint16_t next_taken; /* number of chains taken, modulo 2^16 */
    uint16_t next_used;  /* number of chains returned in the used ring, modulo 2^16 */
    uint32_t reserved;
    uint64_t held[VIRTQUEUE_MOST_ENTRIES / 64]; /* heads of chains that were taken and not yet returned */
};

struct virtqueue {
    uint64_t descriptors; /* guest-physical addresses of the three areas */
    uint64_t available;
    uint64_t used;
    uint16_t entries; /* a power of two */
    bool ready;
    struct virtqueue_progress *progress; /* set by the code that takes chains */
};

struct virtqueue_segment {
    uint64_t at;
    uint32_t bytes;
};

/* A copy of a descriptor chain: all of its bytes are in memory of the guest. Segments that the device may
 * write come last. */
struct virtqueue_chain {
    uint16_t head;     /* index of its first descriptor, which names the chain in the used ring */
    uint16_t count;    /* number of segments */
    uint16_t readable; /* number of segments that the device may read, which come first */
    uint64_t readable_bytes;
    uint64_t writable_bytes;
    struct virtqueue_segment segments[VIRTQUEUE_MOST_SEGMENTS];
};

enum virtqueue_answer {
    VIRTQUEUE_TAKEN,
    VIRTQUEUE_EMPTY,
    VIRTQUEUE_BROKEN, /* invalid input from the guest: the device needs a reset */
};

/* Finds byte `offset` of a chain: `*at` is its guest-physical address. Returns how many bytes from there on
 * are in the same segment; 0: the chain has no such byte. */
uint32_t virtqueue_chain_at(const struct virtqueue_chain *chain, uint64_t offset, uint64_t *at);

/* Copies bytes out of or into a chain, from `offset` on. Returns false if the chain does not have so many. */
bool virtqueue_chain_read(const struct virtqueue_chain *chain, struct guest_memory *memory, uint64_t offset,
                          void *to, uint32_t bytes);
bool virtqueue_chain_write(const struct virtqueue_chain *chain, struct guest_memory *memory, uint64_t offset,
                           const void *from, uint32_t bytes);

/* Whether the number of entries and the addresses are valid for a queue in this memory; checked once, before
 * the queue is enabled. */
bool virtqueue_is_sound(const struct virtqueue *queue, const struct guest_memory *memory);

/* Reads the next chain that the guest made available, without taking it: until virtqueue_take() it remains
 * the next one. */
enum virtqueue_answer virtqueue_peek(const struct virtqueue *queue, struct guest_memory *memory,
                                     struct virtqueue_chain *chain);

/* Takes the chain that virtqueue_peek() returned last, which begins at `head`. */
void virtqueue_take(struct virtqueue *queue, uint16_t head);

/* Copies and checks the chain that begins at descriptor `head`, as the guest has it now. Returns false if it
 * is not a valid chain. */
bool virtqueue_chain_of(const struct virtqueue *queue, struct guest_memory *memory, uint16_t head,
                        struct virtqueue_chain *chain);

/* Returns a chain to the guest in the used ring; `written` bytes of it were written. Returns false if the
 * queue is broken. */
bool virtqueue_give(struct virtqueue *queue, struct guest_memory *memory, uint16_t head, uint32_t written);

/* Continues from the progress of another device that has ended: chains that it had taken are returned with
 * nothing written. Returns false if the guest's side of the queue does not match the progress. */
bool virtqueue_resume(struct virtqueue *queue, struct guest_memory *memory);

/* Whether the guest wants an interrupt for chains in the used ring. */
bool virtqueue_wants_interrupt(const struct virtqueue *queue, struct guest_memory *memory);

#ifdef __cplusplus
}
#endif

#endif
