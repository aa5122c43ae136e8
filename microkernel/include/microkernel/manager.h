/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages of the memory manager. First word of a request: operation, and by shifts rights, memory type,
 * specification and the power of two to align to; second: bytes; third: address or id. The answer: enum
 * mxu_status with the resource that is lacking in its second byte; the address, or what is needed; what is
 * left.
 */
#ifndef BULKHEAD_MICROKERNEL_MANAGER_H
#define BULKHEAD_MICROKERNEL_MANAGER_H

#include <stdint.h>

enum manager_operation {
    MANAGER_MALLOC,
    MANAGER_MALLOC_AT,
    MANAGER_SHMGET,
    MANAGER_FREE,   /* all of what begins there; bytes as they were asked for, or 0 */
    MANAGER_ANSWER, /* of an allocation: mechanism, independence */
    MANAGER_HEAP,   /* of the caller: where it is, bytes; 0: it has none */
    MANAGER_FIND,   /* of the caller, by the hash of its name as second word: where it is, bytes */
    MANAGER_ENDED,  /* from the scheduler alone: a component was killed */
};

#define MANAGER_RIGHTS_SHIFT 4u
#define MANAGER_TYPE_SHIFT   8u
#define MANAGER_SPEC_SHIFT   12u
#define MANAGER_ALIGN_SHIFT  20u
#define MANAGER_LACK_SHIFT   8u
#define MANAGER_FIELD        15u
#define MANAGER_SPEC_FIELD   31u

/* Of a name (FNV-1a): names do not fit into a message. A component's names have different ones. */
static inline uint32_t manager_hash(const char *name)
{
    uint32_t hash = 2166136261u;

    while (*name != '\0') {
        hash = (hash ^ (uint8_t)*name++) * 16777619u;
    }
    return hash;
}

#endif
