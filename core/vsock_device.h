/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The virtio socket device of one domain, as the broker has it: queues as the driver set them up, packets
 * that it has sent and that are not yet delivered, its receive buffers (F1, F8). It knows nothing of other
 * devices (core/flow_exchange.h), and nothing of registers, which EL2 answers. Of one thread.
 */
#ifndef BULKHEAD_CORE_VSOCK_DEVICE_H
#define BULKHEAD_CORE_VSOCK_DEVICE_H

#include "core/flow_connections.h"
#include "core/flow_turns.h"
#include "core/packet_line.h"
#include "core/virtio_device.h"
#include "core/vsock.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A driver has no more descriptors than that, and a packet has one at least. */
#define VSOCK_PLACES          VIRTQUEUE_MOST_ENTRIES
#define VSOCK_DEVICE_FEATURES (VIRTIO_F_VERSION_1 | VSOCK_F_STREAM | VSOCK_F_SEQPACKET)
#define VSOCK_ANSWERS         8u /* resets of unknown connections that wait for a receive buffer */

/* A packet of this device's driver. */
struct vsock_packet {
    struct vsock_header header; /* the copy that was checked */
    uint16_t head;              /* of its chain, which is copied and checked anew when it is transferred */
    uint16_t descriptors;       /* of the chain, as it was then */
    uint32_t path;              /* number of its flow, ... */
    bool reverse;               /* ... its direction, ... */
    struct flow_connection connection; /* ... and its connection */
    bool begun;                        /* its header stays as it is */
    uint32_t done_bytes;               /* of its payload, delivered or on the way */
    uint32_t transfers;                /* begun */
};

struct vsock_device {
    struct virtio_device virtio; /* the driver's part of it, as EL2 told it last */
    struct guest_memory *memory;
    uint64_t cid;
    uint32_t index;      /* of the domain */
    bool joined;         /* a driver has worked with it since it was lost last */
    bool awaits_buffer;  /* none was there when one was looked for */
    bool sends;          /* its queue may have something that was not yet looked at, */
    uint64_t sent_since; /* ticks: since then */
    uint64_t owed;       /* flows, 1 << number, of which it is to be told resets in its own turn */
    bool interrupts;     /* something was given back since somebody asked, and the driver wants to hear */
    bool failed;         /* invalid input from the guest, not yet reported */
    bool owes_event;     /* the driver is to hear that all connections are gone */
    struct virtqueue_progress *progress; /* of each queue */
    struct flow_turns turns;
    uint32_t turns_left;       /* of those that the last look allowed */
    uint32_t line_count;       /* directions of flows along which it sends */
    uint32_t held_descriptors; /* of packets in places */
    uint32_t free_count;
    uint16_t free[VSOCK_PLACES];
    struct packet_link links[VSOCK_PLACES];
    struct vsock_packet packets[VSOCK_PLACES];
    uint32_t answer_count;
    struct vsock_header answers[VSOCK_ANSWERS];
    uint64_t malformed; /* how often the guest's input was invalid */
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

/* `progress`: of VSOCK_QUEUES queues; it outlives the device, and another one can resume from it. */
void vsock_device_init(struct vsock_device *device, struct guest_memory *memory, uint32_t index, uint64_t cid,
                       struct virtqueue_progress progress[]);

/* The driver's registers are these now. Queues of the set `anew`, 1 << number, begin at their first entry;
 * the others go on. */
void vsock_device_set(struct vsock_device *device, const struct virtio_device *registers, uint32_t anew);

/* Queues of the set `resumed` were another device's, which has ended: they go on from its progress. What it
 * had taken goes back to the driver, which hears that all connections are gone (5.10.6.7). */
void vsock_device_resume(struct vsock_device *device, uint32_t resumed);

/* The event that is owed, if there is a buffer for it. */
void vsock_device_deliver_event(struct vsock_device *device);

/* Forgets all that was sent, which is in no line any more. */
void vsock_device_lose(struct vsock_device *device);

/* Looks at what was sent next, without taking it. `packet` has its header and its chain. */
enum vsock_sent vsock_device_peek(struct vsock_device *device, struct vsock_packet *packet);

/* After invalid input from the guest: its queues are not read until the guest has reset the device. */
void vsock_device_fail(struct vsock_device *device);

/* Takes the packet that was seen last into a place, whose number is returned; its link is the caller's. */
uint16_t vsock_device_queue(struct vsock_device *device, const struct vsock_packet *packet);

/* Gives the driver back what was seen last, as if it were sent. */
void vsock_device_return(struct vsock_device *device, const struct vsock_packet *packet);

/* A reset for the driver itself; there is room, or vsock_device_peek() would have seen nothing. */
void vsock_device_answer(struct vsock_device *device, const struct vsock_header *reset);

/* Resets for the driver that have waited for receive buffers, as far as there are some now. */
void vsock_device_deliver_answers(struct vsock_device *device);

/* The packet in `place` is delivered, or given up: the driver gets its buffer back. */
void vsock_device_finish(struct vsock_device *device, uint16_t place);

/* The chain of the packet in `place`, copied and checked. False: it is not any more what it was when the
 * packet was taken, and the device has failed. */
bool vsock_device_chain(struct vsock_device *device, uint16_t place, struct virtqueue_chain *chain);

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

#ifdef __cplusplus
}
#endif

#endif
