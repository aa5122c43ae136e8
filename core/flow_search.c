/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Search for the smallest sufficient bandwidth, based on the steps of the test: the bandwidth that a violated
 * point needs, and the bandwidth that the load needs.
 */
#include "core/flow_search.h"
#include "core/flow_demand.h"

#define FIRST_PASS_TIMES 4u /* times the longest D' - J' */

typedef bool too_little(struct flow_test *test, uint64_t bytes_per_s);

static bool is_overloaded(struct flow_test *test, uint64_t bytes_per_s)
{
    struct flow_load *load = &test->load;

    flow_load_start(load, test->set, bytes_per_s);
    while (load->stage != FLOW_LOAD_DONE && load->stage != FLOW_LOAD_BOUND) {
        (void)flow_load_step(load);
    }
    return load->verdict == FLOW_LOAD_OVER;
}

static bool is_undecided(struct flow_test *test, uint64_t bytes_per_s)
{
    return flow_load_all(&test->load, test->set, bytes_per_s) == FLOW_LOAD_OVER || flow_test_is_endless(test);
}

/* The smallest sufficient bandwidth above `low`, which is too little; 0 if there is none. */
static uint64_t smallest_above(struct flow_test *test, uint64_t low, too_little *is_too_little)
{
    uint64_t high = FLOW_MAX_BYTES_PER_S;

    if (is_too_little(test, high)) {
        return 0;
    }
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;

        if (is_too_little(test, middle)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high;
}

uint64_t flow_search_load(const struct flow_set *set)
{
    struct flow_test test;

    flow_test_begin(&test, set, 0);
    return smallest_above(&test, 0, is_overloaded);
}

/* Smallest bandwidth b with (fixed + bytes / b) <= t; 0 if there is none. */
static uint64_t needed(wide_t bytes, wide_t fixed, uint64_t t)
{
    uint64_t rest;
    wide_t quotient;

    if (fixed >= t) {
        return 0;
    }
    quotient = wide_divide(bytes * FLOW_HALF_NS_PER_S, t - (uint64_t)fixed, &rest);
    quotient += rest != 0;
    return quotient <= FLOW_MAX_BYTES_PER_S ? (uint64_t)quotient : 0;
}

/* The smallest bandwidth with which the demand at t is met, including blocking; 0 if there is none. */
static uint64_t needed_at(const struct flow_set *set, uint64_t t, struct flow_demand demand)
{
    uint64_t most = needed(demand.bytes, demand.fixed, t);

    for (uint32_t i = 0; i < set->count && most != 0; i++) {
        const struct flow_task *task = &set->tasks[i];
        uint64_t last;
        uint64_t chunk;

        if (task->first <= t) {
            continue;
        }
        last = needed(demand.bytes + task->block_bytes, demand.fixed + task->block_fixed, t);
        chunk =
            task->several ? needed(demand.bytes + set->chunk_bytes, demand.fixed + set->dma_fixed, t) : last;
        if (last == 0 || chunk == 0) {
            return 0;
        }
        most = last > most ? last : most;
        most = chunk > most ? chunk : most;
    }
    return most;
}

/* All points after the longest D' - J' are in one piece. */
static uint64_t first_pass_end(const struct flow_set *set)
{
    return FIRST_PASS_TIMES * flow_piece_of(set, FLOW_MAX_HORIZON);
}

void flow_search_start(struct flow_search *search, const struct flow_set *set)
{
    struct flow_test *test = &search->test;

    search->second = false;
    flow_test_begin(test, set, 0);
    while (!flow_pieces_sort_step(&test->pieces, set)) {
    }
    test->bytes_per_s = smallest_above(test, 0, is_overloaded);
    if (test->bytes_per_s == 0) {
        test->verdict = FLOW_IMPOSSIBLE;
        return;
    }
    (void)is_overloaded(test, test->bytes_per_s);
    flow_test_look_below(test, first_pass_end(set) + 1, 0);
}

/* Starts the second pass, which covers the times above the first pass and needs a finite horizon. */
static enum flow_verdict begin_second(struct flow_search *search)
{
    struct flow_test *test = &search->test;

    search->second = true;
    if (is_undecided(test, test->bytes_per_s)) {
        test->bytes_per_s = smallest_above(test, test->bytes_per_s, is_undecided);
        if (test->bytes_per_s == 0) {
            return FLOW_UNDECIDED;
        }
        (void)is_undecided(test, test->bytes_per_s);
    }
    flow_test_look_below(test, test->load.horizon, first_pass_end(test->set));
    return test->verdict;
}

/* Sets the bandwidth that the violated point needs; the point is then tested again. */
static enum flow_verdict raise_bandwidth(struct flow_test *test)
{
    uint64_t needs = needed_at(test->set, test->at, flow_demand_until(test->set, test->at));

    if (needs == 0) {
        return FLOW_IMPOSSIBLE;
    }
    test->bytes_per_s = needs;
    (void)is_overloaded(test, needs);
    flow_pieces_pass(&test->pieces, &test->load);
    return FLOW_GOES_ON;
}

enum flow_verdict flow_search_run(struct flow_search *search, uint64_t points)
{
    struct flow_test *test = &search->test;
    uint64_t end = test->points + points < points ? UINT64_MAX : test->points + points;

    while (test->verdict == FLOW_GOES_ON && test->points < end) {
        test->verdict = flow_test_run(test, end - test->points);
        if (test->verdict == FLOW_LATE) {
            test->verdict = raise_bandwidth(test);
        } else if (test->verdict == FLOW_SCHEDULABLE && !search->second) {
            test->verdict = begin_second(search);
        }
    }
    return test->verdict;
}
