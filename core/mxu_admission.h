/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Admission of specifications (X2, X4, X5): which hardware keeps a promise, whether enough of it is left, and
 * the account of what is taken. Called by the memory manager for each allocation, by the tool in `check` and
 * by the hypervisor's planner for stage-2 tables: one answer everywhere (G4).
 *
 * The rules are in docs/mxu.md. What is taken stays taken until mxu_release(), so what was promised is kept
 * (G2).
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

/* What a system has for the checks of all components together. */
struct mxu_hardware {
    enum mxu_checker checker;
    uint32_t limit[MXU_RESOURCES]; /* MXU_REGIONS: all of the MPU */
    uint32_t system_regions;
    /* Level of cache at whose speed a node in it is read, 1 to 3; 0: there is none. */
    uint8_t ocm_level;
    uint8_t way_level;
    uint8_t color_level;
};

struct mxu_account {
    const struct mxu_hardware *hardware;
    uint32_t used[MXU_RESOURCES]; /* not MXU_REGIONS, which each component has for itself */
};

/* What an allocation would take, by each way of serving it. */
struct mxu_request {
    uint32_t spec;
    uint32_t regions;        /* that cover it as static ones */
    uint32_t regions_used;   /* static regions that its component has */
    uint32_t locked_entries; /* that map it; 0: none can */
    uint32_t node_bytes;     /* of table nodes on its walks that nothing has taken yet */
    uint32_t ocm_node_bytes; /* the same in OCM, if that takes others, too; 0: node_bytes */
    uint32_t tlb_sets;       /* that its component would have to be given; 0 if they are its own already */
    bool has_tlb_sets; /* its place lies in such sets, with no more pages in a set than there are ways */
    bool has_asid;     /* its component has one already */
};

struct mxu_answer {
    enum mxu_mechanism mechanism;
    enum mxu_independence independence;
    uint32_t taken[MXU_RESOURCES];
    /* Of a refusal: what is lacking. */
    enum mxu_resource lacking;
    uint32_t needed;
    uint32_t left;
};

/* Decides and takes. MXU_OK, MXU_ENOHW, MXU_EBUSY, MXU_EINVAL; *answer says more in any case. */
enum mxu_status mxu_admit(struct mxu_account *account, const struct mxu_request *request,
                          struct mxu_answer *answer);

/* Enters in *answer what is lacking, in units of the resource; returns `status`. */
enum mxu_status mxu_refuse(struct mxu_answer *answer, enum mxu_status status, enum mxu_resource resource,
                           uint32_t needed, uint32_t left);

/* Gives back what an allocation took. */
void mxu_release(struct mxu_account *account, const struct mxu_answer *answer);

/* What nobody has taken. Of MXU_REGIONS: those that a component without static regions could have. */
uint32_t mxu_left(const struct mxu_account *account, enum mxu_resource resource);

#ifdef __cplusplus
}
#endif

#endif
