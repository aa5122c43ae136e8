/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Translation tables as tries of a fixed shape (X3, X5): which table nodes a set of ranges needs, and thus
 * how many bytes have to be placed in OCM, locked ways or colored memory. Called by the memory manager of a
 * Cortex-A9, by the hypervisor's planner and by the tool; each system builds its tables itself. Pure
 * functions.
 */
#ifndef BULKHEAD_CORE_MXU_TABLES_H
#define BULKHEAD_CORE_MXU_TABLES_H

#include "core/mxu.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MXU_TABLE_MOST_LEVELS 4u

struct mxu_table_level {
    uint8_t shift;       /* an entry's span is 2^shift bytes */
    uint8_t index_bits;  /* a node has 2^index_bits entries */
    uint8_t entry_bytes; /* 4 or 8 */
    uint8_t blocks;      /* 1: an entry can map its whole span, so that it needs no node below */
};

struct mxu_table_shape {
    struct mxu_table_level level[MXU_TABLE_MOST_LEVELS]; /* from the root down */
    uint32_t levels;
};

/* Armv7-A short descriptors: 4096 sections, then 256 pages (DDI 0406C, B3.5). */
extern const struct mxu_table_shape mxu_armv7a_tables;

/* AArch64 tables with granules of 4 KiB, from `first_level` (1 or 2) down to pages; the root is indexed by
 * `root_bits` bits (9 to 13; in stage 2 up to 16 tables side by side). `blocks`: entries of 2 MiB and 1 GiB
 * are used. */
struct mxu_table_shape mxu_aarch64_tables(uint32_t first_level, uint32_t root_bits, bool blocks);

/* Addresses [first, last] that are mapped with one set of attributes. Their targets are contiguous, and
 * aligned alike, in entries of up to 2^most_shift bytes; 0: in entries of any size. */
struct mxu_span {
    uint64_t first;
    uint64_t last;
    uint32_t most_shift;
    uint32_t reserved;
};

struct mxu_table_need {
    uint32_t nodes[MXU_TABLE_MOST_LEVELS];
    uint64_t bytes; /* of all of them */
};

/* The nodes that `count` spans need. The spans must be ascending, disjoint, of whole pages, and within reach
 * of the root; returns false if they are not. */
bool mxu_tables_needed(const struct mxu_table_shape *shape, const struct mxu_span *spans, uint32_t count,
                       struct mxu_table_need *need);

/* Number of table nodes that a walk reads. */
static inline uint32_t mxu_table_walk(const struct mxu_table_shape *shape)
{
    return shape->levels;
}

#ifdef __cplusplus
}
#endif

#endif
