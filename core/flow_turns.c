/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * A token bucket whose level is limited to its capacity at each look of the broker, not between two looks.
 * docs/design/flows.md, "One thread", has two proofs: a domain that sends as declared always has a turn, and
 * the work that all domains together can cause in any time is bounded.
 */
#include "core/flow_turns.h"
#include "core/flow_pause.h"

#define ONE (1ull << 63) /* one packet per ns */

/* Adds 1 / period to a rate, rounded up. */
static uint64_t add_rate(uint64_t rate, uint64_t period_ns)
{
    uint64_t more = period_ns == 0 ? UINT64_MAX : ONE / period_ns + (ONE % period_ns != 0);

    return rate + more < rate ? UINT64_MAX : rate + more;
}

static uint64_t period_of(uint64_t rate)
{
    return rate == 0 ? FLOW_TURNS_NEVER : ONE / rate;
}

struct flow_share flow_turn_share(const struct flow tasks[], uint32_t count, uint32_t domain)
{
    uint32_t packets = 0;
    uint64_t rate = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (tasks[i].sender == domain) {
            packets++;
            rate = add_rate(rate, tasks[i].period_ns);
        }
    }
    return (struct flow_share){.packets = packets, .period_ns = period_of(rate)};
}

void flow_turn_shares(const struct flow tasks[], uint32_t count, struct flow_share shares[FLOW_MAX_DOMAINS])
{
    uint64_t rates[FLOW_MAX_DOMAINS] = {0};

    for (uint32_t i = 0; i < FLOW_MAX_DOMAINS; i++) {
        shares[i].packets = 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t sender = tasks[i].sender;

        flow_pause();
        shares[sender].packets++;
        rates[sender] = add_rate(rates[sender], tasks[i].period_ns);
    }
    for (uint32_t i = 0; i < FLOW_MAX_DOMAINS; i++) {
        shares[i].period_ns = period_of(rates[i]);
    }
}

/* A domain without flows, or with packets of period 0, gets no turns. */
static bool has_turns(const struct flow_share *share)
{
    return share->packets != 0 && share->period_ns != 0;
}

static uint64_t most_ns(const struct flow_share *share)
{
    return has_turns(share) ? share->packets * share->period_ns : 0;
}

void flow_turns_start(struct flow_turns *turns, const struct flow_share *share, uint64_t now_ns)
{
    turns->share = *share;
    turns->left_ns = most_ns(share);
    turns->look_ns = now_ns;
}

void flow_turns_change(struct flow_turns *turns, const struct flow_share *share)
{
    uint64_t left = has_turns(&turns->share) ? turns->left_ns / turns->share.period_ns : 0;
    uint64_t more = share->packets > turns->share.packets ? share->packets - turns->share.packets : 0;

    left = left < turns->share.packets ? left + more : share->packets;
    turns->share = *share;
    turns->left_ns =
        (left < share->packets ? left : share->packets) * (has_turns(share) ? share->period_ns : 0);
}

uint32_t flow_turns_look(struct flow_turns *turns, uint64_t now_ns)
{
    uint64_t most = most_ns(&turns->share);
    uint64_t earned = now_ns > turns->look_ns ? now_ns - turns->look_ns : 0;
    uint64_t packets;

    turns->look_ns += earned;
    if (!has_turns(&turns->share)) {
        return 0;
    }
    turns->left_ns = turns->left_ns < most ? turns->left_ns : most;
    turns->left_ns = turns->left_ns + earned < earned ? UINT64_MAX : turns->left_ns + earned;
    packets = turns->left_ns / turns->share.period_ns;
    return packets < UINT32_MAX ? (uint32_t)packets : UINT32_MAX;
}

void flow_turns_take(struct flow_turns *turns)
{
    turns->left_ns -= turns->share.period_ns;
}
