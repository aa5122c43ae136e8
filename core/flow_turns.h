/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Turns: how many packets of a domain the single-threaded broker looks at, and when (F8). A domain gets as
 * many turns as its flows need if it sends as declared, whatever other domains do; a domain that sends more,
 * or invalid packets, uses up its own turns. The analysis counts turns (flow_transform.c) and the broker
 * grants them; both use this file.
 *
 * Time is in ns of any clock that does not go back.
 */
#ifndef BULKHEAD_CORE_FLOW_TURNS_H
#define BULKHEAD_CORE_FLOW_TURNS_H

#include "core/flow.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FLOW_TURNS_NEVER UINT64_MAX

/* The share of a domain: `packets` turns at once (N_d) and one more each `period_ns` (T_d). Without flows:
 * none. */
struct flow_share {
    uint32_t packets;
    uint64_t period_ns; /* FLOW_TURNS_NEVER without flows; 0 if periods are too short to be expressed */
};

/* The share of a domain, from those of `tasks` that it sends: flows and control packets
 * (flow_with_control()). N_d is their number; T_d is 1 / sum(1 / P_i), rounded down after each of the rates
 * was rounded up. */
struct flow_share flow_turn_share(const struct flow tasks[], uint32_t count, uint32_t domain);

/* The shares of all domains, in one pass. */
void flow_turn_shares(const struct flow tasks[], uint32_t count, struct flow_share shares[FLOW_MAX_DOMAINS]);

/* The turns that a domain has left. */
struct flow_turns {
    struct flow_share share;
    uint64_t left_ns; /* turns that are left, as time: one turn is period_ns */
    uint64_t look_ns; /* time of the broker's last look */
};

/* Starts with all turns of the share. */
void flow_turns_start(struct flow_turns *turns, const struct flow_share *share, uint64_t now_ns);

/* Changes the share after flows were opened or closed: turns that are left stay, and a new flow adds its
 * turns. */
void flow_turns_change(struct flow_turns *turns, const struct flow_share *share);

/* The broker looks at the domain's queue: returns how many packets it may take now. Turns that the domain had
 * not used by the previous look are cut to N_d here; turns earned since then are not cut, so that none is
 * missing after a long transfer.
 *
 * `now_ns` is the beginning of the look, the same for all domains, read before anything else of the look. A
 * broker that slept for longer than flow_look_back_ns() looks twice: first at the time that is
 * flow_look_back_ns() before it woke, without taking packets. This cuts the turns that were earned during the
 * sleep. */
uint32_t flow_turns_look(struct flow_turns *turns, uint64_t now_ns);

/* Uses one turn: one packet was taken, of those that flow_turns_look() allowed. */
void flow_turns_take(struct flow_turns *turns);

#ifdef __cplusplus
}
#endif

#endif
