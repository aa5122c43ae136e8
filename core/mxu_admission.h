/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Admission of specifications (X2, X4, X5): which hardware keeps a guarantee, whether enough of it is left,
 * and the account of what is taken. Called by the memory manager for each allocation, by the tool in `check`
 * and by the hypervisor's planner for stage-2 tables, so that all give the same answer (G4).
 *
 * The rules are in docs/design/mxu.md. Resources stay taken until mxu_release(), so that a guarantee once
 * given is kept (G2).
 */
#ifndef BULKHEAD_CORE_MXU_ADMISSION_H
#define BULKHEAD_CORE_MXU_ADMISSION_H

#include "core/mxu.h"

#ifdef __cplusplus
extern "C" {
#endif

enum mxu_checker {
    MXU_MPU,
    MXU_MMU,
};

/* The resources of a system for the checks of all components together. */
struct mxu_hardware {
    enum mxu_checker checker;
    uint32_t limit[MXU_RESOURCES]; /* MXU_REGIONS: all regions of the MPU */
    uint32_t system_regions;
    /* The cache level whose speed reads of a node in this memory have, 1 to 3; 0: there is no such memory. */
    uint8_t ocm_level;
    uint8_t way_level;
    uint8_t color_level;
};

struct mxu_account {
    const struct mxu_hardware *hardware;
    uint32_t used[MXU_RESOURCES]; /* MXU_REGIONS is not counted here: each component has its own */
};

/* What an allocation would need, for each mechanism that could serve it. */
struct mxu_request {
    uint32_t spec;
    uint32_t regions;        /* static regions that cover it */
    uint32_t regions_used;   /* static regions that its component already has */
    uint32_t locked_entries; /* locked entries that map it; 0: cannot be mapped by locked entries */
    uint32_t node_bytes;     /* bytes of table nodes on its walks that nothing has taken yet */
    uint32_t ocm_node_bytes; /* bytes of nodes if they are in OCM, where that differs; 0: node_bytes */
    /* TLB sets that its component would have to be given; 0 if it already has its own */
    uint32_t tlb_sets;
    bool has_tlb_sets; /* its address lies in such sets, with no more pages in a set than there are ways */
    bool has_asid;     /* its component already has an ASID */
};

struct mxu_answer {
    enum mxu_mechanism mechanism;
    enum mxu_independence independence;
    uint32_t taken[MXU_RESOURCES];
    /* If refused: the resource that is lacking. */
    enum mxu_resource lacking;
    uint32_t needed;
    uint32_t left;
};

/* Decides, and takes the resources from the account. Returns MXU_OK, MXU_ENOHW, MXU_EBUSY or MXU_EINVAL;
 * *answer has the details in any case. */
enum mxu_status mxu_admit(struct mxu_account *account, const struct mxu_request *request,
                          struct mxu_answer *answer);

/* Writes to *answer which resource is lacking, in units of the resource; returns `status`. */
enum mxu_status mxu_refuse(struct mxu_answer *answer, enum mxu_status status, enum mxu_resource resource,
                           uint32_t needed, uint32_t left);

/* Gives back what an allocation took. */
void mxu_release(struct mxu_account *account, const struct mxu_answer *answer);

/* The amount of a resource that is free. MXU_REGIONS: the regions that a component without static regions
 * could have. */
uint32_t mxu_left(const struct mxu_account *account, enum mxu_resource resource);

#ifdef __cplusplus
}
#endif

#endif
