/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The packets that a domain has sent and that are not all delivered, by absolute deadline (F2). Bounded: what
 * does not fit stays in the guest's own queue. A sender that sends more than it declared delays itself:
 * each direction of a flow has a pace, and packets of it keep their order. Times are ticks of a counter.
 */
#ifndef BULKHEAD_CORE_PACKET_QUEUE_H
#define BULKHEAD_CORE_PACKET_QUEUE_H

#include "core/atomic.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PACKET_QUEUE_SLOTS 16u
#define PACKET_NONE        UINT32_MAX
#define PACKET_NEVER       UINT64_MAX

/* How fast one direction of a flow may send: a packet in each period, its payload and control packets apart.
 */
struct packet_pace {
    uint64_t period_ticks;
    uint64_t deadline_ticks;  /* relative: D' */
    uint64_t next_release[2]; /* of control packets, of payload */
    uint64_t last_release;    /* of all: the order stays */
    uint64_t last_deadline;
};

struct packet_key {
    uint64_t release;
    uint64_t deadline;
    uint32_t flow; /* of which the caller knows */
    uint32_t receiver;
};

struct packet_queue {
    uint32_t count;
    uint64_t head;                      /* deadline of the first, or PACKET_NEVER */
    uint32_t order[PACKET_QUEUE_SLOTS]; /* slots, by deadline; of equal ones the older first */
    uint32_t free[PACKET_QUEUE_SLOTS];  /* the last PACKET_QUEUE_SLOTS - count slots of it */
    struct packet_key keys[PACKET_QUEUE_SLOTS];
};

static inline uint64_t packet_sooner(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void packet_queue_init(struct packet_queue *queue);

static inline bool packet_queue_is_full(const struct packet_queue *queue)
{
    return queue->count == PACKET_QUEUE_SLOTS;
}

/* For whoever does not hold the lock: the earliest deadline, or PACKET_NEVER; what is inserted meanwhile may
 * be missed. */
static inline uint64_t packet_queue_head(const struct packet_queue *queue)
{
    return atomic_word_load(&queue->head);
}

/* When a packet that is sent now is released, and until when it is to be delivered; the pace goes on. */
struct packet_key packet_pace_take(struct packet_pace *pace, uint64_t now, bool payload);

/* A packet that was not begun with is forgotten, and so are all that were sent after it: as if they never
 * were. */
void packet_pace_return(struct packet_pace *pace, const struct packet_key *key, bool payload);

/* Puts a packet into a queue that is not full; its slot, which is its name until it is removed. */
uint32_t packet_queue_insert(struct packet_queue *queue, const struct packet_key *key);

void packet_queue_remove(struct packet_queue *queue, uint32_t slot);

/* The slot with the earliest deadline of all that are released and whose receiver is not in `blocked`, or
 * PACKET_NONE. `*next_release`: the earliest release that is still to come, or PACKET_NEVER. */
uint32_t packet_queue_first(const struct packet_queue *queue, uint64_t now, uint32_t blocked,
                            uint64_t *next_release);

#ifdef __cplusplus
}
#endif

#endif
