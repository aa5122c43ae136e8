/* SPDX-License-Identifier: Apache-2.0
 *
 * What flows keep of a core: state only. The other headers of flow/ have what works on it.
 */
#ifndef BULKHEAD_FLOW_STATE_H
#define BULKHEAD_FLOW_STATE_H

#include "core/path_costs.h"
#include "memory/window.h"
#include <stdint.h>

struct domain;

/* A page of a guest that a window of the core has open (guest_memory.c). Where a domain's pages are does not
 * change. */
struct open_page {
    const struct domain *domain; /* NULL: none */
    uint64_t page;               /* guest-physical */
    char *pointer;
};

struct flow_core {
    struct path_recorder recorder; /* stamps of packets' paths on this core (path_stamps.h) */
    struct open_page pages[WINDOWS_KEPT];
};

#endif
