/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * U' <= 1 is sum(a_i / P_i) <= b with a_i = fixed_i b + bytes_i. The sum is built digit by digit, in digits
 * of 64 bits, as in long division. After each digit the remainder is less than the number of flows, in units
 * of that digit; this decides the comparison unless the sum agrees with b up to this digit. A sum of n
 * fractions whose denominators are below 2^63 either is an integer or differs from every integer by at least
 * 2^(-63 n), so n + 1 digits decide every case.
 */
#include "core/flow_load.h"
#include "core/flow_demand.h"
#include "core/flow_pause.h"

/* Takes the next digit of every fraction. Returns the sum of the digits; `unfinished` counts the fractions
 * that are not exhausted. */
static wide_t next_digit(const struct flow_set *set, uint64_t remainder[FLOW_MAX], uint32_t *unfinished)
{
    wide_t sum = 0;

    *unfinished = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        flow_pause();
        sum += wide_divide_step(remainder[i], 0, set->tasks[i].period, &remainder[i]);
        *unfinished += remainder[i] != 0;
    }
    return sum;
}

/* a_i / P_i, rounded down. */
static wide_t rate_of(const struct flow_task *task, uint64_t bytes_per_s, uint64_t *remainder)
{
    wide_t a = wide_product(task->fixed, bytes_per_s) + wide_product(task->bytes, FLOW_HALF_NS_PER_S);

    return wide_divide(a, task->period, remainder);
}

void flow_load_start(struct flow_load *load, const struct flow_set *set, uint64_t bytes_per_s)
{
    load->set = set;
    load->bytes_per_s = bytes_per_s;
    load->verdict = FLOW_LOAD_OVER;
    load->horizon = 0;
    load->stage = FLOW_LOAD_WHOLE;
    load->place = 0;
    load->slack = 0;
}

static void step_whole(struct flow_load *load)
{
    wide_t whole = 0;

    for (uint32_t i = 0; i < load->set->count; i++) {
        wide_t quotient = rate_of(&load->set->tasks[i], load->bytes_per_s, &load->remainder[i]);

        flow_pause();
        whole += quotient;
        load->quotient[i] = (uint64_t)quotient; /* used only if the sum is at most b, so it fits */
        load->has_rest[i] = load->remainder[i] != 0;
    }
    load->left = load->bytes_per_s - whole;
    load->stage = whole > load->bytes_per_s ? FLOW_LOAD_DONE : FLOW_LOAD_DIGITS;
}

static void step_digit(struct flow_load *load)
{
    uint32_t unfinished;
    wide_t sum = next_digit(load->set, load->remainder, &unfinished);

    load->left <<= 64;
    if (sum > load->left) {
        load->stage = FLOW_LOAD_DONE;
        return;
    }
    load->left -= sum;
    if (load->place == 0 && load->left >= unfinished) {
        load->slack = (uint64_t)((load->left - unfinished) >> (64 - FLOW_LOAD_SLACK_BITS));
    }
    if (unfinished == 0 || load->left >= unfinished) {
        load->verdict = load->left == 0 ? FLOW_LOAD_FULL : FLOW_LOAD_BELOW;
        load->stage = FLOW_LOAD_BOUND;
    } else if (load->place == load->set->count) {
        load->verdict = FLOW_LOAD_FULL;
        load->stage = FLOW_LOAD_BOUND;
    }
    load->place++;
}

/* Greatest common divisor; b is not 0. */
static uint64_t greatest_divisor(uint64_t a, uint64_t b)
{
    uint64_t rest;

    do {
        flow_pause();
        rest = a % b;
        a = b;
        b = rest;
    } while (rest != 0);
    return a;
}

/* max(max(D' - J'), (lead + sum U'_i (P'_i - (D'_i - J'_i))) / (1 - U')), numerator and denominator times b;
 * the numerator is rounded up, the denominator down. */
