/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * All quantities are multiplied by the bandwidth, so that the test is exact. Sizes: t < 2^61 and b <= 2^40,
 * so t b < 2^101; a task's C' b and the lead's are below 2^100, and if U' <= 1 the demand of n tasks is below
 * n (t b + C' b) < 2^109.
 */
#include "core/flow_test.h"
#include "core/flow_demand.h"
#include "core/flow_pause.h"

/* The last point at or before t; 0 if there is none. */
static uint64_t point_until(const struct flow_set *set, uint64_t t)
{
    uint64_t last = 0;

    for (uint32_t i = 0; i < set->count; i++) {
        const struct flow_task *task = &set->tasks[i];

        flow_pause();
        if (t >= task->first) {
            uint64_t point = t - (t - task->first) % task->period;

            last = point > last ? point : last;
        }
    }
    return last;
}

/* Q(t, b) b: the longest transfer of a packet with a later deadline. */
static wide_t blocking(const struct flow_set *set, uint64_t t, uint64_t bytes_per_s)
{
    wide_t chunk = flow_times_bandwidth(set->chunk_bytes, set->dma_fixed, bytes_per_s);
    wide_t longest = 0;

    for (uint32_t i = 0; i < set->count; i++) {
        const struct flow_task *task = &set->tasks[i];

        flow_pause();
        if (task->first > t) {
            wide_t last = flow_times_bandwidth(task->block_bytes, task->block_fixed, bytes_per_s);

            longest = last > longest ? last : longest;
            longest = task->several && chunk > longest ? chunk : longest;
        }
    }
    return longest;
}

/* The last point at or before t that is in a piece that has to be tested. */
static uint64_t next_point(const struct flow_test *test, uint64_t t)
{
    uint64_t left = flow_pieces_left(&test->pieces, test->set, t);

    return left != 0 ? point_until(test->set, left) : 0;
}

void flow_test_look_below(struct flow_test *test, uint64_t end, uint64_t from)
{
    test->from = from;
    test->stage = FLOW_TEST_POINTS;
    flow_pieces_pass(&test->pieces, &test->load);
    test->at = next_point(test, end - 1);
    test->verdict = test->at > from ? FLOW_GOES_ON : FLOW_SCHEDULABLE;
}

void flow_test_begin(struct flow_test *test, const struct flow_set *set, uint64_t bytes_per_s)
{
    test->set = set;
    test->verdict = FLOW_GOES_ON;
    test->bytes_per_s = bytes_per_s;
    test->at = 0;
    test->demand = 0;
    test->points = 0;
    test->stage = FLOW_TEST_SORT;
    test->pieces.count = 0;
}

bool flow_test_is_endless(struct flow_test *test)
{
    if (test->load.horizon != FLOW_MAX_HORIZON) {
        return false;
    }
    flow_pieces_pass(&test->pieces, &test->load);
    return flow_pieces_left(&test->pieces, test->set, FLOW_MAX_HORIZON) != 0;
}

static void finish_load(struct flow_test *test)
{
    if (test->load.verdict == FLOW_LOAD_OVER) {
        test->verdict = FLOW_OVERLOADED;
    } else if (flow_test_is_endless(test)) {
        test->verdict = FLOW_UNDECIDED;
    } else {
        flow_test_look_below(test, test->load.horizon, 0);
    }
}

/* Performs one step of the preparation before the first point. */
static void prepare(struct flow_test *test)
{
    if (test->stage == FLOW_TEST_SORT) {
        if (flow_pieces_sort_step(&test->pieces, test->set)) {
            flow_load_start(&test->load, test->set, test->bytes_per_s);
            test->stage = FLOW_TEST_LOAD;
        }
    } else if (flow_load_step(&test->load)) {
        finish_load(test);
    }
}

void flow_test_start(struct flow_test *test, const struct flow_set *set, uint64_t bytes_per_s)
{
    flow_test_begin(test, set, bytes_per_s);
    while (test->verdict == FLOW_GOES_ON && test->stage != FLOW_TEST_POINTS) {
        prepare(test);
    }
}

/* Moves to the next lower point after a point that holds. `done` is h(t), rounded down. */
static void step_down(struct flow_test *test, uint64_t done)
{
    uint64_t begin = flow_piece_of(test->set, test->at);
    uint64_t upto = done < test->at ? done : test->at - 1;

    test->at = next_point(test, upto >= begin ? upto : begin - 1);
    if (test->at <= test->from) {
        test->verdict = FLOW_SCHEDULABLE;
    }
}

static void test_point(struct flow_test *test)
{
    uint64_t b = test->bytes_per_s;
    struct flow_demand demand = flow_demand_until(test->set, test->at);
    wide_t total = flow_times_bandwidth(demand.bytes, demand.fixed, b) + blocking(test->set, test->at, b);
    uint64_t rest;
    wide_t done = wide_divide(total, b, &rest);

    test->points++;
    if (total > wide_product(test->at, b)) {
        test->demand = (uint64_t)done + (rest != 0);
        test->verdict = FLOW_LATE;
    } else {
        step_down(test, (uint64_t)done);
    }
}

enum flow_verdict flow_test_run(struct flow_test *test, uint64_t steps)
{
    for (; steps != 0 && test->verdict == FLOW_GOES_ON; steps--) {
        if (test->stage == FLOW_TEST_POINTS) {
            test_point(test);
        } else {
            prepare(test);
        }
    }
    return test->verdict;
}
