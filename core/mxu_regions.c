/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Slots of a component's MPU image, and the refill on a fault. tests/bounds/test_mxu_refill.py counts the
 * refill's instructions, so everything that can be decided before a fault is prepared.
 */
#include "core/mxu_regions.h"
#include "core/mxu_mpu.h"

_Static_assert(sizeof(struct mxu_node) == 72 && sizeof(struct mxu_range) == 24,
               "sizes stated in docs/design/mxu.md");
_Static_assert(sizeof(void *) != 4 || sizeof(struct mxu_regions) == 256,
               "sizes stated in docs/design/mxu.md");

static void empty_slot(struct mxu_regions *regions, uint32_t slot)
{
    regions->image[slot] = (struct mxu_slot){MXU_RBAR_VALID | slot, 0};
    regions->holder[slot] = 0;
}

void mxu_regions_flush(struct mxu_regions *regions)
{
    /* bound: MXU_MOST_REGIONS */
    for (uint32_t slot = regions->first_dynamic; slot < regions->count; slot++) {
        empty_slot(regions, slot);
    }
    (void)mxu_eviction_ring((enum mxu_policy)regions->policy, regions->first_dynamic,
                            mxu_regions_dynamic(regions), &regions->seed, regions->ring);
    regions->turn = 0;
    regions->repeats = 0;
    regions->watched = mxu_regions_dynamic(regions) == 1;
}

bool mxu_regions_init(struct mxu_regions *regions, uint32_t count, const struct mxu_slot *system,
                      uint32_t system_slots, enum mxu_policy policy, uint32_t seed)
{
    if (count > MXU_MOST_REGIONS || system_slots >= count || policy > MXU_BIT_PLRU || seed == 0) {
        return false;
    }
    *regions = (struct mxu_regions){
        .count = (uint8_t)count,
        .system = (uint8_t)system_slots,
        .first_dynamic = (uint8_t)system_slots,
        .policy = (uint8_t)policy,
        .seed = seed,
    };
    for (uint32_t slot = 0; slot < MXU_MOST_REGIONS; slot++) {
        empty_slot(regions, slot);
    }
    for (uint32_t slot = 0; slot < system_slots; slot++) {
        regions->image[slot].rbar |= system[slot].rbar;
        regions->image[slot].rasr = system[slot].rasr;
    }
    mxu_regions_flush(regions);
    return true;
}

/* Puts a range into a slot. */
static inline void load(struct mxu_regions *regions, struct mxu_range *range, uint32_t slot)
{
    regions->holder[slot] = range;
    range->slot = (uint8_t)slot;
    regions->image[slot].rbar = range->word[0] | slot;
    regions->image[slot].rasr = range->word[1];
}

enum mxu_status mxu_regions_pin(struct mxu_regions *regions, struct mxu_range *range)
{
    if (mxu_regions_dynamic(regions) == 1) {
        return MXU_EBUSY;
    }
    empty_slot(regions, regions->first_dynamic);
    load(regions, range, regions->first_dynamic);
    regions->first_dynamic++;
    mxu_regions_flush(regions);
    return MXU_OK;
}

void mxu_regions_forget(struct mxu_regions *regions, struct mxu_range *range)
{
    uint32_t last = regions->first_dynamic - 1u;
    uint32_t slot = range->slot;

    if (!mxu_regions_holds(regions, range)) {
        return;
    }
    empty_slot(regions, slot);
    if (slot <= last && regions->first_dynamic > 0) {
        if (slot != last) {
            load(regions, regions->holder[last], slot);
        }
        regions->first_dynamic = (uint8_t)last;
        mxu_regions_flush(regions);
    }
}

/* Whether one instruction keeps evicting a range that it needs itself, without an end. Not inlined: an
 * admitted component is never watched, and its refill bound excludes this check. */
__attribute__((noinline)) static bool is_livelock(struct mxu_regions *regions, uint32_t address, uint32_t pc)
{
    bool same = regions->fault_pc[1] == pc && regions->fault_address[1] == address;

    regions->repeats = same ? (uint8_t)(regions->repeats + 1u) : 0;
    regions->fault_pc[1] = regions->fault_pc[0];
    regions->fault_address[1] = regions->fault_address[0];
    regions->fault_pc[0] = pc;
    regions->fault_address[0] = address;
    return regions->repeats >= MXU_MOST_REPEATS;
}

/* Loads a range that is not loaded into the slot that is next in turn. */
static inline const struct mxu_slot *take_turn(struct mxu_regions *regions, struct mxu_range *range,
                                               uint32_t address, uint32_t pc)
{
    const struct mxu_turn *turn = &regions->ring[regions->turn];
    uint32_t slot = turn->slot;

    if (__builtin_expect(regions->watched, 0) && is_livelock(regions, address, pc)) {
        return 0;
    }
    regions->turn = turn->next;
    regions->refills++;
    load(regions, range, slot);
    return &regions->image[slot];
}

const struct mxu_slot *mxu_regions_refill(struct mxu_regions *regions, const struct mxu_trie *trie,
                                          uint32_t address, uint32_t pc)
{
    struct mxu_range *range = mxu_trie_find(trie, address);

    if (range == 0 || mxu_regions_holds(regions, range)) {
        return 0;
    }
    return take_turn(regions, range, address, pc);
}

const struct mxu_slot *mxu_regions_refill_fetch(struct mxu_regions *regions, const struct mxu_trie *trie,
                                                uint32_t pc)
{
    struct mxu_range *range = mxu_trie_find(trie, pc);

    if (range != 0 && mxu_regions_holds(regions, range) && range->last - pc < 2u && range->next != MXU_NONE) {
        struct mxu_range *next = &trie->ranges[range->next];

        range = next->first == range->last + 1u ? next : range;
    }
    if (range == 0 || mxu_regions_holds(regions, range)) {
        return 0;
    }
    return take_turn(regions, range, pc, pc);
}
