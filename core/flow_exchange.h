/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The exchange of packets between domains (F2, F8): a packet that a driver sent is checked, assigned to its
 * flow and queued; transfers are chosen one at a time, the earliest deadline first. The exchange belongs to
 * the broker and is called by one thread; there is no lock. It moves no payload, raises no interrupt and does
 * not wait: the caller does what the returned effects say.
 *
 * Work is charged to the domain that causes it. Each packet that is looked at costs its sender a turn
 * (core/flow_turns.h). Deliveries to a receiver follow the pace of the flow that they belong to: payload,
 * control packets, and resets that the other end caused. Resets that a domain caused itself are delivered to
 * it in its own turn.
 */
#ifndef BULKHEAD_CORE_FLOW_EXCHANGE_H
#define BULKHEAD_CORE_FLOW_EXCHANGE_H

#include "core/flow_connections.h"
#include "core/flow_directory.h"
#include "core/sample_ring.h"
#include "core/vsock_device.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FLOW_EXCHANGE_DEVICES 8u
#define FLOW_EXCHANGE_PATHS   64u
#define FLOW_EXCHANGE_GROUPS  16u
#define FLOW_FIRST_GROUP_CID  256u /* CID of group 0; domains have smaller ones */

/* Statistics of what was delivered along a path: of packets with payload unless a field says otherwise. */
struct flow_path_statistics {
    uint64_t packets;
    uint64_t bytes;
    uint64_t control_packets;
    uint64_t misses;        /* packets, also control packets, that were late (`deadline_ticks`) */
    uint64_t latency_least; /* shortest time from release to notification, ticks */
    uint64_t latency_most;
    uint64_t latency_total; /* sum over all packets, ticks */
    /* packets that were not delivered although their transfer had begun, or that waited too long; if their
     * connection had ended, only packets with payload */
    uint64_t lost;
    uint64_t refused; /* connections and packets that the flow's declaration does not allow */
    /* 1 + bytes that were sent to the receiver of a leg and that it has not taken; 0: it has no connection,
     * or the flow is not a multicast flow */
    uint64_t unread;
};

/* Parameters of a flow when it is opened. `source` and `destination` are indexes of devices; times are in
 * ticks. */
struct flow_path_parameters {
    uint32_t source;
    uint32_t destination;
    uint32_t port;
    uint32_t most_bytes; /* of a packet's payload */
    uint64_t period_ns;
    uint64_t period_ticks;
    uint64_t deadline_ticks; /* longest time from release to the end of the last transfer that is no miss */
    uint64_t queued_ticks;   /* D': the part of the deadline that is left for the queue */
    uint32_t most_transfers; /* most transfers of a packet; 0: no limit */
    uint32_t connections;    /* most connections at a time */
    uint32_t
        answers;    /* 1 + number of the path whose way back this is (F11); 0: this path is not a way back */
    uint32_t group; /* 1 + number of the group that has this path as a leg (F7); 0: not a leg */
};

enum flow_direction {
    FLOW_THERE, /* from source to destination: payload and control packets */
    FLOW_BACK,  /* from destination to source: control packets, and payload if there is a way back */
    FLOW_DIRECTIONS,
};

/* Parameters of one direction of a flow. */
struct flow_way {
    uint32_t number;         /* number of the path whose statistics count this direction */
    uint32_t most_bytes;     /* largest payload of a packet; 0: no payload */
    uint32_t most_transfers; /* most transfers of a packet; 0: no limit */
    uint64_t period_ns;
    uint64_t deadline_ticks; /* longest time from release to the end of the last transfer that is no miss */
};

/* What is known of the receiver of a leg. Counts of bytes are modulo 2^32. */
struct flow_leg {
    bool begun;            /* it was sent payload */
    bool held;             /* its answer waited for those of other receivers */
    uint32_t base;         /* the group's count of bytes at which the receiver begins */
    uint32_t buffer_bytes; /* credit as the receiver told it last */
    uint32_t taken_bytes;
};

/* The sender's side of a multicast flow (core/flow_group.h). */
struct flow_group {
    uint32_t leg_count;
    uint64_t legs;    /* paths, 1 << number, that are open; 0: no such group */
    uint64_t members; /* legs of the present connection: invited, or accepted; the sender was not told of
                         their end. 0: there is no connection */
    uint32_t client_port;
    bool open;          /* the sender was told that a receiver has accepted */
    bool asked;         /* the sender waits for an answer about its credit */
    uint64_t answer_by; /* ticks: until then the sender's request waits for the answers of all receivers */
    uint32_t sent;      /* bytes of payload, modulo 2^32 */
    uint32_t limit;     /* value of `sent` up to which the sender was told to send */
};

