/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Instructions that need several regions at once (X4): a multi-register load or store moves up to 64 bytes,
 * which can lie in more than one range. With fewer dynamic slots than ranges it would fault forever. The
 * memory manager calls this check after each change of a component's ranges and refuses a change that fails
 * it; if the change is kept all the same, mxu_regions_refill() detects a live-lock.
 */
#ifndef BULKHEAD_CORE_MXU_CROSSING_H
#define BULKHEAD_CORE_MXU_CROSSING_H

#include "core/mxu_regions.h"

#ifdef __cplusplus
extern "C" {
#endif

/* LDM and STM of 16 registers; VLDM and VSTM of 32 single registers have twice as much. */
#define MXU_LONGEST_ACCESS     64u
#define MXU_LONGEST_ACCESS_FPU 128u

/* The number of dynamic ranges that a policy is certain to have loaded at once after finitely many misses on
 * them. */
uint32_t mxu_crossing_kept(enum mxu_policy policy, uint32_t slots);

/* The largest number of dynamic ranges that one instruction can need: for its own 2 or 4 bytes, if code is
 * dynamic, and for an access of `bytes` at a multiple of 4, which can pass through static ranges in between.
 * 0: all ranges are static. */
uint32_t mxu_crossing_needed(const struct mxu_trie *trie, const struct mxu_regions *regions, uint32_t bytes);

/* Returns MXU_OK if every access can complete, so that live-locks need not be watched for; else MXU_ENOHW. */
enum mxu_status mxu_crossing_check(const struct mxu_trie *trie, struct mxu_regions *regions, uint32_t bytes);

#ifdef __cplusplus
}
#endif

#endif
