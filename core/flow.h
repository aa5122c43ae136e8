/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Flows between domains as real-time tasks of the broker (F4, F5): turns a user's declarations and the
 * measured costs of the path into transformed sporadic tasks with limited preemption. Integer arithmetic
 * only; every rounding is pessimistic, that is, against the user.
 *
 * Time is in half nanoseconds, because halves of costs occur. 64-bit machines only.
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
#define FLOW_MAX_NS          (1ull << 40) /* longest period or deadline: 18 minutes */
#define FLOW_MAX_BYTES       (1ull << 32) /* largest packet */
#define FLOW_MAX_COST_NS     (1u << 24)   /* largest cost of one part of the path */
#define FLOW_MAX_BYTES_PER_S (1ull << 40)
#define FLOW_SHARE_ONE       (1u << 16) /* shares of the broker's time are in units of 1 / 2^16 */
/* packets of a domain that can be queued: places in its ring and in the broker */
#define FLOW_MAX_WAITING     256u

/* The structure of the path whose parts were measured. */
enum flow_model {
    FLOW_MODEL_PUBLISHED,     /* senders parse and queue under locks: F4 and F5 as they were published */
    FLOW_MODEL_SINGLE_THREAD, /* the broker parses and queues, in turns (flow_turns.h), without locks */
};

/* Costs of the parts of the path (F5), in ns: the largest that was measured and, where it matters, the
 * smallest. The single-threaded broker has no QL, QI, QA and QR; these fields are ignored for it. */
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
    uint32_t wake_max; /* waking a sleeping broker; not in the table of F5: 0 if the other costs include it */
    uint32_t copy_max; /* replaces HC + IP for packets that the core copies although there is an engine */
    /* Packets of flows that declare at most so many bytes are copied by the core; 0: all packets go the same
     * way. */
    uint32_t copied_bytes;
    /* EL2's own interrupts (console, budgets), which no part above contains; ignored for the published model.
     * At an end: the longest that they delay a notification or a handler at any domain. On the broker's core:
     * in any time of t ns they take at most burst + share t. */
    uint32_t end_interrupts_max;
    uint32_t broker_interrupts_burst;
    uint32_t broker_interrupts_share; /* in 1 / FLOW_SHARE_ONE */
    uint32_t reserved;                /* 0: the manifest has this structure */
    uint32_t model;                   /* enum flow_model */
};

/* The parameters that a user declares for a flow. */
struct flow {
    uint64_t packet_bytes;
    uint64_t period_ns; /* smallest distance between two packets */
    uint64_t deadline_ns;
    uint32_t transfers; /* transfers of a packet in the worst case; 0: as many as the chunk size requires */
    uint32_t sender;    /* below FLOW_MAX_DOMAINS */
    uint32_t ends_ns;   /* the longest that EL2's own interrupts delay both of its ends together */
};

#define FLOW_TASKS         3u  /* most tasks of a flow between domains */
#define FLOW_CONTROL_BYTES 44u /* struct virtio_vsock_hdr: VIRTIO 1.2, 5.10.6 */

/* Connect, credit, reset and shutdown messages are packets, too. Beside a flow's data, one header is counted
 * for each period and direction, with the flow's own deadline (F2). For a flow with one direction the tasks
 * are, in this order: data, control packets of the sender, control packets of `receiver`. For one direction
 * of a flow that has both (F11): data, control packets of the sender; the receiver's control packets belong
 * to the other direction. In such a flow, control packets of both directions have the shorter of the two
 * periods, because each direction reports on what the other one carries.
 *
 * `other_way_ns`: period of the other direction; 0: there is none. Returns the number of tasks. */
uint32_t flow_with_control(const struct flow *data, uint32_t receiver, uint64_t other_way_ns,
                           struct flow tasks[FLOW_TASKS]);

/* A flow as a task of the broker. C'(b) = fixed + bytes/b at bandwidth b. For the single-threaded broker
 * times are in the share of its time that parsing leaves. */