static uint64_t busy_bound(const struct flow_load *load)
{
    const struct flow_set *set = load->set;
    wide_t more = flow_times_bandwidth(set->lead_bytes, set->lead_fixed, load->bytes_per_s);
    wide_t less = 0;
    wide_t bound = 0;
    uint64_t rest;

    for (uint32_t i = 0; i < set->count; i++) {
        const struct flow_task *task = &set->tasks[i];

        flow_pause();
        if (task->first < task->period) {
            more += wide_product(load->quotient[i] + 1, task->period - task->first);
        } else {
            less += wide_product(load->quotient[i], task->first - task->period);
        }
    }
    if (more > less) {
        if (load->slack == 0) {
            return FLOW_MAX_HORIZON;
        }
        flow_pause();
        bound = wide_divide((more - less) << FLOW_LOAD_SLACK_BITS, load->slack, &rest) + 1;
        flow_pause();
    }
    for (uint32_t i = 0; i < set->count; i++) {
        flow_pause();
        bound = bound > set->tasks[i].first ? bound : set->tasks[i].first;
    }
    return bound < FLOW_MAX_HORIZON ? (uint64_t)bound : FLOW_MAX_HORIZON;
}

static uint64_t horizon_limit(const struct flow_set *set)
{
    uint64_t longest = 0;

    for (uint32_t i = 0; i < set->count; i++) {
        const struct flow_task *task = &set->tasks[i];

        flow_pause();
        longest = task->period > longest ? task->period : longest;
        longest = task->first > longest ? task->first : longest;
    }
    return longest < FLOW_MAX_HORIZON / FLOW_MAX_LONGEST ? longest * FLOW_MAX_LONGEST : FLOW_MAX_HORIZON;
}

static void step_bound(struct flow_load *load)
{
    uint64_t limit = horizon_limit(load->set);
    uint64_t bound = load->verdict == FLOW_LOAD_FULL ? limit : busy_bound(load);

    load->limit = limit;
    load->bound = bound < limit ? bound : limit;
    load->horizon = 1;
    load->place = 0;
    load->stage = FLOW_LOAD_MULTIPLE;
}

/* The points repeat with the hyperperiod. Without a lead they repeat from time 0; with a lead, from the first
 * point on. A point one hyperperiod later holds whenever the earlier point holds. */
static uint64_t begin_of_repetition(const struct flow_set *set)
{
    uint64_t first = set->tasks[0].first;

    if (set->lead_fixed == 0 && set->lead_bytes == 0) {
        return 0;
    }
    for (uint32_t i = 1; i < set->count; i++) {
        flow_pause();
        first = set->tasks[i].first < first ? set->tasks[i].first : first;
    }
    return first;
}

/* Includes one more period in the least common multiple, which is limited to the bound. */
static void step_multiple(struct flow_load *load)
{
    uint64_t period = load->set->tasks[load->place].period;
    wide_t next = wide_product(load->horizon, period / greatest_divisor(load->horizon, period));

    load->place++;
    if (load->place == load->set->count) {
        next += begin_of_repetition(load->set);
    }
    load->horizon = next < load->bound ? (uint64_t)next : load->bound;
    if (load->horizon == load->bound || load->place == load->set->count) {
        load->horizon = load->horizon < load->limit ? load->horizon : FLOW_MAX_HORIZON;
        load->stage = FLOW_LOAD_DONE;
    }
}

bool flow_load_step(struct flow_load *load)
{
    switch (load->stage) {
    case FLOW_LOAD_WHOLE:
        step_whole(load);
        break;
    case FLOW_LOAD_DIGITS:
        step_digit(load);
        break;
    case FLOW_LOAD_BOUND:
        step_bound(load);
        break;
    case FLOW_LOAD_MULTIPLE:
        step_multiple(load);
        break;
    default:
        break;
    }
    return load->stage == FLOW_LOAD_DONE;
}

enum flow_load_verdict flow_load_all(struct flow_load *load, const struct flow_set *set, uint64_t bytes_per_s)
{
    flow_load_start(load, set, bytes_per_s);
    while (!flow_load_step(load)) {
    }
    return load->verdict;
}
