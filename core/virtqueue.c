/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The device's side of a split virtqueue (virtio 1.2, 2.7): all numbers are little-endian, as the machine is.
 */
#include "core/virtqueue.h"

#include "core/atomic.h"

#define DESCRIPTOR_BYTES     16u
#define DESCRIPTOR_NEXT      1u
#define DESCRIPTOR_WRITE     2u
#define DESCRIPTOR_KNOWN     (DESCRIPTOR_NEXT | DESCRIPTOR_WRITE)
#define AVAILABLE_FLAGS      0u
#define AVAILABLE_INDEX      2u
#define AVAILABLE_RING       4u
#define NO_INTERRUPT         1u
#define USED_INDEX           2u
#define USED_RING            4u
#define USED_BYTES           8u
#define RING_TAIL_BYTES      6u /* flags, index, and an event index that nobody reads */
#define DESCRIPTOR_ALIGNMENT 16u
#define AVAILABLE_ALIGNMENT  2u
#define USED_ALIGNMENT       4u

struct descriptor {
    uint64_t at;
    uint32_t bytes;
    uint16_t flags;
    uint16_t next;
};

struct used_entry {
    uint32_t head;
    uint32_t written;
};

_Static_assert(sizeof(struct descriptor) == DESCRIPTOR_BYTES && sizeof(struct used_entry) == USED_BYTES,
               "layouts of the specification");

uint32_t virtqueue_chain_at(const struct virtqueue_chain *chain, uint64_t offset, uint64_t *at)
{
    for (uint32_t i = 0; i < chain->count; i++) {
        const struct virtqueue_segment *segment = &chain->segments[i];

        if (offset < segment->bytes) {
            *at = segment->at + offset;
            return segment->bytes - (uint32_t)offset;
        }
        offset -= segment->bytes;
    }
    return 0;
}

static uint32_t run_of(const struct virtqueue_chain *chain, uint64_t offset, uint32_t most, uint64_t *at)
{
    uint32_t run = virtqueue_chain_at(chain, offset, at);

    return run < most ? run : most;
}

bool virtqueue_chain_read(const struct virtqueue_chain *chain, struct guest_memory *memory, uint64_t offset,
                          void *to, uint32_t bytes)
{
    uint64_t at;

    for (uint32_t done = 0; done < bytes;) {
        uint32_t run = run_of(chain, offset + done, bytes - done, &at);

        if (run == 0 || !guest_memory_read(memory, at, (uint8_t *)to + done, run)) {
            return false;
        }
        done += run;
    }
    return true;
}

bool virtqueue_chain_write(const struct virtqueue_chain *chain, struct guest_memory *memory, uint64_t offset,
                           const void *from, uint32_t bytes)
{
    uint64_t at;

    for (uint32_t done = 0; done < bytes;) {
        uint32_t run = run_of(chain, offset + done, bytes - done, &at);

        if (run == 0 || !guest_memory_write(memory, at, (const uint8_t *)from + done, run)) {
            return false;
        }
        done += run;
    }
    return true;
}

bool virtqueue_is_sound(const struct virtqueue *queue, const struct guest_memory *memory)
{
    uint64_t entries = queue->entries;

    return entries != 0 && entries <= VIRTQUEUE_MOST_ENTRIES && (entries & (entries - 1)) == 0 &&
           queue->descriptors % DESCRIPTOR_ALIGNMENT == 0 && queue->available % AVAILABLE_ALIGNMENT == 0 &&
           queue->used % USED_ALIGNMENT == 0 &&
           guest_memory_owns(memory, queue->descriptors, entries * DESCRIPTOR_BYTES) &&
           guest_memory_owns(memory, queue->available, entries * 2 + RING_TAIL_BYTES) &&
           guest_memory_owns(memory, queue->used, entries * USED_BYTES + RING_TAIL_BYTES);
}

