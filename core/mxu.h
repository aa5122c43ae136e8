/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Memory access control with temporal specifications (MxU): what an allocation may ask of the hardware that
 * checks each access, what serves it, and the errors (X1, X2). Used by everything whose name begins with
 * mxu_; docs/mxu.md is the design.
 */
#ifndef BULKHEAD_CORE_MXU_H
#define BULKHEAD_CORE_MXU_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Specifications: flags of an allocation. None: best effort. Those that are given hold together. */
#define MXU_DETERMINISTIC                                                                                    \
    1u                     /* the check uses only hardware in the pipeline: MPU region, locked TLB entry     \
                            */
#define MXU_L1          2u /* the check never goes past this level of cache ... */
#define MXU_L2          4u
#define MXU_L3          8u
#define MXU_INDEPENDENT 16u /* no other protection domain can disturb the check */
#define MXU_SPEC_MASK   31u
#define MXU_LEVELS      (MXU_L1 | MXU_L2 | MXU_L3)

enum mxu_status {
    MXU_OK,
    MXU_ENOHW,     /* this hardware can never keep the promise */
    MXU_EBUSY,     /* it could, but what it takes is used up */
    MXU_ENOMEM,    /* no memory: of the user's kind, or for nodes and records */
    MXU_EINVAL,    /* no sound request: unknown flags, no bytes, not aligned, beyond the address space */
    MXU_EEXIST,    /* a part of the range is allocated */
    MXU_EMISMATCH, /* shared memory: another specification, size or rights than those that attached before */
    MXU_ENOENT,    /* nothing is allocated there */
};

/* What answers the checks of an allocation. */
enum mxu_mechanism {
    MXU_BY_NOTHING, /* best effort: a table in plain memory, or a region that is loaded on a miss */
    MXU_BY_STATIC_REGION,
    MXU_BY_DYNAMIC_REGION, /* bounded: one refill */
    MXU_BY_LOCKED_ENTRY,
    MXU_BY_OCM,
    MXU_BY_LOCKED_WAY,
    MXU_BY_COLOR, /* table nodes in memory whose cache sets nobody else has */
};

/* Whether other domains can disturb the check. */
enum mxu_independence {
    MXU_DISTURBED, /* they can: nothing was asked for */
    MXU_IN_PART,   /* entries are told apart by ASID, but pushed out by capacity */
    MXU_FULLY,
};

/* What can be used up. */
enum mxu_resource {
    MXU_REGIONS,        /* of an MPU, in one component */
    MXU_LOCKED_ENTRIES, /* of the TLB */
    MXU_OCM_BYTES,
    MXU_WAY_BYTES,     /* in locked ways */
    MXU_COLORED_BYTES, /* in a cache's sets of a color that nobody else has */
    MXU_ASIDS,
    MXU_TLB_SETS,
    MXU_RESOURCES,
    MXU_NODES = MXU_RESOURCES, /* of tries; not counted by the account */
    MXU_RECORDS,
    MXU_FRAMES,
    MXU_NO_RESOURCE,
};

/* Where a node of a trie or of a table is. From the weakest to the strongest. */
enum mxu_placement {
    MXU_PLACE_PLAIN,
    MXU_PLACE_COLORED,
    MXU_PLACE_WAY,
    MXU_PLACE_OCM,    /* on an MPU: SRAM in the core's reach */
    MXU_PLACE_LOCKED, /* the pages of the nodes themselves have a locked entry */
    MXU_PLACEMENTS,
};

/* Names for messages, as in the list above without the prefix, in small letters: "locked entries". */
const char *mxu_status_name(enum mxu_status status);
const char *mxu_mechanism_name(enum mxu_mechanism mechanism);
const char *mxu_resource_name(enum mxu_resource resource);
const char *mxu_placement_name(enum mxu_placement placement);

#ifdef __cplusplus
}
#endif

#endif
