/* SPDX-License-Identifier: Apache-2.0
 *
 * Common part of rt.h and mman.h: a request to the memory manager, and its answer.
 */
#ifndef BULKHEAD_MICROKERNEL_LIB_ASK_H
#define BULKHEAD_MICROKERNEL_LIB_ASK_H

#include "core/mxu_mpu.h" /* rights */
#include "microkernel/include/microkernel/manager.h"
#include <stdbool.h>
#include <stddef.h>

struct rt_wish {
    enum manager_operation operation; /* an allocating one */
    unsigned rights;                  /* MXU_READ, … */
    unsigned spec;
    unsigned align_bits;
    uint32_t bytes;
    uint32_t at; /* address or id */
};

/* Null on refusal; rt_error() gives the reason. */
void *rt_allocate(const struct rt_wish *wish);

/* Frees an allocation. 0, or -1 with rt_error(). `bytes`: requested size of the whole allocation; 0: any
 * size. */
int rt_give_back(void *address, uint32_t bytes);

void rt_set_error(enum mxu_status status);

#endif
