/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The queue of one direction of a flow, and its pace (F2, F9). A direction's packets keep their order, so
 * releases and deadlines never fall from one to the next, and the first packet of a line is its most urgent
 * one. A sender that sends more than it declared delays itself. Packets lie in places of their sender's
 * (core/vsock_device.h): a line holds numbers of places, and is never full before they are. Times are ticks
 * of a counter.
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

/* How fast one direction of a flow may send: a packet in each period, its payload and control packets apart.
 */
struct packet_pace {
    uint64_t period_ticks[2]; /* of control packets, of payload */
    uint64_t deadline_ticks;  /* relative: D' */
    uint64_t next_release[2];
    uint64_t last_release; /* of all: the order stays */
    uint64_t last_deadline;
};

struct packet_key {
    uint64_t release;
    uint64_t deadline;
};

/* What a place holds besides its packet. */
struct packet_link {
    struct packet_key key;
    uint16_t next; /* place, or PACKET_NONE */
};

struct packet_line {
    struct packet_pace pace;
    uint64_t shift_ticks; /* keys of links are so much later than they are written down */
    uint16_t first;       /* places, or PACKET_NONE */
    uint16_t last;
    uint32_t count;
};

static inline uint64_t packet_sooner(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* An empty line of that pace: a packet of each kind in each period, due so long after its release. */
void packet_line_init(struct packet_line *line, uint64_t period_ticks, uint64_t deadline_ticks);

/* When a packet that is sent at `sent` is released, and until when it is to be delivered; the pace goes on.
 */
struct packet_key packet_pace_take(struct packet_pace *pace, uint64_t sent, bool payload);

/* A packet with that key is forgotten before anything of it was delivered, and so are all that were sent
 * after it: as if they never were. */
void packet_pace_return(struct packet_pace *pace, const struct packet_key *key, bool payload);

/* Puts place `place` at the end, with that key. */
void packet_line_append(struct packet_line *line, struct packet_link links[], uint16_t place,
                        const struct packet_key *key);

/* Key of the packet in `place`, which is in the line. */
static inline struct packet_key packet_line_key(const struct packet_line *line,
                                                const struct packet_link links[], uint16_t place)
{
    return (struct packet_key){.release = links[place].key.release + line->shift_ticks,
                               .deadline = links[place].key.deadline + line->shift_ticks};
}

/* The first packet, which could not go for want of a receive buffer, is released anew at `now`, and those
 * behind it as much later. Else a receiver that stalls would flood the broker with packets that are overdue.
 * Returns how much later that is; 0: it is not yet released. */
uint64_t packet_line_release_anew(struct packet_line *line, const struct packet_link links[], uint64_t now);

/* Takes a place out that comes after `before`; PACKET_NONE: the first. Returns the place. */
uint16_t packet_line_take_after(struct packet_line *line, struct packet_link links[], uint16_t before);

#ifdef __cplusplus
}
#endif

#endif
