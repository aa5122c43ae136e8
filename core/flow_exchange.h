/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Packets on their way from one domain to another (F2): what a driver sent is checked, finds its flow and
 * waits for its turn; the broker asks for one transfer after the other, the earliest deadline first, and says
 * when it is done. Nothing here moves payload, interrupts anybody or waits: callers do what the effects say.
 *
 * Any core may call for its own domain's device, the broker's core flow_exchange_next(). Locks are taken one
 * after the other: of a device (what was sent, and within it all the rest), and within it of a flow.
 */
#ifndef BULKHEAD_CORE_FLOW_EXCHANGE_H
#define BULKHEAD_CORE_FLOW_EXCHANGE_H

#include "core/flow_connections.h"
#include "core/vsock_device.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FLOW_EXCHANGE_DEVICES 8u
#define FLOW_EXCHANGE_PATHS   64u

/* Of payload that was delivered. Written by the broker's core alone. */
struct flow_path_statistics {
    uint64_t packets;
    uint64_t bytes;
    uint64_t control_packets;
    uint64_t misses;        /* delivered later than the deadline demands, which counts from its release */
    uint64_t latency_least; /* ticks from release to notification */
    uint64_t latency_most;
    uint64_t latency_total; /* of all packets */
    uint64_t lost;          /* packets that the broker had begun with and did not deliver */
};

/* What a flow is when it begins. Indexes are of devices, times ticks. */
struct flow_path_parameters {
    uint32_t source;
    uint32_t destination;
    uint32_t port;
    uint32_t most_bytes; /* of a packet's payload */
    uint64_t period_ticks;
    uint64_t deadline_ticks; /* as it was declared: what misses are judged by */
    uint64_t queued_ticks;   /* D': of it, what is left in the queue */
};

struct flow_path {
    struct spinlock lock; /* of the connections, and of what is counted of them */
    uint64_t open;        /* 0: it carries nothing, and nothing but what is owed is left of it */
    struct flow_connections connections;
    uint32_t source; /* indexes of devices */
    uint32_t destination;
    uint32_t most_bytes;      /* of a packet's payload */
    uint64_t deadline_ticks;  /* as it was declared: what misses are judged by */
    struct packet_pace there; /* under the source's `send_lock` */
    struct packet_pace back;  /* under the destination's */
    uint64_t refused;         /* connections and packets that the flow does not allow */
    struct flow_path_statistics statistics;
};

/* One transfer of the broker: from one domain's memory into another's, physically contiguous in both. */
struct flow_transfer {
    uint64_t from;
    uint64_t to;
    uint32_t bytes;
    uint32_t source; /* indexes of devices, for who maps their memory */
    uint32_t destination;
};

/* What the broker has in flight. Of its core alone, but `busy`. */
struct flow_inflight {
    bool holds_buffer;
    bool transfers;  /* `transfer` was handed out and is not yet done */
    uint32_t path;   /* of the packet: its flow, */
    uint32_t sender; /* its device, its slot there, and what both were then */
    uint32_t slot;
    uint64_t serial;
    uint64_t sender_life;
    uint32_t receiver;
    uint64_t receiver_life;
    uint32_t filled_bytes;      /* of the buffer's payload */
    struct vsock_header header; /* of the packet */
    struct virtqueue_chain buffer;
    struct flow_transfer transfer;
    uint64_t not_before; /* ticks: the rate allows no transfer earlier */
};

struct flow_exchange {
    struct vsock_device *devices[FLOW_EXCHANGE_DEVICES]; /* by domain; NULL: it has none */
    struct flow_path *paths;
    uint64_t path_count; /* one more than the largest number that was ever open */
    uint32_t chunk_bytes;
    uint64_t patience_ticks;     /* so long after its deadline a packet waits for a receive buffer */
    uint64_t ticks_per_mebibyte; /* of a transfer at the rate; 0: as fast as the engine is */
    uint64_t busy;               /* devices, 1 << index, whose memory a transfer may touch now */
    struct flow_inflight inflight;
};

/* The set of one device: sets are sums of 1 << index. */
static inline uint32_t flow_device_set(uint32_t device)
{
    return 1u << device;
}

/* What a call has led to: sets of devices. */
struct flow_effects {
    uint32_t lines;     /* their interrupt line may have changed */
    uint32_t attend;    /* their cores are to call flow_exchange_process_tx() */
    uint64_t counted;   /* paths, 1 << number, with other statistics than before, */
    uint64_t refused;   /* and those that have refused something */
    bool wake;          /* the broker: there is a packet, or a buffer that it waits for */
    uint64_t queued_at; /* path_clock() when the first packet was in its queue; 0: there is none, or nobody
                           asked */
};

enum flow_next {
    FLOW_NEXT_TRANSFER, /* do it and ask again */
    FLOW_NEXT_AGAIN,    /* something was delivered; ask again */
    FLOW_NEXT_NOTHING,  /* until `*until`, or until it is woken */
};

/* Path `number`, which is unused, begins to carry. Before all others, or while they work. */
void flow_exchange_open(struct flow_exchange *exchange, uint32_t number,
                        const struct flow_path_parameters *parameters);

/* Path `number` ends: both ends of each of its connections get a reset, and packets are forgotten. */
void flow_exchange_close(struct flow_exchange *exchange, uint32_t number, struct flow_effects *effects);

/* Nothing is left of path `number`: it can be another flow. Not while flow_exchange_next() is called. */
bool flow_exchange_is_unused(struct flow_exchange *exchange, uint32_t number);

/* The driver of a device has sent something, or has new buffers, or is owed resets: what there is now and has
 * room, a bounded number of it; then more is asked for (`attend`). On a core of its domain. */
void flow_exchange_process_tx(struct flow_exchange *exchange, uint32_t device, uint64_t now,
                              struct flow_effects *effects);

/* A device that does not run any more, because its domain or its driver is gone or has failed: its
 * connections end, its packets are forgotten. When flow_exchange_touches() says no, nothing writes to its
 * memory any more. */
void flow_exchange_lose(struct flow_exchange *exchange, uint32_t device, struct flow_effects *effects);
bool flow_exchange_touches(const struct flow_exchange *exchange, uint32_t device);

/* The transfer that was handed out is done, if there was one: whoever is to hear of it can, before the next
 * is looked for. On the broker's core. */
void flow_exchange_done(struct flow_exchange *exchange, uint64_t now, struct flow_effects *effects);

/* The transfer before is done, if there was one; what comes now. On the broker's core. */
enum flow_next flow_exchange_next(struct flow_exchange *exchange, uint64_t now,
                                  struct flow_transfer *transfer, uint64_t *until,
                                  struct flow_effects *effects);

/* The transfer before was not done: its packet is lost, and the connection ends. Then flow_exchange_next().
 * On the broker's core. */
void flow_exchange_fail(struct flow_exchange *exchange, struct flow_effects *effects);

/* The broker is gone: what it had in flight is not done. On its core, or when that does not run it any more.
 */
void flow_exchange_stop(struct flow_exchange *exchange, struct flow_effects *effects);

#ifdef __cplusplus
}
#endif

#endif
