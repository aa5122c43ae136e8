/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Checks the invariants of core/mxu_memory.h on the present state, independently of the operations that
 * produced it.
 */
#include "core/mxu_memory.h"

static uint64_t end_of(const struct mxu_allocation *allocation)
{
    return (uint64_t)allocation->first + allocation->bytes;
}

/* Two allocations are disjoint, or the same shared memory in two components. */
static bool are_compatible(const struct mxu_allocation *a, const struct mxu_allocation *b)
{
    if (a->bytes == 0 || b->bytes == 0 || end_of(a) <= b->first || end_of(b) <= a->first) {
        return true;
    }
    return a->component != b->component && a->shared != MXU_NOT_SHARED && a->shared == b->shared &&
           a->first == b->first && a->bytes == b->bytes && a->spec == b->spec && a->type == b->type;
}

/* The holder count of each user frame is the number of allocations that include it; all other frames have no
 * holder. */
static bool frames_are_sound(const struct mxu_memory *memory)
{
    const struct mxu_frames *frames = memory->frames;

    for (uint32_t i = 0; i < frames->count; i++) {
        uint64_t at = frames->first + ((uint64_t)i << frames->frame_bits);
        uint32_t holders = 0;

        for (uint32_t a = 0; a < memory->allocation_count; a++) {
            const struct mxu_allocation *allocation = &memory->allocations[a];

            holders += allocation->first <= at && at < end_of(allocation);
        }
        if (frames->frame[i].kind == MXU_FRAME_USER ? frames->frame[i].holders != holders : holders != 0) {
            return false;
        }
    }
    return true;
}

/* The ranges of a component lie in its allocations, and have the same total size. */
static bool ranges_are_sound(const struct mxu_memory *memory, uint32_t component)
{
    const struct mxu_trie *trie = &memory->components[component].trie;
    uint64_t bytes = 0;
    uint64_t allocated = 0;

    for (int16_t i = trie->first; i != MXU_NONE; i = trie->ranges[i].next) {
        const struct mxu_range *range = &trie->ranges[i];
        const struct mxu_allocation *allocation = &memory->allocations[range->allocation];

        if (allocation->component != component || range->first < allocation->first ||
            range->last >= end_of(allocation)) {
            return false;
        }
        bytes += (uint64_t)range->last - range->first + 1u;
    }
    for (uint32_t i = 0; i < memory->allocation_count; i++) {
        allocated += memory->allocations[i].component == component ? memory->allocations[i].bytes : 0;
    }
    return bytes == allocated;
}

static bool account_is_sound(const struct mxu_memory *memory)
{
    const struct mxu_account *account = memory->account;

    for (uint32_t resource = 0; resource < MXU_RESOURCES; resource++) {
        uint64_t taken = 0;

        if (resource == MXU_REGIONS) {
            continue; /* ranges of different components may overlap */
        }
        for (uint32_t i = 0; i < memory->allocation_count; i++) {
            taken += memory->allocations[i].answer.taken[resource];
        }
        for (uint32_t i = 0; i < memory->component_count; i++) {
            taken += memory->components[i].taken.taken[resource];
        }
        if (account->used[resource] != taken || taken > account->hardware->limit[resource]) {
            return false;
        }
    }
    return true;
}

bool mxu_memory_is_sound(const struct mxu_memory *memory)
{
    for (uint32_t i = 0; i < memory->allocation_count; i++) {
        for (uint32_t other = 0; other < i; other++) {
            if (!are_compatible(&memory->allocations[i], &memory->allocations[other])) {
                return false;
            }
        }
    }
    for (uint32_t i = 0; i < memory->component_count; i++) {
        if (!ranges_are_sound(memory, i)) {
            return false;
        }
    }
    return frames_are_sound(memory) && account_is_sound(memory);
}
