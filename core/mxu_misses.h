/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Upper bound of the misses of a job in the dynamic regions, and whether its budget covers them (X8). Called
 * by the memory manager before a component starts, and by the tool in `check`.
 *
 * A job is a sequence of phases. In a phase it accesses at most `ranges` different dynamic ranges, in any
 * order and as often as it likes. With n slots of any initial content, the misses of a phase are at most
 *
 *   | policy              | ranges < n              | ranges = n              | ranges > n |
 *   | round robin         | ranges                  | n                       | no bound   |
 *   | bit-PLRU            | ranges                  | 2n - 2, but 1 for n = 1 | no bound   |
 *   | random              | ranges; from 3 on no bound                        | no bound   |
 *   | any, emptied before | ranges                  | n                       | no bound   |
 *
 * If the number of ranges gives no bound, `changes` does: an instruction that accesses only ranges that the
 * previous one accessed cannot miss, and any other instruction misses at most as often as its own `touch`
 * ranges can. The smaller of both bounds is used. These numbers can be reached: tests/core search all
 * sequences. Round robin is FIFO, for which Reineke, Grund, Berg, Wilhelm: Timing predictability of cache
 * replacement policies (Real-Time Systems 37, 2007) have the same argument; the policies in that paper learn
 * from hits, which an MPU does not report.
 */
#ifndef BULKHEAD_CORE_MXU_MISSES_H
#define BULKHEAD_CORE_MXU_MISSES_H

#include "core/mxu_regions.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MXU_NO_BOUND UINT64_MAX

struct mxu_phase {
    uint32_t ranges; /* different dynamic ranges that the phase accesses, code and data */
    uint32_t touch;  /* the most of these ranges that one instruction needs at once: 1 to `ranges` */
    uint64_t
        changes; /* accesses to another range than the access before, at most; MXU_NO_BOUND if not known */
};

struct mxu_job {
    const struct mxu_phase *phases;
    uint32_t phase_count;
    /* most preemptions by other jobs of the same component; other components have their own regions */
    uint32_t preemptions;
    bool emptied;       /* mxu_regions_flush() is called when the job begins */
    uint64_t wcet_ns;   /* worst-case execution time with all regions loaded */
    uint64_t budget_ns; /* time that the job may use, at most its period */
};

struct mxu_dynamic {
    uint32_t slots;
    enum mxu_policy policy;
    uint64_t refill_ns; /* worst case of a refill, from the fault to the return */
};

struct mxu_misses {
    uint64_t misses;  /* most misses, or MXU_NO_BOUND */
    uint64_t cost_ns; /* time that the misses take */
    uint64_t wcet_ns; /* wcet_ns with the time of the misses */
};

/* The most misses of one phase that is not preempted. `emptied`: the slots are empty when it begins. */
uint64_t mxu_phase_misses(const struct mxu_phase *phase, const struct mxu_dynamic *dynamic, bool emptied);

/* Whether the job's budget covers its misses: MXU_OK if it does, MXU_EBUSY if not, MXU_ENOHW if there is
 * no bound or an instruction needs more slots than there are, MXU_EINVAL. *to is written in the first two
 * cases. */
enum mxu_status mxu_job_admit(const struct mxu_job *job, const struct mxu_dynamic *dynamic,
                              struct mxu_misses *to);

#ifdef __cplusplus
}
#endif

#endif
