/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Attaches an allocation to its component: admission, ranges in the trie, regions of an MPU or the account of
 * an MMU's tables. Only core/mxu_memory.c calls this; it manages the frames and searches the records.
 */
#ifndef BULKHEAD_CORE_MXU_ATTACH_H
#define BULKHEAD_CORE_MXU_ATTACH_H

#include "core/mxu_memory.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether the table nodes of an allocation with this specification have to be placed in special memory. */
static inline bool mxu_spec_is_placed(uint32_t spec)
{
    return (spec & (MXU_DETERMINISTIC | MXU_L1)) == 0 && (spec & MXU_SPEC_MASK) != 0;
}

/* Whether the component's TLB sets allow it to have [first, first + bytes). */
bool mxu_in_own_sets(const struct mxu_memory *memory, uint32_t component, uint32_t spec, uint32_t first,
                     uint32_t bytes);

/* Makes the memory of record `number` accessible to its component. The record is complete except for its
 * answer. On refusal only record->answer has changed. */
enum mxu_status mxu_attach(struct mxu_memory *memory, uint32_t number);

/* Undoes mxu_attach(). */
void mxu_detach(struct mxu_memory *memory, uint32_t number);

#ifdef __cplusplus
}
#endif

#endif
