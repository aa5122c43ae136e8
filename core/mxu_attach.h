/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * An allocation in its component: admission, ranges in the trie, regions of an MPU or the account of an MMU's
 * tables. core/mxu_memory.c alone calls this; frames and the search for a record are its part.
 */
#ifndef BULKHEAD_CORE_MXU_ATTACH_H
#define BULKHEAD_CORE_MXU_ATTACH_H

#include "core/mxu_memory.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether table nodes of an allocation with this specification have to be placed. */
static inline bool mxu_spec_is_placed(uint32_t spec)
{
    return (spec & (MXU_DETERMINISTIC | MXU_L1)) == 0 && (spec & MXU_SPEC_MASK) != 0;
}

/* Whether the component may have [first, first + bytes) by its TLB sets. */
bool mxu_in_own_sets(const struct mxu_memory *memory, uint32_t component, uint32_t spec, uint32_t first,
                     uint32_t bytes);

/* Makes the memory of a record, which is complete but for its answer, accessible. On refusal nothing has
 * changed but record->answer. */
enum mxu_status mxu_attach(struct mxu_memory *memory, uint32_t number);

/* The reverse. */
void mxu_detach(struct mxu_memory *memory, uint32_t number);

#ifdef __cplusplus
}
#endif

#endif
