/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Allocation with specifications (X1, X2): implements the calls rt_malloc(), rt_malloc_at(), rt_free() and
 * rt_shmget() of a component. The microkernel's memory manager owns one `struct mxu_memory` and serializes
 * the calls. Each call succeeds as a whole or changes nothing.
 */
#ifndef BULKHEAD_CORE_MXU_MEMORY_H
#define BULKHEAD_CORE_MXU_MEMORY_H

#include "core/mxu_admission.h"
#include "core/mxu_frames.h"
#include "core/mxu_mpu.h"
#include "core/mxu_regions.h"
#include "core/mxu_tables.h"
#include "core/mxu_tlb.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MXU_NOT_SHARED 0u

/* A protection domain, as the memory manager sees it. The caller sets up trie and regions, and `tlb.sets`
 * before the first allocation. */
struct mxu_component {
    struct mxu_trie trie;
    struct mxu_regions regions; /* MPU */
    struct mxu_tlb_share tlb;   /* MMU; its pages are those that must stay in the TLB */
    struct mxu_answer
        taken; /* MMU: bytes taken for its table nodes, and its ASID; the mechanism is that of the nodes */
    uint32_t default_spec; /* specification for malloc(), free() and mmap() calls, which state none */
};

/* An allocation of a component; shared memory has one for each component that attached. */
struct mxu_allocation {
    uint32_t first;
    uint32_t bytes; /* bytes of its frames; 0: the record is free */
    uint32_t asked; /* bytes that were requested */
    uint32_t spec;
    uint32_t rights;
    uint32_t shared; /* id of rt_shmget(), or MXU_NOT_SHARED */
    uint32_t component;
    enum mxu_memory_type type;
    struct mxu_answer answer; /* what serves it, and the resources that this allocation took itself */
};

struct mxu_memory {
    struct mxu_account *account;
    struct mxu_frames *frames; /* virtual and physical addresses are the same */
    struct mxu_component *components;
    struct mxu_allocation *allocations; /* the caller's, all zero at the start; at most 2^16 */
    struct mxu_span *spans;             /* MMU: room for as many as there are allocations */
    uint32_t component_count;
    uint32_t allocation_count;
    uint32_t most_region_bits; /* MPU: dynamic regions are at most 2^this bytes; 32: no limit */
    uint32_t longest_access;   /* MPU: MXU_LONGEST_ACCESS or MXU_LONGEST_ACCESS_FPU */
    uint32_t entry_sizes;      /* MMU: sizes of entries that can be locked */
    struct mxu_tlb main_tlb;   /* MMU; 0 sets: the TLB is not colored; else each component has its own sets */
    const struct mxu_table_shape *tables; /* MMU */
};

struct mxu_ask {
    uint32_t component;
    uint32_t bytes;
    uint32_t spec;
    uint32_t rights;
    enum mxu_memory_type type;
    uint32_t align;  /* a power of two; 0: any */
    uint32_t shared; /* id of shared memory, or MXU_NOT_SHARED: private memory */
};

/* rt_malloc(), or rt_malloc_at() if `address` is not null. *number becomes the number of the record. On
 * refusal *answer says what is lacking. The request must not be shared. */
enum mxu_status mxu_malloc(struct mxu_memory *memory, const struct mxu_ask *ask, const uint32_t *address,
                           uint32_t *number, struct mxu_answer *answer);

/* rt_shmget(): attaches to the shared memory with the request's id, or allocates it if there is none. All
 * must agree on spec, bytes and type and may have no more rights than the first one that is attached, else
 * MXU_EMISMATCH. A component attaches once, else MXU_EEXIST. */
enum mxu_status mxu_shmget(struct mxu_memory *memory, const struct mxu_ask *ask, uint32_t *number,
                           struct mxu_answer *answer);

/* rt_free() of the allocation that begins at `address` in the component. Shared memory becomes free with its
 * last holder. */
enum mxu_status mxu_free(struct mxu_memory *memory, uint32_t component, uint32_t address);

/* Frees all allocations of a component that was killed or has ended. */
void mxu_free_all(struct mxu_memory *memory, uint32_t component);

/* Whether no two components have a frame in common except shared memory (G5), the holders of each frame are
 * the allocations that contain it, a component's ranges are its allocations, and the account is the sum of
 * the resources taken (G2). For tests and for a check at run time; takes time in proportion to frames times
 * allocations. */
bool mxu_memory_is_sound(const struct mxu_memory *memory);

#ifdef __cplusplus
}
#endif

#endif
