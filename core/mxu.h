/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Memory access control with temporal specifications (MxU): which guarantees an allocation may request of the
 * hardware that checks each access, which mechanism provides them, and the errors (X1, X2). Used by
 * everything whose name begins with mxu_; docs/design/mxu.md is the design.
 */
#ifndef BULKHEAD_CORE_MXU_H
#define BULKHEAD_CORE_MXU_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Specifications: flags of an allocation. No flag: best effort. All flags that are given must hold
 * together. */
#define MXU_DETERMINISTIC                                                                                    \
    1u                     /* the check uses only hardware in the pipeline: MPU region, locked TLB entry     \
                            */
#define MXU_L1          2u /* the check never accesses memory beyond this level of cache */
#define MXU_L2          4u
#define MXU_L3          8u
#define MXU_INDEPENDENT 16u /* no other protection domain can disturb the check */
#define MXU_SPEC_MASK   31u
#define MXU_LEVELS      (MXU_L1 | MXU_L2 | MXU_L3)

enum mxu_status {
    MXU_OK,
    MXU_ENOHW,     /* this hardware can never keep the guarantee */
    MXU_EBUSY,     /* the hardware could keep it, but the resource is used up */
    MXU_ENOMEM,    /* no memory left, for the user, or for nodes and records */
    MXU_EINVAL,    /* invalid request: unknown flags, no bytes, not aligned, or beyond the address space */
    MXU_EEXIST,    /* a part of the range is already allocated */
    MXU_EMISMATCH, /* shared memory: specification, size or rights differ from those of earlier attachments */
    MXU_ENOENT,    /* nothing is allocated there */
};

/* The mechanism that serves the checks of an allocation. */
enum mxu_mechanism {
    MXU_BY_NOTHING, /* best effort: a table in plain memory, or a region that is loaded on a miss */
    MXU_BY_STATIC_REGION,
    MXU_BY_DYNAMIC_REGION, /* bounded: at most one refill */
    MXU_BY_LOCKED_ENTRY,
    MXU_BY_OCM,
    MXU_BY_LOCKED_WAY,
    MXU_BY_COLOR, /* table nodes in memory with cache sets that nobody else uses */
};

/* Whether other domains can disturb the check. */
enum mxu_independence {
    MXU_DISTURBED, /* they can: independence was not requested */
    MXU_IN_PART,   /* entries are separated by ASID, but other domains can evict them */
    MXU_FULLY,
};

/* Resources that can be used up. */
enum mxu_resource {
    MXU_REGIONS,        /* regions of an MPU, in one component */
    MXU_LOCKED_ENTRIES, /* lockable entries of the TLB */
    MXU_OCM_BYTES,
    MXU_WAY_BYTES,     /* bytes in locked cache ways */
    MXU_COLORED_BYTES, /* bytes in cache sets of a color that nobody else has */
    MXU_ASIDS,
    MXU_TLB_SETS,
    MXU_RESOURCES,
    MXU_NODES = MXU_RESOURCES, /* nodes of tries; not counted by the account */
    MXU_RECORDS,
    MXU_FRAMES,
    MXU_NO_RESOURCE,
};

/* Memory that holds a node of a trie or of a table, from the weakest guarantee to the strongest. */
enum mxu_placement {
    MXU_PLACE_PLAIN,
    MXU_PLACE_COLORED,
    MXU_PLACE_WAY,
    MXU_PLACE_OCM,    /* on an MPU: SRAM close to the core */
    MXU_PLACE_LOCKED, /* the pages of the nodes themselves are mapped by a locked entry */
    MXU_PLACEMENTS,
};

/* Names for messages: those of the enumerations above without the prefix, in lower case, such as "locked
 * entries". */
const char *mxu_status_name(enum mxu_status status);
const char *mxu_mechanism_name(enum mxu_mechanism mechanism);
const char *mxu_resource_name(enum mxu_resource resource);
const char *mxu_placement_name(enum mxu_placement placement);

#ifdef __cplusplus
}
#endif

#endif
