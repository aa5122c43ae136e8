/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Shared memory between EL2 and the broker (F8): three pages of the broker's own memory. The broker tells EL2
 * their address when it starts (BH_HYPERCALL_BROKER_OPEN). EL2 reads only the fields described below, and
 * trusts none of them. Words that both sides write are atomic; all others have one writer.
 *
 * Bells: EL2 notes in `bells` of a device what its driver has done, and wakes the broker if the broker has
 * set `waits`. The broker clears the bells that it has seen, and then handles what they announce.
 */
#ifndef BULKHEAD_CORE_BROKER_DOOR_H
#define BULKHEAD_CORE_BROKER_DOOR_H

#include "core/flow.h"
#include "core/flow_connections.h"
#include "core/flow_exchange.h"
#include <bulkhead_layout.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bells of a device: 1 << N if queue N was notified; DOOR_BELL_CHANGED if the driver has set up or reset the
 * device or has changed a queue. */
#define DOOR_BELL_CHANGED (1u << 31)

struct door_queue {
    uint64_t descriptors; /* guest-physical addresses of the three areas in guest memory */
    uint64_t available;
    uint64_t used;
    uint32_t entries; /* 0: the queue is not ready */
    /* how often the driver has made the queue ready; if the count differs, the queue has restarted */
    uint32_t begun;
};

struct door_device {
    uint32_t bells;       /* EL2 sets them, the broker clears them */
    uint32_t version;     /* sequence lock: odd while EL2 writes the fields after `notified_at` */
    uint64_t notified_at; /* ticks: the first notification of VSOCK_QUEUE_TX since its bell was cleared */
    uint32_t life;        /* number of resets; connections from an earlier life are gone */
    uint32_t status;      /* VIRTIO_STATUS_…; 0 until the broker has left the previous life */
    uint64_t accepted;    /* feature bits that the driver accepted */
    struct door_queue queues[VSOCK_QUEUES];
};

/* A slot for a flow. `changes` counts each opening and each end, so the flow is open while it is odd. */
struct door_flow {
    uint32_t changes;
    uint32_t ends_ns;     /* that of struct flow, for the admission test, like the next */
    uint64_t deadline_ns; /* as it was declared */
    struct flow_path_parameters parameters;
};

/* A flow that a manager wants to add: the broker tests whether it can be admitted. */
struct door_request {
    uint64_t number; /* counts requests and cancellations; only the latest is valid. 0: there was none */
    uint32_t flow;   /* the unused slot for the flow; BH_MAX_FLOWS: there is nothing to test */
    uint32_t source;
    uint32_t destination;
    uint32_t packet_bytes;
    uint32_t transfers; /* 0: the maximum */
    uint32_t ends_ns;   /* that of struct flow */
    uint64_t period_ns;
    uint64_t deadline_ns;
};

enum door_engine {
    DOOR_ENGINE_NOTHING,
    DOOR_ENGINE_DONE,   /* the last request has succeeded */
    DOOR_ENGINE_FAILED, /* the last request has failed; stays until the broker clears it */
};

/* Page 0, written by EL2. */
struct broker_door {
    uint32_t woken;        /* EL2 stores 1 and sends an event or an interrupt; the broker clears it */
    uint32_t engine;       /* enum door_engine */
    uint32_t flow_changes; /* changes of all flow slots together */
    uint32_t reserved;
    struct door_device devices[BH_MAX_DOMAINS];
    struct door_flow flows[BH_MAX_FLOWS];
    struct door_request request; /* EL2 writes `number` last */
};

/* The broker's progress in the queues of a device, and the queue generations (`begun`) for which it is
 * valid. */
struct door_progress {
    uint32_t begun[VSOCK_QUEUES]; /* copies of door_queue.begun */
    uint32_t reserved;
    struct virtqueue_progress queues[VSOCK_QUEUES];
};

/* The result of a request. */
struct door_answer {
    uint64_t number;  /* of the request; written last */
    uint32_t problem; /* enum flow_problem */
    uint32_t culprit; /* with a problem: the slot of the flow that has it */
    uint32_t verdict; /* without a problem: enum flow_verdict */
    uint32_t reserved;
    uint64_t at; /* with FLOW_LATE: the violated point, and the demand there, in half ns */
    uint64_t demand;
    uint64_t longest_away_ns; /* the longest time for which the test kept the broker from looking */
};

/* Page 1, written by the broker. When the broker opens the door, EL2 copies into `progress` what the previous
 * broker left there when it ended; zeros if there was none. */
struct broker_reply {
    uint32_t waits; /* 1: the broker sleeps and looks at nothing until it is woken */
    uint32_t reserved;
    uint64_t transfer_since;        /* ticks: the start of its own engine's transfer; 0: none is under way */
    uint32_t lives[BH_MAX_DOMAINS]; /* the broker no longer accesses memory of earlier lives */
    uint32_t flow_changes[BH_MAX_FLOWS]; /* nothing of earlier flows is left in that slot */
    struct door_progress progress[BH_MAX_DOMAINS];
    struct flow_path_statistics statistics[BH_MAX_FLOWS];
    struct door_answer answer;
};

/* Page 2: constants, written by EL2 when the broker opens the door. The memory that the broker reaches of
 * domains with a socket (core/socket_reach.h) is mapped in it from BH_BROKER_WINDOW on. */
struct broker_map {
    uint32_t chunk_bytes;
    /* packets of flows that declare at most so many bytes are copied by the broker, others by an engine */
    uint32_t copied_bytes;
    uint64_t counter_hz;
    uint64_t patience_ticks;
    /* how far before its wake-up a broker that slept looks back (core/flow_turns.h) */
    uint64_t look_back_ticks;
    uint64_t ticks_per_mebibyte;
    uint64_t color_bits;
    struct door_domain {
        uint64_t cid; /* 0: the domain has no socket */
        uint32_t first_segment;
        uint32_t segment_count;
    } domains[BH_MAX_DOMAINS];
    struct color_set_record color_sets[BH_MAX_COLOR_SETS];
    struct manifest_segment segments[BH_MAX_SEGMENTS];
    uint32_t stamps; /* 1: the time of each part of the path is measured */
    uint32_t reserved;
    /* For the admission test, beside chunk_bytes. */
    struct flow_costs costs;
    uint64_t run_bytes; /* as in flow_most_transfers() */
    uint64_t bytes_per_s;
};

#define BROKER_DOOR_PAGES 3u

_Static_assert(sizeof(struct broker_door) <= BH_PAGE_BYTES && sizeof(struct broker_reply) <= BH_PAGE_BYTES &&
                   sizeof(struct broker_map) <= BH_PAGE_BYTES,
               "each part must fit in a page");
_Static_assert(FLOW_EXCHANGE_GROUPS == BH_MAX_FLOW_GROUPS && FLOW_FIRST_GROUP_CID == BH_FIRST_GROUP_CID,
               "the exchange knows the groups that a manifest may state");
_Static_assert(FLOW_CONNECTIONS_MOST == BH_MOST_FLOW_CONNECTIONS,
               "a flow can have as many connections as a manifest may state");

#ifdef __cplusplus
}
#endif

#endif
