/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Packets on their way from one domain to another (F2, F8): what a driver sent is checked, finds its flow and
 * waits for its turn; one transfer after the other is chosen, the earliest deadline first. All of it belongs
 * to the broker and is called by one thread; there is no lock. Nothing here moves payload, interrupts anybody
 * or waits: the caller does what the effects say.
 *
 * Who causes work pays for it. A packet that is looked at costs its sender a turn (core/flow_turns.h). What
 * is delivered to a receiver goes at the pace of the flow that it comes along: payload, control packets, and
 * resets that the other end has caused. A domain's own resets are delivered to it in its own turn.
 */
#ifndef BULKHEAD_CORE_FLOW_EXCHANGE_H
#define BULKHEAD_CORE_FLOW_EXCHANGE_H

#include "core/flow_connections.h"
#include "core/flow_directory.h"
#include "core/vsock_device.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FLOW_EXCHANGE_DEVICES 8u
#define FLOW_EXCHANGE_PATHS   64u

/* Of payload that was delivered. */
struct flow_path_statistics {
    uint64_t packets;
    uint64_t bytes;
    uint64_t control_packets;
    uint64_t misses;        /* delivered later than the deadline demands, which counts from the release */
    uint64_t latency_least; /* ticks from release to notification */
    uint64_t latency_most;
    uint64_t latency_total; /* of all packets */
    uint64_t lost;          /* packets that were begun with or waited too long, and were not delivered; of
                               those whose connection ended meanwhile, payload alone */
    uint64_t refused;       /* connections and packets that the flow does not allow */
};

/* What a flow is when it begins. Indexes are of devices, times ticks. */
struct flow_path_parameters {
    uint32_t source;
    uint32_t destination;
    uint32_t port;
    uint32_t most_bytes; /* of a packet's payload */
    uint64_t period_ns;
    uint64_t period_ticks;
    uint64_t deadline_ticks; /* as it was declared: what misses are judged by */
    uint64_t queued_ticks;   /* D': of it, what is left in the queue */
    uint32_t most_transfers; /* of a packet; 0: as many as it takes */
    uint32_t connections;    /* at a time */
    uint32_t
        answers; /* 1 + the number of the path whose way back this is (F11); 0: it is a path of its own */
    uint32_t reserved;
};

enum flow_direction {
    FLOW_THERE, /* from source to destination: payload, and control packets */
    FLOW_BACK,  /* control packets of the destination, and payload if there is a way back */
    FLOW_DIRECTIONS,
};

/* What is declared of one direction. */
struct flow_way {
    uint32_t number;         /* of the path that has its figures */
    uint32_t most_bytes;     /* of a packet's payload; 0: there is none */
    uint32_t most_transfers; /* of a packet; 0: as many as it takes */
    uint64_t period_ns;
    uint64_t deadline_ticks; /* as it was declared: what misses are judged by */
};

struct flow_path {
    bool open; /* else it carries nothing, and nothing but what is owed is left of it */
    struct flow_connections connections;
    uint32_t source; /* indexes of devices */
    uint32_t destination;
    uint32_t
        answers; /* 1 + the number of the path whose way back this is: then that one has all but figures */
    struct flow_way ways[FLOW_DIRECTIONS];
    struct packet_line lines[FLOW_DIRECTIONS];
    uint32_t descriptors[FLOW_DIRECTIONS]; /* of the packets in the line */
    bool resets[FLOW_DIRECTIONS];          /* whoever the direction leads to is owed some, at its pace, */
    struct packet_key reset_keys[FLOW_DIRECTIONS]; /* the first of them then */
    uint32_t at_fault; /* FLOW_END_…: ends that caused what they are owed a reset for */
    struct flow_path_statistics statistics;
};

/* One transfer: bytes of a packet's chain to bytes of a receive buffer. */
struct flow_transfer {
    uint32_t source; /* indexes of devices */
    uint32_t destination;
    uint64_t from_offset;
    uint64_t to_offset;
    uint32_t bytes;
};

/* A part of it that is contiguous on both sides: guest-physically, and physically. All of it is its owners'.
 */
struct flow_piece {
    uint64_t from;
    uint64_t to;
    uint64_t from_physical;
    uint64_t to_physical;
};

/* What is under way: a packet of which a part is delivered, and the receive buffer that it goes to. */
struct flow_inflight {
    bool holds_buffer;
    bool transfers; /* `transfer` was handed out and is not yet done */
    bool gone;      /* meanwhile the packet was forgotten, or its receiver was lost */
    uint32_t path;  /* of the packet: its flow, its direction, its sender and its place there */
    enum flow_direction direction;
    struct packet_key key;
    uint32_t sender;
    uint16_t place;
    uint32_t receiver;
    uint32_t capacity_bytes; /* of the buffer's payload: what is used of it, */
    uint32_t filled_bytes;   /* and what of that is filled */
    struct virtqueue_chain chain;
    struct virtqueue_chain buffer;
    struct flow_transfer transfer;
    uint64_t not_before; /* ticks: the rate allows no transfer earlier */
};

