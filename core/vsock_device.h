/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The virtio socket device of one domain: its registers, what it has sent and is not yet delivered, and its
 * receive buffers (F1). It knows nothing of other devices (core/flow_exchange.h). The caller holds `lock`.
 * Who takes what the driver has sent holds `send_lock` outside of it, and reads the driver's queue without
 * `lock`, so that the broker does not wait for that; who sets queues up, resets them or forgets packets holds
 * both.
 */
#ifndef BULKHEAD_CORE_VSOCK_DEVICE_H
#define BULKHEAD_CORE_VSOCK_DEVICE_H

#include "core/packet_queue.h"
#include "core/spinlock.h"
#include "core/virtio_mmio.h"
#include "core/vsock.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VSOCK_NO_SERIAL UINT64_MAX /* of a packet that is finished */
#define VSOCK_ANSWERS   8u         /* resets of unknown connections that wait for a receive buffer */

/* A packet of this device's driver. */
struct vsock_packet {
    struct vsock_header header; /* the copy that was checked */
    uint32_t path;              /* number of its flow ... */
    bool reverse;               /* ... and its direction */
    uint32_t done_bytes;        /* of its payload, delivered or on the way */
    bool begun;                 /* by the broker: its header stays as it is */
    uint64_t serial;            /* no two packets of a device have the same */
    struct virtqueue_chain chain;
};

struct vsock_device {
    struct spinlock send_lock; /* of what is taken of the driver's sending queue, and of paces */
    struct spinlock lock; /* of all else; what is read under `send_lock` alone only ever leaves more room */
    struct virtio_mmio mmio;
    struct guest_memory *memory;
    uint64_t cid;
    uint32_t index;   /* of the domain */
    uint64_t up;      /* 1: a driver works with it; read without the lock */
    uint64_t awaited; /* 1: the broker has found no receive buffer; read without the lock */
    bool joined;      /* a driver has worked with it since it was lost last */
    uint64_t failed;  /* 1: since somebody looked; it must be treated as lost; read without the lock */
    uint64_t life;    /* counts resets: what began in an earlier one is not finished in this */
    uint64_t next_serial;
    struct packet_queue queue;
    struct vsock_packet packets[PACKET_QUEUE_SLOTS]; /* by slot of the queue */
    uint32_t answer_count;
    struct vsock_header answers[VSOCK_ANSWERS];
    uint64_t malformed; /* times that the guest wrote what cannot be */
    uint64_t foreign;   /* packets with a sender that it is not */
};

/* What the driver has sent next. */
enum vsock_sent {
    VSOCK_SENT_NOTHING, /* or nothing that there is room for */
    VSOCK_SENT_PACKET,  /* a sound header: vsock_device_queue() or vsock_device_return() comes next */
    VSOCK_SENT_UNKNOWN, /* one that is answered with a reset */
    VSOCK_SENT_FOREIGN, /* dropped: vsock_device_return() comes next */
    VSOCK_SENT_BROKEN,  /* vsock_device_fail() comes next */
};

/* Both locks: nobody reads or changes anything of it. */
static inline void vsock_device_lock(struct vsock_device *device)
{
    spin_lock(&device->send_lock);
    spin_lock(&device->lock);
}

static inline void vsock_device_unlock(struct vsock_device *device)
{
    spin_unlock(&device->lock);
    spin_unlock(&device->send_lock);
}

void vsock_device_init(struct vsock_device *device, struct guest_memory *memory, uint32_t index,
                       uint64_t cid);

/* Forgets all that was sent: what is in flight elsewhere belongs to an earlier life. For a device that does
 * not run any more. */
void vsock_device_lose(struct vsock_device *device);

/* Forgets all registers. Nothing touches the guest's buffers any more. */
void vsock_device_reset(struct vsock_device *device);

/* Under `send_lock` alone. */
enum vsock_sent vsock_device_peek(struct vsock_device *device, struct vsock_packet *packet);

/* The guest wrote what cannot be: the device asks for a reset. */
void vsock_device_fail(struct vsock_device *device);

/* Takes the packet that was seen last into the queue. */
void vsock_device_queue(struct vsock_device *device, const struct vsock_packet *packet,
                        const struct packet_key *key);

/* What was seen last says how much its connection has taken, or asks for that, and so does the latest packet
 * of the connection that waits: that one says it now, and vsock_device_return() comes next. */
bool vsock_device_merge(struct vsock_device *device, const struct vsock_packet *packet);

/* Gives the driver back what was seen last, as if it were sent. */
void vsock_device_return(struct vsock_device *device, const struct vsock_packet *packet);

/* A reset for the driver itself; there is room, or vsock_device_peek() would have seen nothing. */
void vsock_device_answer(struct vsock_device *device, const struct vsock_header *reset);

/* A packet is delivered, or given up. */
void vsock_device_finish(struct vsock_device *device, uint32_t slot);

/* The next receive buffer, which then is taken: room for a header and at least a byte. False: there is none
 * now. */
bool vsock_device_take_buffer(struct vsock_device *device, struct virtqueue_chain *buffer);

/* Delivers a header, and `header->bytes` of payload that lie behind it in the buffer already. */
void vsock_device_deliver(struct vsock_device *device, const struct virtqueue_chain *buffer,
                          const struct vsock_header *header);

/* Gives a buffer back with nothing in it. */
void vsock_device_return_buffer(struct vsock_device *device, const struct virtqueue_chain *buffer);

/* Delivers a header alone, if there is a buffer. */
bool vsock_device_deliver_header(struct vsock_device *device, const struct vsock_header *header);

/* State of the interrupt line. */
static inline bool vsock_device_interrupts(const struct vsock_device *device)
{
    return device->mmio.device.interrupts != 0;
}

#ifdef __cplusplus
}
#endif

#endif
