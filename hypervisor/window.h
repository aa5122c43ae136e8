/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows: pages of EL2's address space, a few per core, through which a core reaches physical memory that is
 * not the hypervisor's, for as long as it must: to load a domain's images again, and to look at the queues
 * of its socket device.
 */
#ifndef BULKHEAD_WINDOW_H
#define BULKHEAD_WINDOW_H

#include "core/address.h"
#include "pool.h"
#include <stdint.h>

#define WINDOWS_KEPT 8u

enum window {
    WINDOW_SOURCE,      /* read past the caches: leaves no lines in anybody's colors */
    WINDOW_DESTINATION, /* cached, as the domain itself sees it */
    WINDOW_KEPT,        /* the first of WINDOWS_KEPT, for guest_memory.c: cached, and left open */
    WINDOW_COUNT = WINDOW_KEPT + WINDOWS_KEPT,
};

/* Prepares the tables at boot. False when the pool is exhausted. */
bool window_prepare(struct pool *pool, paddr_t root);

/* Maps the page at `page` into a window of this core. The pointer is valid until the window is opened again
 * or closed. */
void *window_open(enum window window, paddr_t page);
void window_close(enum window window);

#endif
