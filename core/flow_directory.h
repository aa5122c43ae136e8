/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Finds the flow of a packet: a hash table from source, destination and server port to the flow's number, so
 * that the cost for a packet does not depend on the number of flows.
 */
#ifndef BULKHEAD_CORE_FLOW_DIRECTORY_H
#define BULKHEAD_CORE_FLOW_DIRECTORY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FLOW_DIRECTORY_PLACES 256u /* four times the number of flows, so that a search needs few probes */
#define FLOW_DIRECTORY_NONE   UINT32_MAX

struct flow_address {
    uint64_t source_cid;
    uint64_t destination_cid;
    uint32_t port; /* port of the server at the destination */
};

struct flow_directory {
    struct flow_directory_place {
        struct flow_address address;
        uint32_t number; /* the flow's number + 1; 0: the place is free */
    } places[FLOW_DIRECTORY_PLACES];
};

/* Removes all entries. */
void flow_directory_clear(struct flow_directory *directory);

/* Adds an entry; at most a quarter of the places may be used. If the address is already present, it keeps the
 * number that was added first. */
void flow_directory_add(struct flow_directory *directory, const struct flow_address *address,
                        uint32_t number);

/* The flow's number, or FLOW_DIRECTORY_NONE. */
uint32_t flow_directory_find(const struct flow_directory *directory, const struct flow_address *address);

#ifdef __cplusplus
}
#endif

#endif
