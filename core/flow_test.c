/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Everything is multiplied by the bandwidth, so that it is exact. Sizes: t < 2^61 and b <= 2^40, so t b <
 * 2^101; a task's C' b is below 2^100, and where U' <= 1 the demand of n tasks is below n (t b + C' b) <
 * 2^108.
 */
#include "core/flow_test.h"
#include "core/flow_load.h"
#include "core/wide.h"

#define FIRST_PASS_TIMES 4u /* of the longest D' - J' */

/* What the tasks ask for until a point: sum(eta_i C'_i), in its two parts. */
struct demand {
    wide_t bytes;
    wide_t fixed;
};

static struct demand demand_until(const struct flow_set *set, uint64_t t)
{
    struct demand demand = {0, 0};

    for (uint32_t i = 0; i < set->count; i++) {
        const struct flow_task *task = &set->tasks[i];

        if (t >= task->first) {
            uint64_t packets = 1 + (t - task->first) / task->period;

            demand.bytes += wide_product(packets, task->bytes);
            demand.fixed += wide_product(packets, task->fixed);
        }
    }
    return demand;
}

static wide_t times_bandwidth(wide_t bytes, wide_t fixed, uint64_t bytes_per_s)
{
    return fixed * bytes_per_s + bytes * FLOW_HALF_NS_PER_S;
}

/* The last point that is not after t; 0: there is none. */
static uint64_t point_until(const struct flow_set *set, uint64_t t)
{
    uint64_t last = 0;

    for (uint32_t i = 0; i < set->count; i++) {
        const struct flow_task *task = &set->tasks[i];

        if (t >= task->first) {
            uint64_t point = t - (t - task->first) % task->period;

            last = point > last ? point : last;
        }
    }
    return last;
}

/* Q(t, b) b: the longest transfer of a packet that is due later. */
static wide_t blocking(const struct flow_set *set, uint64_t t, uint64_t bytes_per_s)
{
    wide_t chunk = times_bandwidth(set->chunk_bytes, set->dma_fixed, bytes_per_s);
    wide_t longest = 0;

    for (uint32_t i = 0; i < set->count; i++) {
        const struct flow_task *task = &set->tasks[i];

        if (task->first > t) {
            wide_t last = times_bandwidth(task->block_bytes, task->block_fixed, bytes_per_s);

            longest = last > longest ? last : longest;
            longest = task->several && chunk > longest ? chunk : longest;
        }
    }
    return longest;
}

/* Where the piece of t begins: the last D' - J' that is not after it. */
static uint64_t piece_of(const struct flow_set *set, uint64_t t)
{
    uint64_t begin = 0;

    for (uint32_t i = 0; i < set->count; i++) {
        uint64_t first = set->tasks[i].first;

        begin = first <= t && first > begin ? first : begin;
    }
    return begin;
}

/* Smallest bandwidth with (fixed + bytes / b) <= t; 0: none. */
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

/* The smallest bandwidth with which the demand at t is met, blocking included; 0: none. */
static uint64_t needed_at(const struct flow_set *set, uint64_t t, struct demand demand)
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

static void end(struct flow_test *test, enum flow_verdict verdict)
{
    test->verdict = verdict;
}

/* The last point that is not after t, in a piece that has to be looked at. */
static uint64_t next_point(const struct flow_test *test, uint64_t t)
{
    uint64_t left = flow_pieces_left(&test->pieces, test->set, t);

    return left != 0 ? point_until(test->set, left) : 0;
}

static void begin_below(struct flow_test *test, uint64_t horizon)
{
    flow_pieces_pass(&test->pieces, test->set, test->bytes_per_s);
    test->at = next_point(test, horizon - 1);
    test->verdict = test->at > test->done ? FLOW_GOES_ON : FLOW_SCHEDULABLE;
}

void flow_test_start(struct flow_test *test, const struct flow_set *set, uint64_t bytes_per_s)
{
    uint64_t horizon;

    *test = (struct flow_test){.set = set, .bytes_per_s = bytes_per_s};
    flow_pieces_init(&test->pieces, set);
    if (flow_load(set, bytes_per_s, &horizon) == FLOW_LOAD_OVER) {
        end(test, FLOW_OVERLOADED);
    } else if (horizon == FLOW_MAX_HORIZON) {
        end(test, FLOW_UNDECIDED);
    } else {
        begin_below(test, horizon);
    }
}

/* Points after the longest D' - J' are all of one piece. */
static uint64_t first_pass_end(const struct flow_set *set)
{
    return FIRST_PASS_TIMES * piece_of(set, FLOW_MAX_HORIZON);
}

void flow_test_start_search(struct flow_test *test, const struct flow_set *set)
{
    *test = (struct flow_test){.set = set, .bytes_per_s = flow_load_bandwidth(set), .search = true};
    flow_pieces_init(&test->pieces, set);
    if (test->bytes_per_s == 0) {
        end(test, FLOW_IMPOSSIBLE);
    } else {
        begin_below(test, first_pass_end(set) + 1);
    }
}

/* From the first pass, whose bandwidth the horizon needs, to the second, which ends where the first began. */
static void pass_ended(struct flow_test *test)
{
    uint64_t decided;
    uint64_t horizon;

    if (!test->search || test->done != 0) {
        end(test, FLOW_SCHEDULABLE);
        return;
    }
    test->done = first_pass_end(test->set);
    decided = flow_load_decided_bandwidth(test->set, test->bytes_per_s);
    if (decided == 0) {
        end(test, FLOW_UNDECIDED);
        return;
    }
    test->bytes_per_s = decided;
    (void)flow_load(test->set, decided, &horizon);
    begin_below(test, horizon);
}

/* After a point that is in order. `done` is h(t), rounded down. */
static void step_down(struct flow_test *test, uint64_t done)
{
    uint64_t begin = piece_of(test->set, test->at);
    uint64_t upto = done < test->at ? done : test->at - 1;

    test->at = next_point(test, upto >= begin ? upto : begin - 1);
    if (test->at <= test->done) {
        pass_ended(test);
    }
}

static void late(struct flow_test *test, struct demand demand, wide_t total)
{
    uint64_t rest;

    if (test->search) {
        uint64_t bytes_per_s = needed_at(test->set, test->at, demand);

        if (bytes_per_s == 0) {
            end(test, FLOW_IMPOSSIBLE);
            return;
        }
        test->bytes_per_s = bytes_per_s; /* the same point again, which is now in order */
        flow_pieces_pass(&test->pieces, test->set, bytes_per_s);
        return;
    }
    test->demand = (uint64_t)wide_divide(total, test->bytes_per_s, &rest);
    test->demand += rest != 0;
    end(test, FLOW_LATE);
}

enum flow_verdict flow_test_run(struct flow_test *test, uint64_t points)
{
    for (; points != 0 && test->verdict == FLOW_GOES_ON; points--) {
        uint64_t b = test->bytes_per_s;
        struct demand demand = demand_until(test->set, test->at);
        wide_t total = times_bandwidth(demand.bytes, demand.fixed, b) + blocking(test->set, test->at, b);
        uint64_t rest;

        test->points++;
        if (total > wide_product(test->at, b)) {
            late(test, demand, total);
        } else {
            step_down(test, (uint64_t)wide_divide(total, b, &rest));
        }
    }
    return test->verdict;
}