struct flow_task {
    uint64_t period;      /* P' */
    uint64_t first;       /* D' - J': the deadline of a packet that is sent at time 0 */
    uint64_t fixed;       /* n O_dma + Opkt, half ns */
    uint64_t bytes;       /* C */
    uint64_t block_fixed; /* fixed cost of the last transfer: O_dma + Opkt */
    uint64_t block_bytes; /* Clast */
    bool several;         /* more than one transfer, so that a whole chunk may block, too */
};

struct flow_set {
    uint32_t count;
    uint64_t chunk_bytes;
    uint64_t dma_fixed; /* O_dma; the engine's where both core and engine copy */
    /* Other work that may have to be done until any time: lead(b) = lead_fixed + lead_bytes/b. 0, or the
     * parsing that domains may cause at once in a single-threaded broker. */
    uint64_t lead_fixed;
    uint64_t lead_bytes;
    struct flow_task tasks[FLOW_MAX];
};

enum flow_problem {
    FLOW_OK,
    FLOW_TOO_MANY,  /* too many flows, or none */
    FLOW_BAD_CHUNK, /* 0, above FLOW_MAX_BYTES, or smaller than the packets that the broker's core copies */
    FLOW_BAD_COSTS, /* a cost is above FLOW_MAX_COST_NS, or a smallest cost is above the largest */
    FLOW_BAD_SIZE,  /* 0, or above FLOW_MAX_BYTES */
    FLOW_BAD_TIME,  /* period or deadline: 0, or above FLOW_MAX_NS */
    FLOW_BAD_SENDER,
    FLOW_BAD_TRANSFERS,  /* fewer than the chunk size requires, or above 2^20 */
    FLOW_DEADLINE_SHORT, /* D' - J' <= 0: the fixed parts of the path take longer */
    FLOW_PERIOD_SHORT,   /* P' <= 0 */
    FLOW_PARSE_LONG, /* parsing what domains may send, with EL2's interrupts, takes nearly all of the time */
    FLOW_QUEUE_LONG, /* more than FLOW_MAX_WAITING packets of a domain can be queued */
};

/* The costs of the path before and after the queue, in ns: sending, notifying, waking the broker, and
 * `ends_ns` of the flow. */
uint64_t flow_outside_ns(const struct flow_costs *costs, uint32_t ends_ns);

/* D' in ns: the part of a deadline that is left for the queue, without the costs before and after it; at
 * least 1. `ends_ns`: that of the flow. */
uint64_t flow_queued_ns(uint64_t deadline_ns, uint32_t ends_ns, const struct flow_costs *costs);

/* Longest time, in ns, from the release of a packet until the end of its last transfer with which the packet
 * keeps its deadline: without the costs before the release and those after the transfer (finishing the
 * packet, notifying its receiver). 0 if these costs exceed the deadline. `ends_ns`: that of the flow. */
uint64_t flow_moved_ns(uint64_t deadline_ns, uint32_t ends_ns, const struct flow_costs *costs);

/* Longest time, in ns, from a packet's place in the ring to its notification, with EL2's own interrupts at
 * the sender (the published model has none). */
uint64_t flow_sent_ns(const struct flow_costs *costs);

/* How long before the look of a broker that slept the first packet that it finds may have been placed in the
 * ring, in ns. Used for its turns (flow_turns.h). */
uint64_t flow_look_back_ns(const struct flow_costs *costs);

/* Whether the broker's core, and not an engine, copies packets of flows that declare so many bytes. */
static inline bool flow_is_copied(const struct flow_costs *costs, uint64_t packet_bytes)
{
    return packet_bytes <= costs->copied_bytes;
}

/* Whether the costs are in the ranges that the analysis accepts. */
bool flow_costs_fit(const struct flow_costs *costs);

/* Computes the tasks of the flows. `senders`: number of domains with a queue, that is, all with a socket (m);
 * `chunk_bytes`: chunk size. On a problem that concerns one flow, `*culprit` is its index. */
enum flow_problem flow_transform(const struct flow flows[], uint32_t count, const struct flow_costs *costs,
                                 uint32_t senders, uint64_t chunk_bytes, struct flow_set *set,
                                 uint32_t *culprit);

#ifdef __cplusplus
}
#endif

#endif
