/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Bounds of misses. A preemption by the same component splits a phase in two, each of which begins with
 * unknown contents of the slots. A sum that does not fit in 64 bits counts as unbounded.
 */
#include "core/mxu_misses.h"
#include "core/mxu_crossing.h"

#define HALF_BITS 32u
#define LOW_HALF  UINT32_MAX

static uint64_t plus(uint64_t a, uint64_t b)
{
    return a > MXU_NO_BOUND - b ? MXU_NO_BOUND : a + b;
}

/* Multiplies in 32-bit halves: 32-bit systems cannot divide 64-bit numbers without a library. */
static uint64_t times(uint64_t a, uint64_t b)
{
    uint64_t high_a = a >> HALF_BITS;
    uint64_t high_b = b >> HALF_BITS;
    uint64_t middle = high_a * (b & LOW_HALF) + high_b * (a & LOW_HALF);

    if ((high_a != 0 && high_b != 0) || middle > LOW_HALF) {
        return MXU_NO_BOUND;
    }
    return plus(middle << HALF_BITS, (a & LOW_HALF) * (b & LOW_HALF));
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Bound for any number of accesses to `ranges` different ranges. */
static uint64_t by_ranges(uint32_t ranges, const struct mxu_dynamic *dynamic, bool emptied)
{
    uint32_t slots = dynamic->slots;

    if (ranges > slots) {
        return MXU_NO_BOUND;
    }
    if (emptied || ranges <= 1 || dynamic->policy == MXU_ROUND_ROBIN) {
        return ranges;
    }
    if (dynamic->policy == MXU_BIT_PLRU) {
        return ranges < slots ? ranges : 2u * (slots - 1u);
    }
    return ranges <= 2 ? ranges : MXU_NO_BOUND;
}

/* Bound for one instruction that is not interrupted. */
static uint64_t by_instruction(const struct mxu_phase *phase, const struct mxu_dynamic *dynamic)
{
    return by_ranges(phase->touch, dynamic, false);
}

static uint64_t by_changes(const struct mxu_phase *phase, const struct mxu_dynamic *dynamic)
{
    /* The first instruction counts in addition to the changes. */
    return phase->ranges == 0 ? 0 : times(plus(phase->changes, 1), by_instruction(phase, dynamic));
}

uint64_t mxu_phase_misses(const struct mxu_phase *phase, const struct mxu_dynamic *dynamic, bool emptied)
{
    return smaller(by_ranges(phase->ranges, dynamic, emptied), by_changes(phase, dynamic));
}

/* Bound for the misses of a phase. Each preemption in the phase adds *more misses. Of the two bounds, the
 * smaller one is used, assuming that all preemptions hit this phase. */
static uint64_t interrupted(const struct mxu_phase *phase, const struct mxu_dynamic *dynamic, bool emptied,
                            uint32_t preemptions, uint64_t *more)
{
    uint64_t ranges = by_ranges(phase->ranges, dynamic, emptied);
    uint64_t again = by_ranges(phase->ranges, dynamic, false);
    uint64_t changes = by_changes(phase, dynamic);
    uint64_t instruction = by_instruction(phase, dynamic);

    if (preemptions == 0) {
        *more = 0;
        return smaller(ranges, changes);
    }
    if (plus(ranges, times(preemptions, again)) <= plus(changes, times(preemptions, instruction))) {
        *more = again;
        return ranges;
    }
    *more = instruction;
    return changes;
}

static bool is_sound(const struct mxu_job *job)
{
    for (uint32_t i = 0; i < job->phase_count; i++) {
        const struct mxu_phase *phase = &job->phases[i];

        if (phase->touch > phase->ranges || (phase->touch == 0 && phase->ranges > 0)) {
            return false;
        }
    }
    return true;
}

enum mxu_status mxu_job_admit(const struct mxu_job *job, const struct mxu_dynamic *dynamic,
                              struct mxu_misses *to)
{
    uint64_t misses = 0;
    uint64_t most_more = 0;

    if (!is_sound(job) || dynamic->slots == 0) {
        return MXU_EINVAL;
    }
    for (uint32_t i = 0; i < job->phase_count; i++) {
        uint64_t more;

        if (job->phases[i].touch > mxu_crossing_kept(dynamic->policy, dynamic->slots)) {
            return MXU_ENOHW;
        }
        misses = plus(misses,
                      interrupted(&job->phases[i], dynamic, job->emptied && i == 0, job->preemptions, &more));
        most_more = more > most_more ? more : most_more;
    }
    misses = plus(misses, times(job->preemptions, most_more));
    if (misses == MXU_NO_BOUND) {
        return MXU_ENOHW;
    }
    *to = (struct mxu_misses){
        .misses = misses,
        .cost_ns = times(misses, dynamic->refill_ns),
        .wcet_ns = plus(job->wcet_ns, times(misses, dynamic->refill_ns)),
    };
    return to->wcet_ns <= job->budget_ns && to->wcet_ns != MXU_NO_BOUND ? MXU_OK : MXU_EBUSY;
}
