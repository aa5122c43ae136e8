/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Instructions that need several regions at once (X4): a multi-register load or store moves up to 64 bytes,
 * which can lie in more than one range. With fewer dynamic slots it would fault for ever. The memory manager
 * asks after each change of a component's ranges and refuses the change; mxu_regions_refill() detects what
 * was let through.
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
/* Dynamic ranges of data that a policy surely keeps loaded at once, of `slots`. */
uint32_t mxu_crossing_kept(enum mxu_policy policy, uint32_t slots);

/* The most dynamic ranges that one access of `bytes` at a multiple of 4 can need, with the range of its own
 * instruction: 1 if no two ranges are within reach of each other and code is static. `executable`: some
 * dynamic range is code; an instruction of 4 bytes itself can cross two of them. */
uint32_t mxu_crossing_needed(const struct mxu_trie *trie, const struct mxu_regions *regions, uint32_t bytes);

/* MXU_OK if every access can complete, else MXU_ENOHW. */
enum mxu_status mxu_crossing_check(const struct mxu_trie *trie, const struct mxu_regions *regions,
                                   uint32_t bytes);

#ifdef __cplusplus
}
#endif

#endif
