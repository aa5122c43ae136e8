/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * U' <= 1 is sum(a_i / P_i) <= b with a_i = fixed_i b + bytes_i. The sum is built digit by digit, in digits
 * of 64 bits, as by hand: after each digit what is left is less than the number of flows, in units of that
 * digit, which decides unless the sum agrees with b to this digit. A sum of n fractions whose denominators
 * are below 2^63 differs from an integer by nothing or by at least 2^(-63 n), so n + 1 digits tell the two
 * apart.
 */
#include "core/flow_load.h"
#include "core/wide.h"

#define SLACK_BITS 16u

struct load {
    enum flow_load_verdict verdict;
    uint64_t slack;              /* b - sum(a_i / P_i), rounded down, in bytes/s / 2^SLACK_BITS */
    uint64_t quotient[FLOW_MAX]; /* a_i / P_i, rounded down, in bytes/s */
};

/* Takes one digit of every fraction: their sum; how many have more. */
static wide_t next_digit(const struct flow_set *set, uint64_t remainder[FLOW_MAX], uint32_t *unfinished)
{
    wide_t sum = 0;

    *unfinished = 0;
    for (uint32_t i = 0; i < set->count; i++) {
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

void flow_load_rates(const struct flow_set *set, uint64_t bytes_per_s, uint64_t rates[FLOW_MAX])
{
    for (uint32_t i = 0; i < set->count; i++) {
        uint64_t rest;

        rates[i] = (uint64_t)rate_of(&set->tasks[i], bytes_per_s, &rest);
        rates[i] += rest != 0;
    }
}

static void measure(const struct flow_set *set, uint64_t bytes_per_s, struct load *load)
{
    uint64_t remainder[FLOW_MAX];
    uint32_t unfinished;
    wide_t whole = 0;
    wide_t left; /* b less what was summed up, in units of the last digit */

    for (uint32_t i = 0; i < set->count; i++) {
        wide_t quotient = rate_of(&set->tasks[i], bytes_per_s, &remainder[i]);

        whole += quotient;
        load->quotient[i] = (uint64_t)quotient; /* used only if the sum is at most b */
    }
    load->slack = 0;
    load->verdict = FLOW_LOAD_OVER;
    if (whole > bytes_per_s) {
        return;
    }
    left = bytes_per_s - whole;
    for (uint32_t digit = 0; digit <= set->count; digit++) {
        wide_t sum = next_digit(set, remainder, &unfinished);

        left <<= 64;
        if (sum > left) {
            return;
        }
        left -= sum;
        if (digit == 0 && left >= unfinished) {
            load->slack = (uint64_t)((left - unfinished) >> (64 - SLACK_BITS));
        }
        if (unfinished == 0 || left >= unfinished) {
            load->verdict = left == 0 ? FLOW_LOAD_FULL : FLOW_LOAD_BELOW;
            return;
        }
    }
    load->verdict = FLOW_LOAD_FULL;
}

/* b is not 0. */
static uint64_t greatest_divisor(uint64_t a, uint64_t b)
{
    uint64_t rest;

    do {
        rest = a % b;
        a = b;
        b = rest;
    } while (rest != 0);
    return a;
}

/* Least common multiple of the periods, or `limit` if it is above. */
static uint64_t hyperperiod(const struct flow_set *set, uint64_t limit)
{
    uint64_t multiple = 1;

    for (uint32_t i = 0; i < set->count; i++) {
        uint64_t period = set->tasks[i].period;
        wide_t next = wide_product(multiple, period / greatest_divisor(multiple, period));

        if (next > limit) {
            return limit;
        }
        multiple = (uint64_t)next;
    }
    return multiple;
}

/* max(max(D' - J'), sum U'_i (P'_i - (D'_i - J'_i)) / (1 - U')), numerator and denominator times b; the
 * numerator is rounded up, the denominator down. */
static uint64_t busy_bound(const struct flow_set *set, const struct load *load)
{
    wide_t more = 0;
    wide_t less = 0;
    wide_t bound = 0;
    uint64_t rest;

    for (uint32_t i = 0; i < set->count; i++) {
        const struct flow_task *task = &set->tasks[i];

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
        bound = wide_divide((more - less) << SLACK_BITS, load->slack, &rest) + 1;
    }
    for (uint32_t i = 0; i < set->count; i++) {
        bound = bound > set->tasks[i].first ? bound : set->tasks[i].first;
    }
    return bound < FLOW_MAX_HORIZON ? (uint64_t)bound : FLOW_MAX_HORIZON;
}

static uint64_t horizon_limit(const struct flow_set *set)
{
    uint64_t longest = 0;

    for (uint32_t i = 0; i < set->count; i++) {
        const struct flow_task *task = &set->tasks[i];

        longest = task->period > longest ? task->period : longest;
        longest = task->first > longest ? task->first : longest;
    }
    return longest < FLOW_MAX_HORIZON / FLOW_MAX_LONGEST ? longest * FLOW_MAX_LONGEST : FLOW_MAX_HORIZON;
}

enum flow_load_verdict flow_load(const struct flow_set *set, uint64_t bytes_per_s, uint64_t *horizon)
{
    uint64_t limit = horizon_limit(set);
    struct load load;

    measure(set, bytes_per_s, &load);
    *horizon = 0;
    if (load.verdict != FLOW_LOAD_OVER) {
        uint64_t bound = load.verdict == FLOW_LOAD_FULL ? limit : busy_bound(set, &load);

        *horizon = hyperperiod(set, bound < limit ? bound : limit);
        *horizon = *horizon < limit ? *horizon : FLOW_MAX_HORIZON;
    }
    return load.verdict;
}

uint64_t flow_load_decided_bandwidth(const struct flow_set *set, uint64_t from)
{
    uint64_t low = from; /* not decided */
    uint64_t high = FLOW_MAX_BYTES_PER_S;
    uint64_t horizon;

    (void)flow_load(set, from, &horizon);
    if (horizon < FLOW_MAX_HORIZON) {
        return from;
    }
    (void)flow_load(set, high, &horizon);
    if (horizon == FLOW_MAX_HORIZON) {
        return 0;
    }
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;

        (void)flow_load(set, middle, &horizon);
        if (horizon == FLOW_MAX_HORIZON) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high;
}

uint64_t flow_load_bandwidth(const struct flow_set *set)
{
    uint64_t low = 0; /* too little */
    uint64_t high = FLOW_MAX_BYTES_PER_S;
    struct load load;

    measure(set, high, &load);
    if (load.verdict == FLOW_LOAD_OVER) {
        return 0;
    }
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;

        measure(set, middle, &load);
        if (load.verdict == FLOW_LOAD_OVER) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high;
}