struct flow_path {
    bool open; /* if false, no packet is accepted, and only resets may still have to be delivered */
    struct flow_connections connections;
    uint32_t source; /* indexes of devices */
    uint32_t destination;
    uint32_t
        answers; /* 1 + number of the path whose way back this is: that path has everything but statistics */
    uint32_t group; /* 1 + number of the group that has this path as a leg; 0: not a leg */
    struct flow_leg leg;
    struct flow_way ways[FLOW_DIRECTIONS];
    struct packet_line lines[FLOW_DIRECTIONS];
    uint32_t descriptors[FLOW_DIRECTIONS]; /* descriptors of the packets in the line */
    /* Deadline that the first packet of the line had when the broker first found no receive buffer for it. 0:
     * this has not happened, or the packet has got a buffer since. */
    uint64_t starved_deadline[FLOW_DIRECTIONS];
    /* resets wait for the receiver of this direction, to be delivered at its pace */
    bool resets[FLOW_DIRECTIONS];
    struct packet_key reset_keys[FLOW_DIRECTIONS]; /* release and deadline of the first of these resets */
    uint32_t at_fault; /* FLOW_END_…: ends that caused the resets that they have to be sent */
    struct flow_path_statistics statistics;
};

/* One transfer: bytes from a packet's descriptor chain to a receive buffer. */
struct flow_transfer {
    uint32_t source; /* indexes of devices */
    uint32_t destination;
    uint64_t from_offset;
    uint64_t to_offset;
    uint32_t bytes;
};

/* A part of a transfer that is contiguous on both sides, in guest-physical and in physical addresses. All of
 * its bytes belong to the two domains. */
struct flow_piece {
    uint64_t from;
    uint64_t to;
    uint64_t from_physical;
    uint64_t to_physical;
};

/* The packet in flight, of which a part is delivered, and the receive buffer that it goes to. */
struct flow_inflight {
    bool holds_buffer;
    bool transfers; /* `transfer` was given to the caller and is not yet done */
    bool gone;      /* the packet was dropped, or its receiver lost, during the transfer */
    uint32_t path;  /* path, direction, sender and place of the packet */
    enum flow_direction direction;
    struct packet_key key;
    uint32_t sender;
    uint16_t place;
    uint32_t receiver;
    uint32_t capacity_bytes; /* bytes of the buffer used for payload */
    uint32_t filled_bytes;   /* bytes of these that are filled */
    struct virtqueue_chain chain;
    struct virtqueue_chain buffer;
    struct flow_transfer transfer;
    uint64_t not_before; /* ticks: earliest start of the next transfer at the broker's rate */
};

struct flow_exchange {
    struct vsock_device *devices[FLOW_EXCHANGE_DEVICES]; /* by domain; NULL: the domain has no device */
    uint32_t device_count;                               /* number of devices that are not NULL */
    struct flow_path *paths;
    struct flow_group groups[FLOW_EXCHANGE_GROUPS];
    uint64_t known;                    /* paths, 1 << number, that were ever opened */
    uint64_t open;                     /* paths that are open now */
    uint64_t waiting[FLOW_DIRECTIONS]; /* paths with a packet or a reset waiting in that direction */
    uint64_t passed[FLOW_DIRECTIONS];  /* paths that were skipped because the receiver had no buffer */
    uint32_t sends;                    /* devices, 1 << index, that may have packets to look at */
    uint32_t connecting;               /* groups, 1 << number, whose sender may wait for an answer */
    struct flow_directory directory;   /* addresses of the open paths */
    uint64_t looked;                   /* ticks: time of the last look */
    uint64_t counter_hz;
    uint32_t chunk_bytes;
    uint64_t patience_ticks; /* how long after its deadline a packet may wait for a receive buffer */
    /* ticks for each MiB of a transfer at the broker's rate; 0: no limit but the engine's speed */
    uint64_t ticks_per_mebibyte;
    /* Packets of a direction that declares at most so many bytes are copied by the caller, and each transfer
     * may have several pieces. Others are copied by an engine, one piece in each transfer. */
    uint32_t copied_bytes;
    struct sample_writer
        *recorder; /* gets a packet_sample of each delivered packet; NULL: nothing is recorded */
    struct flow_inflight inflight;
};

/* The set with one device: bit `device`. */
static inline uint32_t flow_device_set(uint32_t device)
{
    return 1u << device;
}

