/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Allocation with specifications (X1, X2): what the calls rt_malloc(), rt_malloc_at(), rt_free() and
 * rt_shmget() of a component mean. The microkernel's memory manager owns one `struct mxu_memory` and
 * serializes its calls. Each call succeeds as a whole or changes nothing.
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

/* A protection domain, as the memory manager has it. The caller sets up trie and regions, and `tlb.sets`
 * before the first allocation. */
struct mxu_component {
    struct mxu_trie trie;
    struct mxu_regions regions; /* MPU */
    struct mxu_tlb_share tlb;   /* MMU; pages are those that are to stay in the TLB */
    struct mxu_answer
        taken; /* MMU: bytes for its table nodes, and its ASID; the mechanism is that of the nodes */
    uint32_t default_spec; /* of malloc(), free() and mmap() calls that know none */
};

/* An allocation of a component; several have one shared memory. */
struct mxu_allocation {
    uint32_t first;
    uint32_t bytes; /* of frames; 0: the record is free */
    uint32_t asked; /* bytes */
    uint32_t spec;
    uint32_t rights;
    uint32_t shared; /* id of rt_shmget(), or MXU_NOT_SHARED */
    uint32_t component;
    enum mxu_memory_type type;
    struct mxu_answer answer; /* with what it took itself */
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
    uint32_t entry_sizes;      /* MMU: those that can be locked */
    struct mxu_tlb main_tlb;   /* MMU; no sets: it is not colored. Else all components have own sets */
    const struct mxu_table_shape *tables; /* MMU */
};

struct mxu_ask {
    uint32_t component;
    uint32_t bytes;
    uint32_t spec;
    uint32_t rights;
    enum mxu_memory_type type;
    uint32_t align;  /* a power of two; 0: any */
    uint32_t shared; /* id, or MXU_NOT_SHARED: it is nobody else's */
};

/* rt_malloc(), and rt_malloc_at() where `address` is not null. *number is that of the record. On refusal
 * *answer says what is lacking. The ask is not shared. */
enum mxu_status mxu_malloc(struct mxu_memory *memory, const struct mxu_ask *ask, const uint32_t *address,
                           uint32_t *number, struct mxu_answer *answer);

/* rt_shmget(): attaches to what has the ask's id, if anything has, else allocates it. All must agree on spec,
 * bytes and type, and may have no more rights than the first one that is there, else MXU_EMISMATCH. A
 * component attaches once: else MXU_EEXIST. */
enum mxu_status mxu_shmget(struct mxu_memory *memory, const struct mxu_ask *ask, uint32_t *number,
                           struct mxu_answer *answer);

/* rt_free() of what begins at `address` in the component. Shared memory becomes free with its last holder. */
enum mxu_status mxu_free(struct mxu_memory *memory, uint32_t component, uint32_t address);

/* All of a component: it was killed, or ended. */
void mxu_free_all(struct mxu_memory *memory, uint32_t component);

/* Whether no two components have a frame in common but for shared memory (G5), a frame's holders are those
 * that have it, a component's ranges are its allocations, and the account is the sum of what was taken (G2).
 * For tests, and for a check at run time: frames times allocations. */
bool mxu_memory_is_sound(const struct mxu_memory *memory);

#ifdef __cplusplus
}
#endif

#endif