struct flow_exchange {
    struct vsock_device *devices[FLOW_EXCHANGE_DEVICES]; /* by domain; NULL: it has none */
    uint32_t device_count;                               /* of them, those that there are */
    struct flow_path *paths;
    uint64_t known;                    /* paths, 1 << number, that were ever open, */
    uint64_t open;                     /* and those that are now */
    uint64_t waiting[FLOW_DIRECTIONS]; /* those with a packet or a reset in that direction, */
    uint64_t passed[FLOW_DIRECTIONS];  /* and those that were passed over for want of a receive buffer */
    uint32_t sends;                    /* devices, 1 << index, that have something to look at */
    struct flow_directory directory;   /* of the open ones */
    uint64_t looked;                   /* ticks: at the last look */
    uint64_t counter_hz;
    uint32_t chunk_bytes;
    uint64_t patience_ticks;     /* so long after its deadline a packet waits for a receive buffer */
    uint64_t ticks_per_mebibyte; /* of a transfer at the rate; 0: as fast as the engine is */
    /* Packets of a direction that declares at most so much are copied by the caller, and a transfer of them
     * may have several pieces. Others are copied by an engine, one piece in each transfer. */
    uint32_t copied_bytes;
    struct flow_inflight inflight;
};

/* The set of one device: sets are sums of 1 << index. */
static inline uint32_t flow_device_set(uint32_t device)
{
    return 1u << device;
}

/* What calls have led to: sets of devices, and of paths. The caller clears what it has dealt with. */
struct flow_effects {
    uint32_t lines;   /* they are to be interrupted */
    uint32_t failed;  /* they ask for a reset */
    uint64_t counted; /* paths with other statistics than before */
};

enum flow_next {
    FLOW_NEXT_TRANSFER, /* do it and call flow_exchange_done() or flow_exchange_fail() */
    FLOW_NEXT_AGAIN,    /* something was delivered; ask again */
    FLOW_NEXT_NOTHING,  /* until `*until`, or until there is news of a device */
};

/* Nothing is open; the caller has set devices, paths, the counter, chunk, patience and rate. */
void flow_exchange_init(struct flow_exchange *exchange);

/* Path `number`, which is unused, begins to carry; the way back of another one after that. Both ends get the
 * turns that it needs. */
void flow_exchange_open(struct flow_exchange *exchange, uint32_t number,
                        const struct flow_path_parameters *parameters);

/* Path `number` ends, with its way back or the path whose way back it is: both ends of each of its
 * connections get a reset, and packets are forgotten. */
void flow_exchange_close(struct flow_exchange *exchange, uint32_t number, uint64_t now,
                         struct flow_effects *effects);

/* Nothing is left of path `number`: it can be another flow. */
bool flow_exchange_is_unused(const struct flow_exchange *exchange, uint32_t number);

/* The driver has set its device up, or changed it: registers and queues as for vsock_device_set(). One that
 * has reset it, or a queue, is lost first. */
void flow_exchange_set(struct flow_exchange *exchange, uint32_t device, const struct virtio_device *registers,
                       uint32_t anew);

/* After that: its driver worked with another exchange before, which has ended (vsock_device_resume()). */
void flow_exchange_resume(struct flow_exchange *exchange, uint32_t device, uint32_t resumed);

/* The driver of a device has sent something at `sent`, or earlier what was not yet looked at. */
void flow_exchange_sent(struct flow_exchange *exchange, uint32_t device, uint64_t sent);

/* The driver of a device has new receive buffers. */
void flow_exchange_has_buffers(struct flow_exchange *exchange, uint32_t device, uint64_t now,
                               struct flow_effects *effects);

/* The caller slept until `woke`, less what waking takes at most: nobody earns turns for that time, and what
 * was left in queues when it fell asleep counts as sent then. Before what woke it is told. */
void flow_exchange_woke(struct flow_exchange *exchange, uint64_t woke);

/* Takes what drivers have sent, as far as their turns reach and there is room. */
void flow_exchange_look(struct flow_exchange *exchange, uint64_t now, struct flow_effects *effects);

/* A device whose domain or driver is gone or has reset it: its connections end, its packets are forgotten. */
void flow_exchange_lose(struct flow_exchange *exchange, uint32_t device, uint64_t now);

/* Whether a transfer that was handed out may still touch the device's memory. */
bool flow_exchange_touches(const struct flow_exchange *exchange, uint32_t device);

/* What comes now; no transfer is under way. */
enum flow_next flow_exchange_next(struct flow_exchange *exchange, uint64_t now, uint64_t *until,
                                  struct flow_effects *effects);

/* Whether the transfer at hand is the caller's own to copy, piece by piece; else an engine's, in one. */
bool flow_exchange_copies(const struct flow_exchange *exchange);

/* The piece of the transfer at hand that begins `offset` bytes behind its begin; returns its bytes. */
uint32_t flow_exchange_piece(const struct flow_exchange *exchange, uint32_t offset, struct flow_piece *piece);

/* The transfer that was handed out is done. */
void flow_exchange_done(struct flow_exchange *exchange, uint64_t now, struct flow_effects *effects);

/* It was not begun, and is not to be before `until`. */
void flow_exchange_put_off(struct flow_exchange *exchange, uint64_t until);

/* It was not done: its packet is lost, and the connection ends. */
void flow_exchange_fail(struct flow_exchange *exchange, uint64_t now, struct flow_effects *effects);

#ifdef __cplusplus
}
#endif

#endif
