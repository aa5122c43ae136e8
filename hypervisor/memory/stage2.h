/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage-2 translation of one domain, built from the segments and devices of its manifest entry. Colored
 * memory is mapped in pages, contiguous memory in the largest possible blocks; either at the start (premap)
 * or, for colored memory, at the first access (lazy). All tables exist before the domain runs, so that a
 * fault never allocates. The manifest says in which memory the tables are (table_memory.h).
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
    /* where its tables are; tables of marked segments may be in another pool (table_memory.h) */
    struct pool *pool;
    paddr_t root;
    uint64_t vttbr;  /* value of VTTBR_EL2: root and VMID */
    uint64_t vtcr;   /* value of VTCR_EL2 */
    uint64_t memory; /* leaf attributes of its memory */
};

/* Builds the tables in the pools that the manifest names. `vmid` is unique and not 0. Returns false if a pool
 * is exhausted. */
bool stage2_create(struct stage2 *stage2, const struct manifest_header *manifest,
                   const struct manifest_domain *domain, uint32_t vmid);

/* Maps device registers for the domain: pages [ipa, ipa + bytes) to `pa` and the following pages. Called
 * while the tables are built. Returns false if the pool is exhausted. */
bool stage2_map_device(const struct stage2 *stage2, uint64_t ipa, paddr_t pa, uint64_t bytes);

/* Maps the frames of another domain's segment, each at `window` + its physical address. Called while the
 * tables are built. Returns false if the pool is exhausted. */
bool stage2_map_window(const struct stage2 *stage2, const struct manifest_segment *segment, uint64_t window);

/* Memory that one fault maps: the aligned block around the address, as far as it lies in the segment. */
#define STAGE2_LAZY_BYTES 0x10000u

/* Handles a translation fault at `ipa`: if it is memory of the domain that is mapped lazily, maps its page
 * and the neighbouring ones. Returns false if it is not. May be called on any core of the domain; two cores
 * at once write the same entries. */
bool stage2_map_lazily(const struct stage2 *stage2, ipaddr_t ipa);

/* True if `ipa` is memory of the domain. */
bool stage2_owns(const struct stage2 *stage2, ipaddr_t ipa);

/* True if this core has FEAT_S2FWB. If the manifest's platform says that each core has it, the tables depend
 * on it: HCR_EL2.FWB must then be set wherever they are used. */
bool stage2_core_can_force(void);

#ifdef __cplusplus
}
#endif

#endif
