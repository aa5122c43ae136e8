/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The virtio socket device of one domain, as the broker holds it: queues as the driver set them up, packets
 * that the driver has sent and that are not yet delivered, and its receive buffers (F1, F8). It does not know
 * other devices (core/flow_exchange.h), and no registers, which EL2 handles. Used by one thread.
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

/* A driver has no more descriptors than this, and each packet uses at least one. */
#define VSOCK_PLACES          VIRTQUEUE_MOST_ENTRIES
#define VSOCK_DEVICE_FEATURES (VIRTIO_F_VERSION_1 | VSOCK_F_STREAM | VSOCK_F_SEQPACKET)
#define VSOCK_ANSWERS         8u /* resets for unknown connections that wait for a receive buffer */

/* A packet that this device's driver sent. */
struct vsock_packet {
    struct vsock_header header; /* the copy that was checked */
    /* head of its chain, which is copied and checked again when it is transferred */
    uint16_t head;
    uint16_t descriptors;              /* number of descriptors of the chain when it was taken */
    uint32_t path;                     /* number of its flow's path */
    bool reverse;                      /* true: its direction is FLOW_BACK */
    struct flow_connection connection; /* the connection that it belongs to */
    bool begun;                        /* its transfer has begun, so its header does not change any more */
    uint64_t begun_at;                 /* ticks: when it began */
    uint32_t done_bytes;               /* bytes of payload that are delivered or in flight */
    uint32_t transfers;                /* number of transfers that have begun */
};

struct vsock_device {
    struct virtio_device virtio; /* the registers that the driver set, as EL2 reported them last */
    struct guest_memory *memory;
    uint64_t cid;
    uint32_t index;      /* index of the domain */
    bool joined;         /* a driver has used the device since it was lost last */
    bool awaits_buffer;  /* no receive buffer was available at the last attempt to take one */
    bool sends;          /* its transmit queue may hold packets that were not yet looked at */
    uint64_t sent_since; /* ticks: time since which it may hold them */
    /* flows, 1 << number, with resets that must be delivered to the driver in its own turn */
    uint64_t owed;
    /* descriptors were returned since the last check, and the driver wants an interrupt */
    bool interrupts;
    bool failed;                         /* invalid input from the guest that was not yet reported */
    bool owes_event;                     /* the driver must still be told that all connections are gone */
    struct virtqueue_progress *progress; /* progress of each queue */
    struct flow_turns turns;
    uint32_t needs;            /* turns and places that the next packet needs, as far as is known */
    uint32_t turns_left;       /* turns left of those that the last look allowed */
    uint32_t line_count;       /* number of directions of flows in which it sends */
    uint32_t held_descriptors; /* descriptors of the packets in places */
    uint16_t copies[VIRTQUEUE_MOST_ENTRIES]; /* places that hold the chain, by the chain's head */
    uint32_t free_count;
    uint16_t free[VSOCK_PLACES];
    struct packet_link links[VSOCK_PLACES];
    struct vsock_packet packets[VSOCK_PLACES];
    uint32_t answer_count;
    struct vsock_header answers[VSOCK_ANSWERS];
    uint64_t malformed; /* number of invalid inputs from the guest */
    uint64_t foreign;   /* packets whose source is not this device */
};

/* Result of looking at the transmit queue. */
enum vsock_sent {
    VSOCK_SENT_NOTHING, /* no packet, or no room for it */
    VSOCK_SENT_PACKET,  /* valid header: call vsock_device_queue() or vsock_device_return() next */
    VSOCK_SENT_UNKNOWN, /* unknown packet, which is answered with a reset */
    VSOCK_SENT_FOREIGN, /* dropped: call vsock_device_return() next */
    VSOCK_SENT_BROKEN,  /* invalid: call vsock_device_fail() next */
};

/* Initializes a device. `progress`: an array for VSOCK_QUEUES queues that outlives the device, so that
 * another one can resume from it. */
void vsock_device_init(struct vsock_device *device, struct guest_memory *memory, uint32_t index, uint64_t cid,
                       struct virtqueue_progress progress[]);

/* Sets the driver's registers. Queues of the set `anew` (1 << number) start at their first entry; the others
 * continue. */
void vsock_device_set(struct vsock_device *device, const struct virtio_device *registers, uint32_t anew);

/* Queues of the set `resumed` belonged to another device, which has ended: they continue from its progress.
 * Chains that it had taken are returned to the driver, which is told that all connections are gone
 * (5.10.6.7). */
void vsock_device_resume(struct vsock_device *device, uint32_t resumed);

/* Delivers the pending event, if there is a buffer for it. */
void vsock_device_deliver_event(struct vsock_device *device);

/* Drops all packets that were sent; they must have been removed from all lines. */
void vsock_device_lose(struct vsock_device *device);

/* Looks at the next packet in the transmit queue without taking it. `packet` gets its header and its
 * chain. */
enum vsock_sent vsock_device_peek(struct vsock_device *device, struct vsock_packet *packet);

/* After invalid input from the guest: its queues are not read until the guest has reset the device. */
void vsock_device_fail(struct vsock_device *device);

/* Takes the packet that vsock_device_peek() returned last into a place, whose number is returned; the caller
 * links it into a line. */
uint16_t vsock_device_queue(struct vsock_device *device, const struct vsock_packet *packet);

/* Puts one more copy of the packet that was queued last into a place. There is one. The chain is returned to
 * the driver when all copies are finished. */
uint16_t vsock_device_queue_copy(struct vsock_device *device, const struct vsock_packet *copy);

/* Returns the packet that vsock_device_peek() returned last to the driver, as if it were sent. */
void vsock_device_return(struct vsock_device *device, const struct vsock_packet *packet);

/* Queues a reset for the driver itself. There is room, because otherwise vsock_device_peek() would have
 * returned nothing. */
void vsock_device_answer(struct vsock_device *device, const struct vsock_header *reset);

/* Delivers the queued resets for which there are receive buffers now. */
void vsock_device_deliver_answers(struct vsock_device *device);

/* Finishes the packet in `place`, which was delivered or given up. With the last copy its buffer is returned
 * to the driver. */
void vsock_device_finish(struct vsock_device *device, uint16_t place);

/* Copies and checks the chain of the packet in `place`. Returns false if it differs from the chain that was
 * taken; then the device has failed. */
bool vsock_device_chain(struct vsock_device *device, uint16_t place, struct virtqueue_chain *chain);

/* Whether the driver provides a receive buffer, of any kind, now. */
bool vsock_device_has_buffer(struct vsock_device *device);

/* Takes the next receive buffer, with room for a header and at least one byte. Returns false if there is none
 * now. */
bool vsock_device_take_buffer(struct vsock_device *device, struct virtqueue_chain *buffer);

/* Delivers a header in a buffer that already holds `header->bytes` bytes of payload behind it. */
void vsock_device_deliver(struct vsock_device *device, const struct virtqueue_chain *buffer,
                          const struct vsock_header *header);

/* Returns an unused receive buffer to the driver. */
void vsock_device_return_buffer(struct vsock_device *device, const struct virtqueue_chain *buffer);

/* Delivers a header without payload. Returns false if there is no receive buffer. */
bool vsock_device_deliver_header(struct vsock_device *device, const struct vsock_header *header);

#ifdef __cplusplus
}
#endif

#endif
