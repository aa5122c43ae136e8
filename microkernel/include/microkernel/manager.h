/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages of the memory manager. First word of a request: operation and, shifted, rights, memory type,
 * specification and log2 of the alignment; second word: bytes; third word: address or id. Answer: enum
 * mxu_status, with the lacking resource in its second byte; address, or the amount needed; the amount left.
 */
#ifndef BULKHEAD_MICROKERNEL_MANAGER_H
#define BULKHEAD_MICROKERNEL_MANAGER_H

#include <stdint.h>

enum manager_operation {
    MANAGER_MALLOC,
    MANAGER_MALLOC_AT,
    MANAGER_SHMGET,
    MANAGER_FREE,   /* the allocation that begins at the address; bytes as requested, or 0 */
    MANAGER_ANSWER, /* properties of an allocation: mechanism, independence */
    MANAGER_HEAP,   /* the caller's heap: address, bytes; 0: it has none */
    MANAGER_FIND,   /* the caller's memory with the name whose hash is the second word: address, bytes */
    MANAGER_ENDED,  /* only from the scheduler: a component was killed */
};

#define MANAGER_RIGHTS_SHIFT 4u
#define MANAGER_TYPE_SHIFT   8u
#define MANAGER_SPEC_SHIFT   12u
#define MANAGER_ALIGN_SHIFT  20u
#define MANAGER_LACK_SHIFT   8u
#define MANAGER_FIELD        15u
#define MANAGER_SPEC_FIELD   31u

/* Hash of a name (FNV-1a), because names do not fit in a message. The names of one component have different
 * hashes. */
static inline uint32_t manager_hash(const char *name)
{
    uint32_t hash = 2166136261u;

    while (*name != '\0') {
        hash = (hash ^ (uint8_t)*name++) * 16777619u;
    }
    return hash;
}

#endif
