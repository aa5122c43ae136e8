/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The single-threaded broker parses packets whenever a transfer has ended. In any time of length t, all
 * domains together can make it parse for
 *
 * B + rho t + rho / (1 - rho) q, with B = PP sum N_d and rho = PP sum 1 / T_d,
 *
 * where q is the longest time between the end of a look at the queues and the next look: a transfer, or the
 * counted part of a sleep (docs/design/flows.md, "One thread"). EL2's own interrupts on the broker's core
 * take at most B_e + rho_e t, and the broker may parse for the turns that are earned meanwhile. The broker
 * has (1 - rho - rho_e) t - B - B_e - ... of t left. The test is therefore that of F4 with costs divided by
 * 1 - rho - rho_e, and with a lead. The lead also includes a look that finds nothing, which may have begun
 * just before the first packet arrives.
 */
#include "core/flow_single_thread.h"
#include "core/flow_pause.h"
#include "core/flow_turns.h"
#include "core/wide.h"

#define SCALE_BITS 16u            /* rho is rounded up for each domain */
#define SCALE      FLOW_SHARE_ONE /* 2^SCALE_BITS */
#define LEAST_LEFT (SCALE / 256)  /* of the broker's time left: costs are multiplied by at most 256 */

static uint64_t divide_up(wide_t value, uint64_t by)
{
    uint64_t rest;
    uint64_t quotient;

    if (value >> 64 == 0) { /* nearly always true, and much faster */
        return (uint64_t)value / by + ((uint64_t)value % by != 0);
    }
    quotient = (uint64_t)wide_divide(value, by, &rest);
    return quotient + (rest != 0);
}

/* The share of the broker's time that parsing a domain's packets takes, in 1 / SCALE. */
static uint64_t load_of(const struct flow_share *share, uint32_t parse_ns)
{
    if (share->packets == 0 || parse_ns == 0) {
        return 0;
    }
    return share->period_ns == 0 ? SCALE : divide_up((wide_t)parse_ns << SCALE_BITS, share->period_ns);
}

/* The flow with the shortest period among those that a domain sends. */
static uint32_t fastest_of(const struct flow flows[], uint32_t count, uint32_t domain)
{
    uint32_t found = count;

    for (uint32_t i = 0; i < count; i++) {
        flow_pause();
        if (flows[i].sender == domain && (found == count || flows[i].period_ns < flows[found].period_ns)) {
            found = i;
        }
    }
    return found;
}

/* Places that a flow's packets need: one for each packet in flight, and one for a packet that is sent
 * early. */
static uint64_t places_of(const struct flow *flow)
{
    return divide_up(flow->deadline_ns, flow->period_ns) + 1;
}

static enum flow_problem check_places(const struct flow flows[], uint32_t count, uint32_t *culprit)
{
    uint64_t places[FLOW_MAX_DOMAINS] = {0};
    uint64_t most[FLOW_MAX_DOMAINS] = {0}; /* places of the flow `longest` of each domain */
    uint32_t longest[FLOW_MAX_DOMAINS];

    for (uint32_t i = 0; i < count; i++) {
        uint32_t sender = flows[i].sender;
        uint64_t own = places_of(&flows[i]);

        flow_pause();
        if (own > most[sender]) {
            most[sender] = own;
            longest[sender] = i;
        }
        places[sender] += own;
        if (places[sender] > FLOW_MAX_WAITING) {
            *culprit = longest[sender];
            return FLOW_QUEUE_LONG;
        }
    }
    return FLOW_OK;
}

/* Cost of parsing: rho, and B in ns. */
struct parsing {
    uint64_t load;
    uint64_t burst_ns;
};

static enum flow_problem count_parsing(const struct flow flows[], uint32_t count,
                                       const struct flow_costs *costs, struct parsing *parsing,
                                       uint32_t *culprit)
{
    struct flow_share shares[FLOW_MAX_DOMAINS];
    uint64_t most = 0;

    *parsing = (struct parsing){0, (uint64_t)count * costs->parse_max};
    flow_turn_shares(flows, count, shares);
    for (uint32_t i = 0; i < FLOW_MAX_DOMAINS; i++) {
        uint64_t load = load_of(&shares[i], costs->parse_max);

        flow_pause();
        if (load > most) {
            most = load;
            *culprit = fastest_of(flows, count, i);
        }
        parsing->load += load;
    }
    return parsing->load + costs->broker_interrupts_share > SCALE - LEAST_LEFT ? FLOW_PARSE_LONG : FLOW_OK;
}

/* Scales a cost to real time, of which only the share `left` is not spent on parsing and EL2's interrupts. */
static uint64_t scaled(uint64_t value, uint64_t left)
{
    return divide_up((wide_t)value << SCALE_BITS, left);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The largest fixed cost, and the largest number of bytes, of a transfer of any task. */
struct longest {
    uint64_t fixed;
    uint64_t bytes;
};

static struct longest longest_transfer(const struct flow_set *set)
{
    struct longest longest = {0, 0};

    for (uint32_t i = 0; i < set->count; i++) {
        const struct flow_task *task = &set->tasks[i];

        flow_pause();
        longest.fixed = larger(longest.fixed, task->several ? set->dma_fixed : task->block_fixed);
        longest.bytes = larger(longest.bytes, task->several ? set->chunk_bytes : task->block_bytes);
    }
    return longest;
}

enum flow_problem flow_single_thread(const struct flow flows[], uint32_t count,
                                     const struct flow_costs *costs, uint32_t senders, struct flow_set *set,
                                     uint32_t *culprit)
{
    struct parsing parsing;
    enum flow_problem problem = check_places(flows, count, culprit);
    uint64_t look_ns = (uint64_t)senders * costs->find_earliest_max;
    struct longest longest = longest_transfer(set);
    uint64_t interrupts_ns = costs->broker_interrupts_burst;
    uint64_t slept_ns = flow_sent_ns(costs) + costs->wake_max;
    /* q, and a burst of interrupts: in the counted part of a sleep, from there to the next look, and before
     * the point within an iteration from which the parsing is counted. */
    uint64_t back = larger(2 * (look_ns + slept_ns), longest.fixed) + 6 * interrupts_ns;
    uint64_t first_ns;
    uint64_t left;

    if (problem == FLOW_OK) {
        problem = count_parsing(flows, count, costs, &parsing, culprit);
    }
    if (problem != FLOW_OK) {
        return problem;
    }
    left = SCALE - parsing.load - costs->broker_interrupts_share;
    first_ns = parsing.burst_ns + look_ns + interrupts_ns;
    /* (B + B_e + m PS + rho / (1 - rho - rho_e) (q + 3 B_e)) / (1 - rho - rho_e) */
    set->lead_fixed = divide_up(
        (2 * wide_product(first_ns, left) + wide_product(parsing.load, back)) << SCALE_BITS, left * left);
    set->lead_bytes = divide_up(wide_product(parsing.load, longest.bytes) << SCALE_BITS, left * left);
    set->dma_fixed = scaled(set->dma_fixed, left);
    set->chunk_bytes = scaled(set->chunk_bytes, left);
    for (uint32_t i = 0; i < count; i++) {
        struct flow_task *task = &set->tasks[i];

        flow_pause();
        task->fixed = scaled(task->fixed, left);
        task->bytes = scaled(task->bytes, left);
        task->block_fixed = scaled(task->block_fixed, left);
        task->block_bytes = scaled(task->block_bytes, left);
    }
    return FLOW_OK;
}
