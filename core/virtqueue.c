/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The device side of a split virtqueue (virtio 1.2, 2.7). All fields are little-endian, like the machine.
 */
#include "core/virtqueue.h"

#include "core/atomic.h"

#define DESCRIPTOR_BYTES 16u
#define DESCRIPTOR_NEXT  1u
#define DESCRIPTOR_WRITE 2u
#define DESCRIPTOR_KNOWN (DESCRIPTOR_NEXT | DESCRIPTOR_WRITE)
#define AVAILABLE_FLAGS  0u
#define AVAILABLE_INDEX  2u
#define AVAILABLE_RING   4u
#define NO_INTERRUPT     1u
#define USED_INDEX       2u
#define USED_RING        4u
#define USED_BYTES       8u

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
               "layouts are those of the specification");

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
        uint32_t run;

        /*@ split done; */
        run = run_of(chain, offset + done, bytes - done, &at);
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
        uint32_t run;

        /*@ split done; */
        run = run_of(chain, offset + done, bytes - done, &at);
        if (run == 0 || !guest_memory_write(memory, at, (const uint8_t *)from + done, run)) {
            return false;
        }
        done += run;
    }
    return true;
}

static bool read_16(struct guest_memory *memory, uint64_t at, uint16_t *value)
{
    return guest_memory_read(memory, at, value, sizeof(*value));
}

static bool add_segment(struct virtqueue_chain *chain, const struct guest_memory *memory,
                        const struct descriptor *descriptor)
{
    bool writable = (descriptor->flags & DESCRIPTOR_WRITE) != 0;

    /* Readable segments come first, then writable ones, and all lie in the guest's own memory. */
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

/* A chain with a loop ends when it has too many segments. */
bool virtqueue_chain_of(const struct virtqueue *queue, struct guest_memory *memory, uint16_t head,
                        struct virtqueue_chain *chain)
{
    struct descriptor descriptor = {.next = head};

    chain->head = head;
    chain->count = 0;
    chain->readable = 0;
    chain->readable_bytes = 0;
    chain->writable_bytes = 0;
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
    uint16_t head;
    uint64_t slot = queue->progress->next_taken & (queue->entries - 1u);

    if (!read_16(memory, queue->available + AVAILABLE_INDEX, &index)) {
        return VIRTQUEUE_BROKEN;
    }
    waiting = (uint16_t)(index - queue->progress->next_taken);
    if (waiting == 0) {
        return VIRTQUEUE_EMPTY;
    }
    if (waiting > queue->entries) {
        return VIRTQUEUE_BROKEN;
    }
    /* The guest writes the entry before the index. */
    atomic_acquire_fence();
    if (!read_16(memory, queue->available + AVAILABLE_RING + slot * 2, &head) ||
        !virtqueue_chain_of(queue, memory, head, chain)) {
        return VIRTQUEUE_BROKEN;
    }
    return VIRTQUEUE_TAKEN;
}

static uint64_t *word_of(struct virtqueue_progress *progress, uint16_t head)
{
    return &progress->held[head / 64 % (VIRTQUEUE_MOST_ENTRIES / 64)];
}

static bool holds(struct virtqueue_progress *progress, uint16_t head)
{
    return (*word_of(progress, head) >> head % 64 & 1) != 0;
}

static void set_held(struct virtqueue_progress *progress, uint16_t head, bool held)
{
    uint64_t bit = 1ull << head % 64;
    uint64_t *word = word_of(progress, head);

    *word = held ? *word | bit : *word & ~bit;
    atomic_program_order();
}

void virtqueue_take(struct virtqueue *queue, uint16_t head)
{
    set_held(queue->progress, head, true);
    queue->progress->next_taken++;
}

bool virtqueue_give(struct virtqueue *queue, struct guest_memory *memory, uint16_t head, uint32_t written)
{
    struct virtqueue_progress *progress = queue->progress;
    struct used_entry entry = {.head = head, .written = written};
    uint64_t slot = progress->next_used & (queue->entries - 1u);
    uint16_t given = (uint16_t)(progress->next_used + 1u);

    if (!guest_memory_write(memory, queue->used + USED_RING + slot * USED_BYTES, &entry, sizeof(entry))) {
        return false;
    }
    /* The entry, and the data that the device wrote, must be visible before the index. */
    atomic_release_fence();
    if (!guest_memory_write(memory, queue->used + USED_INDEX, &given, sizeof(given))) {
        return false;
    }
    set_held(progress, head, false);
    progress->next_used = given;
    return true;
}

/* Completes a virtqueue_take() or virtqueue_give() during which the device's previous instance ended. */
static bool finish_step(struct virtqueue *queue, struct guest_memory *memory)
{
    struct virtqueue_progress *progress = queue->progress;
    uint64_t used_slot = progress->next_used & (queue->entries - 1u);
    uint64_t available_slot = progress->next_taken & (queue->entries - 1u);
    uint16_t used;
    uint16_t available;
    uint16_t head;

    if (!read_16(memory, queue->used + USED_INDEX, &used) ||
        !read_16(memory, queue->available + AVAILABLE_INDEX, &available)) {
        return false;
    }
    if (used == (uint16_t)(progress->next_used + 1u)) {
        if (!read_16(memory, queue->used + USED_RING + used_slot * USED_BYTES, &head)) {
            return false;
        }
        set_held(progress, head, false);
        progress->next_used = used;
    }
    if (available != progress->next_taken) {
        atomic_acquire_fence();
        if (!read_16(memory, queue->available + AVAILABLE_RING + available_slot * 2, &head)) {
            return false;
        }
        /* Skips a chain that the device already holds: a correct driver does not offer it again. */
        if (holds(progress, head)) {
            progress->next_taken++;
        }
    }
    return used == progress->next_used;
}

bool virtqueue_resume(struct virtqueue *queue, struct guest_memory *memory)
{
    if (!finish_step(queue, memory)) {
        return false;
    }
    for (uint16_t head = 0; head < VIRTQUEUE_MOST_ENTRIES; head++) {
        if (holds(queue->progress, head) && !virtqueue_give(queue, memory, head, 0)) {
            return false;
        }
    }
    return true;
}

bool virtqueue_wants_interrupt(const struct virtqueue *queue, struct guest_memory *memory)
{
    uint16_t flags = 0;

    /* The guest must see the chains before the device reads whether it wants an interrupt. */
    atomic_full_fence();
    return read_16(memory, queue->available + AVAILABLE_FLAGS, &flags) && (flags & NO_INTERRUPT) == 0;
}
