// SPDX-License-Identifier: Apache-2.0
//
// Memory of the domains with a socket, as the exchange reaches it (core/guest_memory.h).
#ifndef BULKHEAD_GUESTS_BROKER_MEMORY_H
#define BULKHEAD_GUESTS_BROKER_MEMORY_H

#include "core/broker_door.h"

struct guest_memory;

// Memory of a domain, as the map describes it.
struct guest_memory *memory_of(const struct broker_map *map, uint32_t domain);

// Up to 16 pages of the broker, used as if they were a domain's from that guest-physical address on. Cached
// pages of the domain with that number are dropped.
struct guest_memory *memory_of_own(uint32_t domain, uint64_t address, char *pages, uint32_t count);

#endif
