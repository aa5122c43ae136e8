/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Flows between domains as real-time tasks of the broker (F4, F5): from what a user declares and the measured
 * costs of the path to transformed sporadic tasks with limited preemption. Integers only, rounded against the
 * user.
 *
 * Time is in half nanoseconds, because half of a cost occurs. 64-bit machines only.
 */
#ifndef BULKHEAD_CORE_FLOW_H
#define BULKHEAD_CORE_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FLOW_MAX             192u /* 64 flows, each with control packets in both directions */
#define FLOW_MAX_DOMAINS     32u
#define FLOW_HALF_NS_PER_S   2000000000ull
#define FLOW_MAX_NS          (1ull << 40) /* of a period or deadline: 18 minutes */
#define FLOW_MAX_BYTES       (1ull << 32) /* of a packet */
#define FLOW_MAX_COST_NS     (1u << 24)   /* of one part of the path */
#define FLOW_MAX_BYTES_PER_S (1ull << 40)
#define FLOW_MAX_WAITING     256u /* packets of a domain that have places: of a ring, of the broker */

/* How the path works whose parts were measured. */
enum flow_model {
    FLOW_MODEL_PUBLISHED,     /* senders parse and queue under locks: F4 and F5 as they were published */
    FLOW_MODEL_SINGLE_THREAD, /* the broker parses and queues, in turns (flow_turns.h), without locks */
};

/* Costs of the parts of the path (F5), in ns: the largest seen, and the smallest where it matters. The
 * single-threaded broker has no QL, QI, QA and QR: these are not looked at. */
struct flow_costs {
    uint32_t hypervisor_call_min, hypervisor_call_max; /* HC */
    uint32_t transport_min, transport_max;             /* PT */
    uint32_t parse_max;                                /* PP */
    uint32_t queue_lock_max;                           /* QL */
    uint32_t queue_insert_max;                         /* QI */
    uint32_t find_place_max;                           /* QA, for each packet in the queue */
    uint32_t queue_remove_max;                         /* QR */
    uint32_t find_earliest_max;                        /* PS, for each sender's queue */
    uint32_t program_dma_max;                          /* PD */
    uint32_t finalize_max;                             /* FT */
    uint32_t dma_interrupt_max;                        /* IP */
    uint32_t notify_max;                               /* BR */
    uint32_t wake_max; /* of a broker that slept: not in F5's table, 0 where it is in the others */
    uint32_t copy_max; /* in the place of HC + IP, of packets that the core copies beside an engine */
    /* Packets of flows that declare at most so much are copied by the core; 0: all go the same way. */
    uint32_t copied_bytes;
    uint32_t model; /* enum flow_model */
};

/* What a user declares of a flow. */
struct flow {
    uint64_t packet_bytes;
    uint64_t period_ns; /* smallest time between two packets */
    uint64_t deadline_ns;
    uint32_t transfers; /* in the worst case; 0: as many as the chunk demands */
    uint32_t sender;    /* below FLOW_MAX_DOMAINS */
};

#define FLOW_TASKS         3u  /* of a flow between domains, at most */
#define FLOW_CONTROL_BYTES 44u /* struct virtio_vsock_hdr: VIRTIO 1.2, 5.10.6 */

/* Connect, credit, reset and shutdown are packets, too: beside a flow's data, one header for each period and
 * direction, with the flow's own deadline (F2). Of a flow of one direction, in this order: data, control
 * packets of the sender, of `receiver`. Of one direction of a flow that has both (F11): data, control packets
 * of the sender; those of the receiver are the other direction's. Control packets of both directions come in
 * the shorter one of both periods, because each tells of what the other carries.
 *
 * `other_way_ns`: period of the other direction; 0: there is none. Returns how many tasks there are. */
uint32_t flow_with_control(const struct flow *data, uint32_t receiver, uint64_t other_way_ns,
                           struct flow tasks[FLOW_TASKS]);

/* A flow as the broker's task. C'(b) = fixed + bytes/b. Of the single-threaded broker: in time of which it
 * has all but what parsing takes. */
struct flow_task {
    uint64_t period;      /* P' */
    uint64_t first;       /* D' - J': a packet that is sent at 0 is due here */
    uint64_t fixed;       /* n O_dma + Opkt, half ns */
    uint64_t bytes;       /* C */
    uint64_t block_fixed; /* of the last transfer: O_dma + Opkt */
    uint64_t block_bytes; /* Clast */
    bool several;         /* more than one transfer: a whole chunk may block, too */
};

struct flow_set {
    uint32_t count;
    uint64_t chunk_bytes;
    uint64_t dma_fixed; /* O_dma, of the engine where there are both */
    /* What else may have to be done first until any time, lead(b) = lead_fixed + lead_bytes/b: 0, or what
     * domains may make a single-threaded broker parse at once. */
    uint64_t lead_fixed;
    uint64_t lead_bytes;
    struct flow_task tasks[FLOW_MAX];
};

enum flow_problem {
    FLOW_OK,
    FLOW_TOO_MANY,  /* flows, or no flow */
    FLOW_BAD_CHUNK, /* 0, above FLOW_MAX_BYTES, or shorter than what the broker's core copies */
    FLOW_BAD_COSTS, /* above FLOW_MAX_COST_NS, or a smallest above the largest */
    FLOW_BAD_SIZE,  /* 0, or above FLOW_MAX_BYTES */
    FLOW_BAD_TIME,  /* period or deadline: 0, or above FLOW_MAX_NS */
    FLOW_BAD_SENDER,
    FLOW_BAD_TRANSFERS,  /* fewer than the chunk demands, or above 2^20 */
    FLOW_DEADLINE_SHORT, /* D' - J' <= 0: the fixed parts of the path take longer */
    FLOW_PERIOD_SHORT,   /* P' <= 0 */
    FLOW_PARSE_LONG,     /* parsing what domains may send takes nearly all of the broker's time */
    FLOW_QUEUE_LONG,     /* more packets of a domain may be waiting than FLOW_MAX_WAITING */
};

/* D', in ns: what of a deadline is left in the queue, without what comes before and after; 1 at least. */
uint64_t flow_queued_ns(uint64_t deadline_ns, const struct flow_costs *costs);

/* In ns: so long before a sleeping broker woke the first packet that it finds may have been in its ring. For
 * its turns (flow_turns.h). */
uint64_t flow_look_back_ns(const struct flow_costs *costs);

/* Whether the broker's core copies packets of flows that declare so much, in the place of an engine. */
static inline bool flow_is_copied(const struct flow_costs *costs, uint64_t packet_bytes)
{
    return packet_bytes <= costs->copied_bytes;
}

/* Whether costs are such as the analysis takes. */
bool flow_costs_fit(const struct flow_costs *costs);

/* The tasks of flows through queues of `senders` domains (of all with a socket: m) in chunks of
 * `chunk_bytes`. On a problem `*culprit` is the number of the flow, where it is of one. */
enum flow_problem flow_transform(const struct flow flows[], uint32_t count, const struct flow_costs *costs,
                                 uint32_t senders, uint64_t chunk_bytes, struct flow_set *set,
                                 uint32_t *culprit);

#ifdef __cplusplus
}
#endif

#endif
