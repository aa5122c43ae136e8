/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * How much of what a domain writes the single-threaded broker reads, and when: its turns (F8). A domain has
 * as many as its flows need if it sends as declared, whatever else happens; one that sends more, or nonsense,
 * uses up its own. The analysis counts them (flow_transform.c), the broker hands them out: both by this file.
 *
 * Time is in ns, of any clock that does not go back.
 */
#ifndef BULKHEAD_CORE_FLOW_TURNS_H
#define BULKHEAD_CORE_FLOW_TURNS_H

#include "core/flow.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FLOW_TURNS_NEVER UINT64_MAX

/* Of a domain: `packets` at once (N_d), and one more each `period_ns` (T_d). Without flows: none. */
struct flow_share {
    uint32_t packets;
    uint64_t period_ns; /* FLOW_TURNS_NEVER without flows; 0 where periods are too short for any */
};

/* The share of a domain that sends those of `tasks` whose sender it is: flows, and control packets
 * (flow_with_control()). N_d is their number; T_d is 1 / sum(1 / P_i), rounded down after
 * each of the rates was rounded up. */
struct flow_share flow_turn_share(const struct flow tasks[], uint32_t count, uint32_t domain);

/* The same of all domains, in one pass. */
void flow_turn_shares(const struct flow tasks[], uint32_t count, struct flow_share shares[FLOW_MAX_DOMAINS]);

/* The turns that a domain has left. */
struct flow_turns {
    struct flow_share share;
    uint64_t left_ns; /* of turns, each of which is period_ns */
    uint64_t look_ns; /* when the broker looked last */
};

/* All of its turns. */
void flow_turns_start(struct flow_turns *turns, const struct flow_share *share, uint64_t now_ns);

/* Another share, of flows that came or went: what is left stays, and a flow more brings its turns. */
void flow_turns_change(struct flow_turns *turns, const struct flow_share *share);

/* The broker looks: how many packets it may take now. What the domain has not used since the look before is
 * cut to N_d here; what it earned in between is not, so that it lacks no turn after a long transfer.
 *
 * `now_ns` is the begin of the look, the same for all domains, read before anything else of it. A broker that
 * slept for more than flow_look_back_ns() looks twice: first as of so long before it woke, without taking
 * anything. That cuts what was earned while it slept. */
uint32_t flow_turns_look(struct flow_turns *turns, uint64_t now_ns);

/* One packet was taken, of those that flow_turns_look() allowed. */
void flow_turns_take(struct flow_turns *turns);

#ifdef __cplusplus
}
#endif

#endif
