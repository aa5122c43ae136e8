/* SPDX-License-Identifier: Apache-2.0
 *
 * The hypervisor's memory: frames of its own colors, handed out once at boot and never returned. Frame n is
 * at the n-th physical place of a colored range and, with the MMU on, at POOL_VA + n * 4096: linear, although
 * scattered. The only allocator of EL2; sealed before the first guest runs.
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
    uint64_t used; /* frames handed out: [0, used) */
    char *linear;  /* virtual address of frame 0; NULL while addresses are physical (MMU off) */
    bool sealed;
};

/* A zeroed frame in `frame`; false when the pool is exhausted or sealed. */
bool pool_allocate(struct pool *pool, paddr_t *frame);

/* Zeroed memory of frames one after the other, where they are linear; NULL as above. With the MMU on. */
void *pool_allocate_bytes(struct pool *pool, uint64_t bytes);

/* Where to reach an address of the pool now. */
void *pool_pointer(const struct pool *pool, paddr_t pa);

#ifdef __cplusplus
}
#endif

#endif
