/* SPDX-License-Identifier: Apache-2.0
 *
 * Translates addresses of a domain's memory for the devices whose registers EL2 emulates
 * (core/guest_memory.h). Only the broker reads the contents.
 */
#include "core/guest_memory.h"
#include "flow/sockets.h"

bool guest_memory_owns(const struct guest_memory *memory, uint64_t at, uint64_t bytes)
{
    return segment_map_owns(&memory->map, at, bytes);
}

uint64_t guest_memory_run(const struct guest_memory *memory, uint64_t at, uint64_t most, uint64_t *physical)
{
    struct placement place = segment_map_at(&memory->map, at, most);

    *physical = place.pa.value;
    return place.bytes;
}
