/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage-2 translation of one domain, from the segments and devices of its manifest entry. Colored memory is
 * mapped in pages, contiguous memory in the largest blocks; at start (premap) or at the first access (lazy).
 * All tables exist before the domain runs, so a fault never allocates. The manifest says where they are
 * (table_memory.h).
 */
#ifndef BULKHEAD_STAGE2_H
#define BULKHEAD_STAGE2_H

#include "core/address.h"
#include "core/manifest.h"
#include "memory/pool.h"

#ifdef __cplusplus
extern "C" {
#endif

struct stage2 {
    const struct manifest_header *manifest;
    const struct manifest_domain *domain;
    struct pool *pool; /* where its tables are, those of marked segments perhaps in the pool beside it */
    paddr_t root;
    uint64_t vttbr;  /* root and VMID as VTTBR_EL2 takes them */
    uint64_t vtcr;   /* VTCR_EL2 */
    uint64_t memory; /* attributes of its memory's leaves */
};

/* Builds the tables, from the pools that the manifest names. `vmid` is unique and not zero. False when one is
 * exhausted. */
bool stage2_create(struct stage2 *stage2, const struct manifest_header *manifest,
                   const struct manifest_domain *domain, uint32_t vmid);

/* Maps device registers for the domain: pages [ipa, ipa + bytes) to those from `pa` on. While it is built;
 * false when the pool is exhausted. */
bool stage2_map_device(const struct stage2 *stage2, uint64_t ipa, paddr_t pa, uint64_t bytes);

/* Maps the frames of another domain's segment, each at `window` + its physical address. While it is built;
 * false when the pool is exhausted. */
bool stage2_map_window(const struct stage2 *stage2, const struct manifest_segment *segment, uint64_t window);

/* Memory that one fault maps: the aligned block around it, as far as the domain has it. */
#define STAGE2_LAZY_BYTES 0x10000u

/* After a translation fault at `ipa`: maps its page, and its neighbours, if it is memory of the domain that
 * is mapped lazily. False if the domain does not own the address. Any core of the domain; two at once do the
 * same. */
bool stage2_map_lazily(const struct stage2 *stage2, ipaddr_t ipa);

/* Whether `ipa` is memory of the domain. */
bool stage2_owns(const struct stage2 *stage2, ipaddr_t ipa);

/* Whether this core has FEAT_S2FWB, which tables need if the manifest's platform says that each core has it:
 * then HCR_EL2.FWB must be set wherever they are used. */
bool stage2_core_can_force(void);

#ifdef __cplusplus
}
#endif

#endif
