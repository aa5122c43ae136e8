/* SPDX-License-Identifier: Apache-2.0
 *
 * Entry points for Frama-C's EVA over the code that handles what the broker copies from guests' memory: a
 * queue, a packet's header, a socket device. A guest's memory has any contents, which may change at every
 * read, and may be unmapped at any time.
 */
#include "core/guest_memory.h"
#include "core/virtqueue.h"
#include "core/vsock_device.h"
#include "frama_c.h"

static void any_copy(void *to, uint32_t bytes)
{
    //@ loop unroll 64;
    for (uint32_t i = 0; i < bytes; i++) {
        ((uint8_t *)to)[i] = frama_c_any_byte;
    }
}

bool guest_memory_owns(const struct guest_memory *memory, uint64_t at, uint64_t bytes)
{
    (void)memory;
    (void)at;
    (void)bytes;
    return any_bool();
}

bool guest_memory_read(struct guest_memory *memory, uint64_t at, void *to, uint32_t bytes)
{
    (void)memory;
    (void)at;
    if (any_bool()) {
        return false;
    }
    any_copy(to, bytes);
    return true;
}

bool guest_memory_write(struct guest_memory *memory, uint64_t at, const void *from, uint32_t bytes)
{
    (void)memory;
    (void)at;
    for (uint32_t i = 0; i < bytes; i++) {
        (void)((const volatile uint8_t *)from)[i];
    }
    return any_bool();
}

uint64_t guest_memory_run(const struct guest_memory *memory, uint64_t at, uint64_t most, uint64_t *physical)
{
    uint64_t run = any_u64();

    (void)memory;
    (void)at;
    *physical = any_u64();
    return run < most ? run : most;
}

static void any_progress(struct virtqueue_progress *progress)
{
    progress->next_taken = (uint16_t)any_u64();
    progress->next_used = (uint16_t)any_u64();
    progress->reserved = 0;
    for (uint32_t i = 0; i < VIRTQUEUE_MOST_ENTRIES / 64; i++) {
        progress->held[i] = any_u64();
    }
}

/* Any segments, all of them set: EVA does not relate their number to how many of them are. */
static void any_chain(struct virtqueue_chain *chain)
{
    chain->head = (uint16_t)any_u64();
    chain->count = (uint16_t)any_u32_between(0, VIRTQUEUE_MOST_SEGMENTS);
    chain->readable = (uint16_t)any_u32_between(0, VIRTQUEUE_MOST_SEGMENTS);
    chain->readable_bytes = any_u64();
    chain->writable_bytes = any_u64();
    //@ loop unroll 20;
    for (uint32_t i = 0; i < VIRTQUEUE_MOST_SEGMENTS; i++) {
        chain->segments[i] = (struct virtqueue_segment){any_u64(), (uint32_t)any_u64()};
    }
}

/* As virtqueue_is_sound() ensures. */
static void any_queue(struct virtqueue *queue)
{
    queue->descriptors = any_u64();
    queue->available = any_u64();
    queue->used = any_u64();
    queue->entries = (uint16_t)(1u << any_u32_between(0, 8));
    queue->ready = any_bool();
}

void prove_virtqueue(void)
{
    struct virtqueue_progress progress;
    struct virtqueue queue;
    struct virtqueue_chain chain;
    uint8_t bytes[VSOCK_HEADER_BYTES];

    any_progress(&progress);
    any_queue(&queue);
    queue.progress = &progress;
    any_bytes(bytes, sizeof(bytes));
    any_chain(&chain);
    while (any_bool()) {
        if (virtqueue_peek(&queue, 0, &chain) == VIRTQUEUE_TAKEN) {
            uint64_t at;

            virtqueue_take(&queue, chain.head);
            (void)virtqueue_chain_at(&chain, any_u64(), &at);
            (void)virtqueue_chain_read(&chain, 0, any_u64(), bytes, sizeof(bytes));
            (void)virtqueue_chain_write(&chain, 0, any_u64(), bytes, sizeof(bytes));
        }
        (void)virtqueue_give(&queue, 0, (uint16_t)any_u64(), (uint32_t)any_u64());
        (void)virtqueue_wants_interrupt(&queue, 0);
        (void)virtqueue_resume(&queue, 0);
    }
}