/* Effects of calls, as sets of devices or paths. The caller clears what it has handled. */
struct flow_effects {
    uint32_t lines;   /* devices whose driver must be interrupted */
    uint32_t failed;  /* devices that now need a reset */
    uint64_t counted; /* paths whose statistics have changed */
};

enum flow_next {
    FLOW_NEXT_TRANSFER, /* do the transfer and call flow_exchange_done() or flow_exchange_fail() */
    FLOW_NEXT_AGAIN,    /* something was delivered; call again */
    FLOW_NEXT_NOTHING,  /* nothing to do until `*until`, or until something is reported of a device */
};

/* Initializes without open paths. The caller has set devices, paths, counter_hz, chunk size, patience and
 * rate. */
void flow_exchange_init(struct flow_exchange *exchange);

/* Opens path `number`, which must be unused. A path that is the way back of another one is opened after it.
 * Both ends get the turns that the flow needs. */
void flow_exchange_open(struct flow_exchange *exchange, uint32_t number,
                        const struct flow_path_parameters *parameters);

/* Closes path `number` together with its way back or with the path whose way back it is: both ends of each
 * connection get a reset, and queued packets are dropped. */
void flow_exchange_close(struct flow_exchange *exchange, uint32_t number, uint64_t now,
                         struct flow_effects *effects);

/* Whether nothing is left of path `number`, so that another flow can use it. */
bool flow_exchange_is_unused(const struct flow_exchange *exchange, uint32_t number);

/* The driver has set up or changed its device: registers and queues as for vsock_device_set(). If the driver
 * has reset the device or a queue, call flow_exchange_lose() first. */
void flow_exchange_set(struct flow_exchange *exchange, uint32_t device, const struct virtio_device *registers,
                       uint32_t anew);

/* Called after flow_exchange_set() if the device's driver worked with an earlier exchange, which has ended
 * (vsock_device_resume()). */
void flow_exchange_resume(struct flow_exchange *exchange, uint32_t device, uint32_t resumed);

/* The driver of a device has sent a packet at `sent`. Packets that it sent earlier may still wait to be
 * looked at. */
void flow_exchange_sent(struct flow_exchange *exchange, uint32_t device, uint64_t sent);

/* The driver of a device may have added receive buffers: it has notified the device, or set it up. */
void flow_exchange_has_buffers(struct flow_exchange *exchange, uint32_t device, uint64_t now,
                               struct flow_effects *effects);

/* The caller slept. `woke`: when it woke, less the longest time that waking takes. Domains earn no turns for
 * the time of the sleep, and packets that were in queues when it fell asleep count as sent at `woke`. Call
 * this before the events that woke it are reported. Has no effect during a transfer: a caller that waits for
 * an engine is told when packets are sent, and domains earn turns for that time. */
void flow_exchange_woke(struct flow_exchange *exchange, uint64_t woke);

/* Takes packets that drivers have sent, as far as their turns and the free places allow. */
void flow_exchange_look(struct flow_exchange *exchange, uint64_t now, struct flow_effects *effects);

/* A device is lost: its domain or driver is gone or has reset it. Its connections end and its packets are
 * dropped. */
void flow_exchange_lose(struct flow_exchange *exchange, uint32_t device, uint64_t now);

/* Whether a transfer that was given to the caller may still access the device's memory. */
bool flow_exchange_touches(const struct flow_exchange *exchange, uint32_t device);

/* Chooses the next transfer. No transfer may be in progress. */
enum flow_next flow_exchange_next(struct flow_exchange *exchange, uint64_t now, uint64_t *until,
                                  struct flow_effects *effects);

/* Whether the caller copies the current transfer itself, piece by piece; if false, an engine copies it as one
 * piece. */
bool flow_exchange_copies(const struct flow_exchange *exchange);

/* Gets the piece of the current transfer that begins at `offset` bytes; returns its length in bytes. */
uint32_t flow_exchange_piece(const struct flow_exchange *exchange, uint32_t offset, struct flow_piece *piece);

/* The current transfer is done. */
void flow_exchange_done(struct flow_exchange *exchange, uint64_t now, struct flow_effects *effects);

/* The current transfer was not begun, and must not begin before `until`. */
void flow_exchange_put_off(struct flow_exchange *exchange, uint64_t until);

/* The current transfer failed: its packet is lost and its connection ends. */
void flow_exchange_fail(struct flow_exchange *exchange, uint64_t now, struct flow_effects *effects);

#ifdef __cplusplus
}
#endif

#endif
