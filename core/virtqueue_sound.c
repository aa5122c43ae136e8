/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Whether the three areas of a queue are valid (virtio 1.2, 2.7). It is separate from the code that reads
 * queues, because EL2 handles the registers and never reads queues.
 */
#include "core/virtqueue.h"

#define DESCRIPTOR_BYTES     16u
#define USED_BYTES           8u
#define RING_TAIL_BYTES      6u /* flags, index, and an event index that is never read */
#define DESCRIPTOR_ALIGNMENT 16u
#define AVAILABLE_ALIGNMENT  2u
#define USED_ALIGNMENT       4u

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