/* As EL2 reports them: any values that a driver may write into its registers, and queues that are sound. */
static void any_registers(struct virtio_device *registers)
{
    virtio_device_init(registers, VSOCK_DEVICE_FEATURES, VSOCK_QUEUES);
    registers->accepted = any_u64();
    registers->status = (uint32_t)any_u64();
    registers->interrupts = (uint32_t)any_u64();
    registers->retiring = (uint32_t)any_u64();
    registers->stopping = any_bool();
    any_queue(&registers->queues[VSOCK_QUEUE_RX]);
    any_queue(&registers->queues[VSOCK_QUEUE_TX]);
    any_queue(&registers->queues[VSOCK_QUEUE_EVENT]);
}

/* Any state that a device can reach: the invariants of its functions are assumed here, and checked by
 * is_kept(). */
static void any_device(struct vsock_device *device, struct virtqueue_progress progress[])
{
    vsock_device_init(device, 0, any_u32_between(0, 31), any_u64(), progress);
    any_registers(&device->virtio);
    //@ loop unroll 3;
    for (uint32_t i = 0; i < VSOCK_QUEUES; i++) {
        any_progress(&progress[i]);
        device->virtio.queues[i].progress = &progress[i];
    }
    device->joined = any_bool();
    device->awaits_buffer = any_bool();
    device->sends = any_bool();
    device->owes_event = any_bool();
    device->malformed = any_u64();
    device->foreign = any_u64();
    device->held_descriptors = (uint32_t)any_u64();
    device->free_count = any_u32_between(0, VSOCK_PLACES);
    for (uint32_t i = 0; i < VSOCK_PLACES; i++) {
        device->free[i] = (uint16_t)any_u32_between(0, VSOCK_PLACES - 1);
    }
    any_bytes(device->packets, sizeof(device->packets));
    device->answer_count = any_u32_between(0, VSOCK_ANSWERS);
    any_bytes(device->answers, sizeof(device->answers));
}

static void is_kept(const struct vsock_device *device)
{
    uint32_t any_place = any_u32_between(0, VSOCK_PLACES - 1);

    //@ assert device->free_count <= VSOCK_PLACES && device->answer_count <= VSOCK_ANSWERS;
    //@ assert device->free[any_place] < VSOCK_PLACES;
    (void)device;
    (void)any_place;
}

static void any_header(struct vsock_header *header)
{
    any_bytes(header, sizeof(*header));
}

/* Handles what the driver has sent: a sound packet is taken into a place, another is returned and
 * answered. */
static void take_sent(struct vsock_device *device)
{
    struct vsock_packet packet;
    struct vsock_header reset;

    any_bytes(&packet, sizeof(packet));
    switch (vsock_device_peek(device, &packet)) {
    case VSOCK_SENT_PACKET:
        packet.path = any_u32_between(0, 63);
        (void)vsock_device_queue(device, &packet);
        break;
    case VSOCK_SENT_UNKNOWN:
        reset = vsock_reset_of(&packet.header);
        vsock_device_return(device, &packet);
        vsock_device_answer(device, &reset);
        break;
    case VSOCK_SENT_FOREIGN:
        vsock_device_return(device, &packet);
        break;
    case VSOCK_SENT_BROKEN:
        vsock_device_fail(device);
        break;
    default:
        break;
    }
}

void prove_vsock_device(void)
{
    static struct vsock_device device;
    static struct virtqueue_progress progress[VSOCK_QUEUES];
    struct virtio_device registers;
    struct virtqueue_chain chain;
    struct vsock_header header;
    uint16_t place = (uint16_t)any_u32_between(0, VSOCK_PLACES - 1);

    any_device(&device, progress);
    any_chain(&chain);
    switch (any_u32_between(0, 10)) {
    case 0:
        any_registers(&registers);
        vsock_device_set(&device, &registers, (uint32_t)any_u64());
        break;
    case 1:
        vsock_device_resume(&device, (uint32_t)any_u64());
        break;
    case 2:
        vsock_device_deliver_event(&device);
        break;
    case 3:
        vsock_device_lose(&device);
        break;
    case 4:
        take_sent(&device);
        break;
    case 5:
        vsock_device_deliver_answers(&device);
        break;
    case 6:
        (void)vsock_device_chain(&device, place, &chain);
        break;
    case 7:
        (void)vsock_device_take_buffer(&device, &chain);
        break;
    case 8:
        any_header(&header);
        (void)vsock_device_deliver_header(&device, &header);
        break;
    case 9:
        if (device.free_count < VSOCK_PLACES) { /* a packet is in its place */
            vsock_device_finish(&device, place);
        }
        break;
    default:
        vsock_device_return_buffer(&device, &chain);
        break;
    }
    is_kept(&device);
}
