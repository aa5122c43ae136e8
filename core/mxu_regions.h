/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The MPU regions of one component (X4): an image of all slots, which the kernel loads at a switch; slots of
 * the system first, then static ones, then dynamic ones, which are a cache over the component's trie. The
 * handler of MemManage faults calls mxu_regions_refill(); the memory manager calls the others while the
 * component does not run. An image is one component's alone, so nobody else evicts its regions.
 *
 * The MPU does not say which regions are used: policies see misses only.
 */
#ifndef BULKHEAD_CORE_MXU_REGIONS_H
#define BULKHEAD_CORE_MXU_REGIONS_H

#include "core/mxu_eviction.h"
#include "core/mxu_trie.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MXU_MOST_REGIONS 8u

/* How often an instruction may take turns between the same two faults before it counts as a live-lock. */
#define MXU_MOST_REPEATS 8u

/* Registers of a slot, in the order in which they are stored. */
struct mxu_slot {
    uint32_t rbar; /* with VALID and the slot's number */
    uint32_t rasr;
};

/* 256 bytes where pointers have 4. */
struct mxu_regions {
    struct mxu_slot image[MXU_MOST_REGIONS]; /* first: the kernel loads it with multi-register instructions */
    struct mxu_range *holder[MXU_MOST_REGIONS]; /* of a slot, or null */
    uint8_t count;                              /* slots of the MPU */
    uint8_t system;                             /* slots 0 to system - 1 are the system's */
    uint8_t first_dynamic;                      /* static ones are before it */
    uint8_t policy;
    uint8_t turn;
    uint8_t watched; /* an instruction may need more slots than there are */
    uint8_t repeats; /* of the same two faults in turn; of the latest miss */
    uint8_t unused;
    uint32_t seed;
    uint32_t fault_pc[2]; /* of the two latest misses, if watched; the latest at [0] */
    uint32_t fault_address[2];
    uint32_t refills; /* modulo 2^32 */
    struct mxu_turn ring[MXU_RING_TURNS];
};

/* Why there was no refill. */
enum mxu_refusal {
    MXU_VIOLATION, /* no range there, or it is loaded and forbids the access */
    MXU_LIVELOCK,  /* an instruction needs two ranges at once, and there is one dynamic slot */
};

/* An image without static and dynamic ranges. `system` holds `system_slots` of them (code, timer). False if
 * no dynamic slot would be left, or the policy is none, or the seed is 0. */
bool mxu_regions_init(struct mxu_regions *regions, uint32_t count, const struct mxu_slot *system,
                      uint32_t system_slots, enum mxu_policy policy, uint32_t seed);

/* Makes a range static. MXU_EBUSY if no dynamic slot would be left: then nothing changes. All dynamic slots
 * are empty afterwards. */
enum mxu_status mxu_regions_pin(struct mxu_regions *regions, struct mxu_range *range);

/* Before a range is removed, split or changed: it is loaded nowhere afterwards. If it was static, its slot
 * becomes dynamic, and all of these are empty. */
void mxu_regions_forget(struct mxu_regions *regions, struct mxu_range *range);

/* Empties all dynamic slots: at the start of a job, so that it misses each range at most once as long as all
 * fit (core/mxu_misses.h); by an adversary in experiments. MXU_RANDOM draws a new ring. */
void mxu_regions_flush(struct mxu_regions *regions);

/* A fault of a load or store at `address` by the instruction at `pc`. The slot of the image that is new,
 * which the caller writes to the MPU before it returns to the instruction; null: mxu_regions_refusal().
 * Bounded: the look-up, and no loop beside it. */
const struct mxu_slot *mxu_regions_refill(struct mxu_regions *regions, const struct mxu_trie *trie,
                                          uint32_t address, uint32_t pc);

/* The same for a fault of an instruction fetch. An instruction of 4 bytes may lie in two ranges, of which the
 * first one is loaded: then it is the second that is missing. */
const struct mxu_slot *mxu_regions_refill_fetch(struct mxu_regions *regions, const struct mxu_trie *trie,
                                                uint32_t pc);

static inline enum mxu_refusal mxu_regions_refusal(const struct mxu_regions *regions)
{
    return regions->watched && regions->repeats >= MXU_MOST_REPEATS ? MXU_LIVELOCK : MXU_VIOLATION;
}

static inline bool mxu_regions_holds(const struct mxu_regions *regions, const struct mxu_range *range)
{
    return regions->holder[range->slot] == range;
}

static inline bool mxu_regions_pinned(const struct mxu_regions *regions, const struct mxu_range *range)
{
    return mxu_regions_holds(regions, range) && range->slot < regions->first_dynamic;
}

static inline uint32_t mxu_regions_dynamic(const struct mxu_regions *regions)
{
    return (uint32_t)regions->count - regions->first_dynamic;
}

#ifdef __cplusplus
}
#endif

#endif
