// SPDX-License-Identifier: Apache-2.0
//
// Memory of the domains with a socket, as the exchange reaches it (core/guest_memory.h).
#ifndef BULKHEAD_GUESTS_BROKER_MEMORY_H
#define BULKHEAD_GUESTS_BROKER_MEMORY_H

#include "core/broker_door.h"

struct guest_memory;

// That of a domain, which the map describes.
struct guest_memory *memory_of(const struct broker_map *map, uint32_t domain);

// Pages of the broker, as if they were a domain's from that guest-physical address on: 16 at most. What a
// domain of that number has had is forgotten.
struct guest_memory *memory_of_own(uint32_t domain, uint64_t address, char *pages, uint32_t count);

#endif
