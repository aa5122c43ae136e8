/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Hash table with open addressing and linear probing; single entries are never removed.
 */
#include "core/flow_directory.h"

#include <stdbool.h>
#include <string.h>

#define HASH_FACTOR 0x9E3779B97F4A7C15ull /* 2^64 divided by the golden ratio (Knuth, volume 3, 6.4) */
#define HASH_SHIFT  56u

_Static_assert(FLOW_DIRECTORY_PLACES == 1u << (64 - HASH_SHIFT),
               "the highest bits of the hash select the place");

static uint32_t place_of(const struct flow_address *address)
{
    uint64_t key = address->source_cid ^ address->destination_cid << 20 ^ (uint64_t)address->port << 32;

    return (uint32_t)(key * HASH_FACTOR >> HASH_SHIFT);
}

static bool is_same(const struct flow_address *a, const struct flow_address *b)
{
    return a->source_cid == b->source_cid && a->destination_cid == b->destination_cid && a->port == b->port;
}

/* The place that holds the address, or the free place where it has to be entered. */
static uint32_t search(const struct flow_directory *directory, const struct flow_address *address)
{
    uint32_t place = place_of(address);

    while (directory->places[place].number != 0 && !is_same(&directory->places[place].address, address)) {
        place = (place + 1) % FLOW_DIRECTORY_PLACES;
    }
    return place;
}

void flow_directory_clear(struct flow_directory *directory)
{
    memset(directory, 0, sizeof(*directory));
}

void flow_directory_add(struct flow_directory *directory, const struct flow_address *address, uint32_t number)
{
    struct flow_directory_place *place = &directory->places[search(directory, address)];

    if (place->number == 0) {
        place->address = *address;
        place->number = number + 1;
    }
}

uint32_t flow_directory_find(const struct flow_directory *directory, const struct flow_address *address)
{
    return directory->places[search(directory, address)].number -
           1; /* FLOW_DIRECTORY_NONE for a free place */
}
