/* SPDX-License-Identifier: Apache-2.0
 *
 * The hypervisor's memory: frames of its own colors, allocated at boot and never freed. Frame n is the n-th
 * frame of a colored physical range; with the MMU on, it is mapped at POOL_VA + n * 4096, so the mapping is
 * linear although the frames are scattered. This is EL2's only allocator; it is sealed before the first guest
 * runs.
 */
#ifndef BULKHEAD_POOL_H
#define BULKHEAD_POOL_H

#include "core/color.h"
#include <bulkhead_layout.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pool {
    struct color_range range;
    uint64_t frames;
    uint64_t used; /* number of allocated frames: [0, used) */
    char *linear;  /* virtual address of frame 0; NULL while the MMU is off and addresses are physical */
    bool sealed;
};

/* Allocates a zeroed frame. Returns false if the pool is exhausted or sealed. */
bool pool_allocate(struct pool *pool, paddr_t *frame);

/* Allocates zeroed memory in consecutive frames, which are linear in EL2's address space. Returns NULL if the
 * pool is exhausted or sealed. Needs the MMU on. */
void *pool_allocate_bytes(struct pool *pool, uint64_t bytes);

/* Pointer to an address of the pool, valid for the current state of the MMU. */
void *pool_pointer(const struct pool *pool, paddr_t pa);

/* The number of the frame that holds `pointer`, by which the status pages name frames. Needs the MMU on. */
uint32_t pool_frame_number(const struct pool *pool, const void *pointer);

#ifdef __cplusplus
}
#endif

#endif
