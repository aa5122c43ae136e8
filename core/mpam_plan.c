/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Both ways to divide a cache first count steps and then distribute the remaining ones; portions are then
 * also placed.
 */
#include "core/mpam_plan.h"

static const struct mpam_division divided = {MPAM_DIVIDED, 0, 0, 0, 0};

static bool is_open(const struct mpam_request *request)
{
    return request->amount != MPAM_AMOUNT_EXACT;
}

/* Whether the request takes part in the division of the remaining steps. */
static bool takes_rest(const struct mpam_request *request)
{
    return request->amount == MPAM_AMOUNT_REST && !request->hypervisor;
}

/* The fewest steps that satisfy a request. */
static uint32_t least_steps(const struct mpam_request *request, uint32_t of, bool round_up)
{
    struct mpam_share share = request->share;
    uint64_t exact;

    if (request->amount == MPAM_AMOUNT_REST) {
        uint32_t own = request->hypervisor ? of / MPAM_HYPERVISOR_PART : 1;
        return own > 0 ? own : 1;
    }
    exact = (uint64_t)share.part * of;
    return (uint32_t)((exact + (round_up ? share.of - 1 : 0)) / share.of);
}

/* Divides `left` steps evenly among the requests for the remaining steps. Steps that are left after the
 * division go to real-time owners first, one each, then to the others, in the order of requests. */
static void distribute(const struct mpam_request *requests, uint32_t count, uint32_t left,
                       struct mpam_grant *grants)
{
    uint32_t takers = 0, odd;

    for (uint32_t i = 0; i < count; i++)
        takers += takes_rest(&requests[i]) ? 1 : 0;
    if (takers == 0)
        return;
    odd = left % takers;
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < count; i++) {
            if (!takes_rest(&requests[i]) || requests[i].realtime != (round == 0))
                continue;
            grants[i].steps += left / takers + (odd > 0 ? 1 : 0);
            odd -= odd > 0 ? 1 : 0;
        }
    }
}

/* Sets the steps of all requests that are not EXACT, out of `left`. */
static struct mpam_division count_steps(uint32_t of, uint32_t left, bool round_up,
                                        const struct mpam_request *requests, uint32_t count,
                                        struct mpam_grant *grants)
{
    struct mpam_division result = divided;
    uint64_t needed = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (!is_open(&requests[i]))
            continue;
        grants[i].steps = least_steps(&requests[i], of, round_up);
        needed += grants[i].steps;
        if (grants[i].steps == 0) {
            result.refusal = MPAM_DIVISION_TOO_SMALL;
            result.request = i;
            return result;
        }
    }
    if (needed > left) {
        result.refusal = MPAM_DIVISION_EXHAUSTED;
        result.needed = (uint32_t)needed;
        result.left = left;
        return result;
    }
    distribute(requests, count, left - (uint32_t)needed, grants);
    return result;
}

static void add(struct mpam_portions *to, const struct mpam_portions *more)
{
    for (uint32_t word = 0; word < MPAM_PORTION_WORDS; word++)
        to->word[word] |= more->word[word];
}

/* Grants the portions that are requested by number, and adds them to `taken`. */
static struct mpam_division take_exact(uint32_t of, const struct mpam_request *requests, uint32_t count,
                                       struct mpam_grant *grants, struct mpam_portions *taken)
{
    struct mpam_division result = divided;

    for (uint32_t i = 0; i < count; i++) {
        if (is_open(&requests[i]))
            continue;
        result.request = i;
        if (!mpam_portions_below(&requests[i].portions, of)) {
            result.refusal = MPAM_DIVISION_RANGE;
        } else if (mpam_portions_count(&requests[i].portions) == 0) {
            result.refusal = MPAM_DIVISION_EMPTY;
        }
        for (uint32_t j = 0; j < i && result.refusal == MPAM_DIVIDED; j++) {
            if (!is_open(&requests[j]) && !(requests[i].shared && requests[j].shared) &&
                mpam_portions_overlap(&requests[i].portions, &requests[j].portions)) {
                result.refusal = MPAM_DIVISION_OVERLAP;
                result.other = j;
            }
        }
        if (result.refusal != MPAM_DIVIDED)
            return result;
        grants[i].portions = requests[i].portions;
        grants[i].steps = mpam_portions_count(&requests[i].portions);
        add(taken, &requests[i].portions);
    }
    return divided;
}

/* As mpam_portions_find(), but for the highest run. */
static bool find_highest(const struct mpam_portions *taken, uint32_t of, uint32_t count, uint32_t *first)
{
    for (*first = of - count + 1; (*first)-- > 0;) {
        struct mpam_portions run = mpam_portions_run(*first, count);
        if (!mpam_portions_overlap(&run, taken))
            return true;
    }
    return false;
}

/* Places one run at the bottom or at the top. If no run is long enough, single portions from the same side
 * are taken. The caller ensures that enough portions are free. */
static struct mpam_portions place(const struct mpam_portions *taken, uint32_t of, uint32_t count, bool top)
{
    struct mpam_portions picked = {0};
    uint32_t first;

    if (top ? find_highest(taken, of, count, &first) : mpam_portions_find(taken, of, count, &first))
        return mpam_portions_run(first, count);
    for (uint32_t i = 0; i < of && count > 0; i++) {
        uint32_t portion = top ? of - 1 - i : i;
        if (!mpam_portions_has(taken, portion)) {
            picked.word[portion / 32] |= UINT32_C(1) << portion % 32;
            count--;
        }
    }
    return picked;
}

struct mpam_division mpam_divide_portions(uint32_t of, const struct mpam_request *requests, uint32_t count,
                                          struct mpam_grant *grants)
{
    struct mpam_portions taken = {0};
    struct mpam_division result = take_exact(of, requests, count, grants, &taken);

    if (result.refusal == MPAM_DIVIDED)
        result = count_steps(of, of - mpam_portions_count(&taken), true, requests, count, grants);
    if (result.refusal != MPAM_DIVIDED)
        return result;
    for (uint32_t i = 0; i < count; i++) {
        if (!is_open(&requests[i]))
            continue;
        grants[i].portions = place(&taken, of, grants[i].steps, requests[i].hypervisor);
        add(&taken, &grants[i].portions);
    }
    return result;
}

struct mpam_division mpam_divide_capacity(uint32_t width, const struct mpam_request *requests, uint32_t count,
                                          struct mpam_grant *grants)
{
    uint32_t whole = UINT32_C(1) << width;

    return count_steps(whole, whole, false, requests, count, grants);
}

uint64_t mpam_guarantees_sum(uint32_t width, const struct mpam_share *shares, uint32_t count)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < count; i++)
        sum += (((uint64_t)shares[i].part << width) + shares[i].of - 1) / shares[i].of;
    return sum;
}
