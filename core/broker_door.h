/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * What EL2 and the broker tell each other (F8): three pages of the broker's own memory, whose place it tells
 * EL2 when it starts (BH_HYPERCALL_BROKER_OPEN). EL2 reads of them what is said below, and believes none of
 * it. Words that both write are atomic; all others have one writer.
 *
 * A bell: EL2 notes what a driver has done in `bells` of its device, and wakes a broker that has said that it
 * `waits`. The broker takes the bells that it has seen, and then looks at what they are about.
 */
#ifndef BULKHEAD_CORE_BROKER_DOOR_H
#define BULKHEAD_CORE_BROKER_DOOR_H

#include "core/flow_connections.h"
#include "core/flow_exchange.h"
#include <bulkhead_layout.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bells of a device: 1 << number of the queue that was notified; and that its driver has set it up, reset it
 * or changed a queue. */
#define DOOR_BELL_CHANGED (1u << 31)

struct door_queue {
    uint64_t descriptors; /* guest-physical addresses of the three areas, which are the guest's own */
    uint64_t available;
    uint64_t used;
    uint32_t entries; /* 0: it is not ready */
    uint32_t begun;   /* how often the driver has made it ready: another number, and it begins anew */
};

struct door_device {
    uint32_t bells;       /* EL2 sets them, the broker clears them */
    uint32_t version;     /* odd while EL2 writes what follows `notified_at` */
    uint64_t notified_at; /* ticks: the first notification of VSOCK_QUEUE_TX since its bell was cleared */
    uint32_t life;     /* how often the device was reset: whoever is connected with an earlier life is not */
    uint32_t status;   /* VIRTIO_STATUS_…; 0 until the broker has left an earlier life */
    uint64_t accepted; /* features */
    struct door_queue queues[VSOCK_QUEUES];
};

/* A place of a flow. `changes` counts openings and ends: odd: the flow is open. */
struct door_flow {
    uint32_t changes;
    uint32_t reserved;
    struct flow_path_parameters parameters;
};

enum door_engine {
    DOOR_ENGINE_NOTHING,
    DOOR_ENGINE_DONE,   /* what was asked for is done, */
    DOOR_ENGINE_FAILED, /* or not: until the broker clears it */
};

/* Page 0: EL2's word. */
struct broker_door {
    uint32_t woken;        /* EL2 stores 1 and sends an event or an interrupt; the broker clears it */
    uint32_t engine;       /* enum door_engine */
    uint32_t flow_changes; /* of all places */
    uint32_t reserved;
    struct door_device devices[BH_MAX_DOMAINS];
    struct door_flow flows[BH_MAX_FLOWS];
};

/* How far the broker is in the queues of a device, and of which it is true. */
struct door_progress {
    uint32_t begun[VSOCK_QUEUES]; /* as the door had it */
    uint32_t reserved;
    struct virtqueue_progress queues[VSOCK_QUEUES];
};

/* Page 1: the broker's word. When the door opens, EL2 puts into `progress` what it has found there when a
 * broker ended; zeros, if none has. */
struct broker_reply {
    uint32_t waits; /* 1: it looks at nothing before it is woken */
    uint32_t reserved;
    uint32_t lives[BH_MAX_DOMAINS];      /* nothing of an earlier life of the device is touched any more */
    uint32_t flow_changes[BH_MAX_FLOWS]; /* nothing of an earlier flow is left in that place */
    struct door_progress progress[BH_MAX_DOMAINS];
    struct flow_path_statistics statistics[BH_MAX_FLOWS];
};

/* Page 2: what does not change; written by EL2 when the broker opens the door. The broker sees physical
 * memory of domains with a socket from BH_BROKER_WINDOW on. */
struct broker_map {
    uint32_t chunk_bytes;
    uint32_t copied_bytes; /* of flows that declare at most so much, the broker copies; of others an engine */
    uint64_t counter_hz;
    uint64_t patience_ticks;
    uint64_t look_back_ticks; /* so long before it woke a broker that slept has looked (core/flow_turns.h) */
    uint64_t ticks_per_mebibyte;
    uint64_t color_bits;
    struct door_domain {
        uint64_t cid; /* 0: it has no socket */
        uint32_t first_segment;
        uint32_t segment_count;
    } domains[BH_MAX_DOMAINS];
    struct color_set_record color_sets[BH_MAX_COLOR_SETS];
    struct manifest_segment segments[BH_MAX_SEGMENTS];
    uint32_t stamps; /* 1: what the parts of the path take is measured */
    uint32_t reserved;
};

#define BROKER_DOOR_PAGES 3u

_Static_assert(sizeof(struct broker_door) <= BH_PAGE_BYTES && sizeof(struct broker_reply) <= BH_PAGE_BYTES &&
                   sizeof(struct broker_map) <= BH_PAGE_BYTES,
               "a page each");
_Static_assert(FLOW_CONNECTIONS_MOST == BH_MOST_FLOW_CONNECTIONS,
               "a flow can have as many as a manifest may say");

#ifdef __cplusplus
}
#endif

#endif
