/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The queue of one direction of a flow, and its pace (F2, F9). Packets of a direction keep their order, so
 * releases and deadlines never decrease along the queue, and the head of the queue is its most urgent packet.
 * A sender that sends more than it declared delays only itself. Packets are stored in places of their
 * sender's device (core/vsock_device.h); a line holds numbers of places, so it cannot be full before they
 * are. Times are ticks of a counter.
 */
#ifndef BULKHEAD_CORE_PACKET_LINE_H
#define BULKHEAD_CORE_PACKET_LINE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PACKET_NONE  UINT16_MAX
#define PACKET_NEVER UINT64_MAX

/* The pace of one direction of a flow: one packet in each period, for payload and for control packets
 * separately. */
struct packet_pace {
    uint64_t period_ticks[2]; /* [0] of control packets, [1] of payload */
    uint64_t deadline_ticks;  /* relative: D' */
    uint64_t next_release[2];
    uint64_t last_release; /* latest release of both kinds; keeps the order */
    uint64_t last_deadline;
};

struct packet_key {
    uint64_t release;
    uint64_t deadline;
};

/* Queue data of a place. */
struct packet_link {
    struct packet_key key;
    uint16_t next; /* next place in the queue, or PACKET_NONE */
};

struct packet_line {
    struct packet_pace pace;
    uint64_t shift_ticks; /* offset that is added to the keys stored in links */
    uint16_t first;       /* first and last place in the queue, or PACKET_NONE */
    uint16_t last;
    uint32_t count;
};

static inline uint64_t packet_sooner(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Initializes an empty line: a packet of each kind in each period, due `deadline_ticks` after its release. */
void packet_line_init(struct packet_line *line, uint64_t period_ticks, uint64_t deadline_ticks);

/* Computes release and deadline of a packet that is sent at `sent`, and advances the pace. */
struct packet_key packet_pace_take(struct packet_pace *pace, uint64_t sent, bool payload);

/* Takes back a packet with this key that was dropped before any of it was delivered, together with all
 * packets that were sent after it: the pace is as if they had not been sent. */
void packet_pace_return(struct packet_pace *pace, const struct packet_key *key, bool payload);

/* Appends place `place` to the queue, with this key. */
void packet_line_append(struct packet_line *line, struct packet_link links[], uint16_t place,
                        const struct packet_key *key);

/* Key of the packet in `place`, which must be in the line. */
static inline struct packet_key packet_line_key(const struct packet_line *line,
                                                const struct packet_link links[], uint16_t place)
{
    return (struct packet_key){.release = links[place].key.release + line->shift_ticks,
                               .deadline = links[place].key.deadline + line->shift_ticks};
}

/* The head of the queue could not be sent for lack of a receive buffer: releases it anew at `now`, and delays
 * the packets behind it by the same time. Otherwise a receiver that stalls would flood the broker with
 * overdue packets. Returns the delay in ticks; 0: the head is not yet released. */
uint64_t packet_line_release_anew(struct packet_line *line, const struct packet_link links[], uint64_t now);

/* Removes the place after `before` from the queue; PACKET_NONE: the head. Returns the place. */
uint16_t packet_line_take_after(struct packet_line *line, struct packet_link links[], uint16_t before);

#ifdef __cplusplus
}
#endif

#endif
