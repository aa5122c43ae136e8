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

/* A protection domain, as the memory manager has it. */
struct mxu_component {
    struct mxu_trie trie;
    struct mxu_regions regions; /* MPU */
    struct mxu_tlb_share tlb;   /* MMU; no sets: it is not colored */
    uint32_t default_spec;      /* of malloc(), free() and mmap() calls that know none */
    uint32_t allocations;
    bool has_asid;
};

struct mxu_allocation {
    uint32_t first;
    uint32_t bytes; /* 0: the record is free */
    uint32_t spec;
    uint32_t rights;
    uint32_t shared; /* id of rt_shmget(), or MXU_NOT_SHARED */
    uint16_t component;
    uint8_t type; /* enum mxu_memory_type */
    struct mxu_answer answer;
};

struct mxu_memory {
    struct mxu_account *account;
    struct mxu_frames *frames;
    struct mxu_component *components;
    struct mxu_allocation *allocations; /* the caller's, all zero at the start */
    uint32_t component_count;
    uint32_t allocation_count;
    uint32_t most_region_bits; /* regions are at most 2^this bytes; 32: no limit */
    uint32_t longest_access;   /* MXU_LONGEST_ACCESS or MXU_LONGEST_ACCESS_FPU */
    uint32_t entry_sizes;      /* that can be locked */
    struct mxu_tlb main_tlb;
    const struct mxu_table_shape *tables; /* of an MMU */
};

struct mxu_ask {
    uint32_t component;
    uint32_t bytes;
    uint32_t spec;
    uint32_t rights;
    enum mxu_memory_type type;
    uint32_t align; /* a power of two; 0: any */
};

/* rt_malloc(), and rt_malloc_at() where `address` is not null. *number is the allocation's. On refusal
 * *answer says what is lacking. */
enum mxu_status mxu_malloc(struct mxu_memory *memory, const struct mxu_ask *ask, const uint32_t *address,
                           uint32_t *number, struct mxu_answer *answer);

/* rt_shmget(): attaches to what has the id `shared`, if anything has, else allocates it. All must agree on
 * spec, bytes and type, else MXU_EMISMATCH; rights may be fewer than the first one's. A component attaches
 * once: MXU_EEXIST. */
enum mxu_status mxu_shmget(struct mxu_memory *memory, uint32_t shared, const struct mxu_ask *ask,
                           uint32_t *number, struct mxu_answer *answer);

/* rt_free() of what begins at `address` in the component. Shared memory becomes free with its last holder. */
enum mxu_status mxu_free(struct mxu_memory *memory, uint32_t component, uint32_t address);

/* All of a component: it was killed, or ended. */
void mxu_free_all(struct mxu_memory *memory, uint32_t component);

/* Whether no two components have a frame in common, but for shared memory (G5), each frame of a component is
 * a user's, and the account is the sum of what allocations took. For tests and for a check at run time;
 * O(allocations^2). */
bool mxu_memory_is_sound(const struct mxu_memory *memory);

#ifdef __cplusplus
}
#endif

#endif
