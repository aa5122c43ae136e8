/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Which flow a packet goes along: a table from source, destination and the server's port to the flow's
 * number, so that a packet costs the same however many flows there are.
 */
#ifndef BULKHEAD_CORE_FLOW_DIRECTORY_H
#define BULKHEAD_CORE_FLOW_DIRECTORY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FLOW_DIRECTORY_PLACES 256u /* four times as many as there are flows: looked for in few places */
#define FLOW_DIRECTORY_NONE   UINT32_MAX

struct flow_address {
    uint64_t source_cid;
    uint64_t destination_cid;
    uint32_t port; /* of the server, at the destination */
};

struct flow_directory {
    struct flow_directory_place {
        struct flow_address address;
        uint32_t number; /* one more than it; 0: the place is free */
    } places[FLOW_DIRECTORY_PLACES];
};

/* Empty. */
void flow_directory_clear(struct flow_directory *directory);

/* At most a quarter as many as there are places; an address that is there already leads to the number that
 * was added first. */
void flow_directory_add(struct flow_directory *directory, const struct flow_address *address,
                        uint32_t number);

/* The flow's number, or FLOW_DIRECTORY_NONE. */
uint32_t flow_directory_find(const struct flow_directory *directory, const struct flow_address *address);

#ifdef __cplusplus
}
#endif

#endif