static bool read_16(struct guest_memory *memory, uint64_t at, uint16_t *value)
{
    return guest_memory_read(memory, at, value, sizeof(*value));
}

static bool add_segment(struct virtqueue_chain *chain, const struct guest_memory *memory,
                        const struct descriptor *descriptor)
{
    bool writable = (descriptor->flags & DESCRIPTOR_WRITE) != 0;

    /* What is written comes behind what is read; all of it is the guest's own. */
    if (chain->count == VIRTQUEUE_MOST_SEGMENTS || descriptor->bytes == 0 ||
        (descriptor->flags & ~DESCRIPTOR_KNOWN) != 0 || (!writable && chain->readable != chain->count) ||
        !guest_memory_owns(memory, descriptor->at, descriptor->bytes)) {
        return false;
    }
    chain->segments[chain->count++] =
        (struct virtqueue_segment){.at = descriptor->at, .bytes = descriptor->bytes};
    if (writable) {
        chain->writable_bytes += descriptor->bytes;
    } else {
        chain->readable++;
        chain->readable_bytes += descriptor->bytes;
    }
    return true;
}

/* A chain that runs in a circle ends when it has too many segments. */
static bool read_chain(const struct virtqueue *queue, struct guest_memory *memory,
                       struct virtqueue_chain *chain)
{
    struct descriptor descriptor = {.next = chain->head};

    do {
        if (descriptor.next >= queue->entries ||
            !guest_memory_read(memory, queue->descriptors + descriptor.next * (uint64_t)DESCRIPTOR_BYTES,
                               &descriptor, sizeof(descriptor)) ||
            !add_segment(chain, memory, &descriptor)) {
            return false;
        }
    } while ((descriptor.flags & DESCRIPTOR_NEXT) != 0);
    return true;
}

enum virtqueue_answer virtqueue_peek(const struct virtqueue *queue, struct guest_memory *memory,
                                     struct virtqueue_chain *chain)
{
    uint16_t index;
    uint16_t waiting;
    uint64_t slot = queue->next_taken & (queue->entries - 1u);

    if (!read_16(memory, queue->available + AVAILABLE_INDEX, &index)) {
        return VIRTQUEUE_BROKEN;
    }
    waiting = (uint16_t)(index - queue->next_taken);
    if (waiting == 0) {
        return VIRTQUEUE_EMPTY;
    }
    if (waiting > queue->entries) {
        return VIRTQUEUE_BROKEN;
    }
    /* The guest wrote the entry before the index that says so. */
    atomic_acquire_fence();
    *chain = (struct virtqueue_chain){0};
    if (!read_16(memory, queue->available + AVAILABLE_RING + slot * 2, &chain->head) ||
        !read_chain(queue, memory, chain)) {
        return VIRTQUEUE_BROKEN;
    }
    return VIRTQUEUE_TAKEN;
}

void virtqueue_advance(struct virtqueue *queue)
{
    queue->next_taken++;
}

bool virtqueue_give(struct virtqueue *queue, struct guest_memory *memory, uint16_t head, uint32_t written)
{
    struct used_entry entry = {.head = head, .written = written};
    uint64_t slot = queue->next_used & (queue->entries - 1u);

    if (!guest_memory_write(memory, queue->used + USED_RING + slot * USED_BYTES, &entry, sizeof(entry))) {
        return false;
    }
    queue->next_used++;
    /* The entry, and what the device wrote, are there before the index says so. */
    atomic_release_fence();
    return guest_memory_write(memory, queue->used + USED_INDEX, &queue->next_used, sizeof(queue->next_used));
}

bool virtqueue_wants_interrupt(const struct virtqueue *queue, struct guest_memory *memory)
{
    uint16_t flags = 0;

    /* The guest sees the chains before it is asked, or has said that it wants an interrupt. */
    atomic_full_fence();
    return read_16(memory, queue->available + AVAILABLE_FLAGS, &flags) && (flags & NO_INTERRUPT) == 0;
}
