/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The MPU regions of one component (X4): an image of all slots, which the kernel loads when it switches to
 * the component. The system's slots come first, then static ones, then dynamic ones, which are a cache of the
 * component's trie. The handler of MemManage faults calls mxu_regions_refill(); the memory manager calls the
 * other functions while the component does not run. An image belongs to one component, so no other component
 * evicts its regions.
 *
 * The MPU does not report which regions are used: policies see only misses.
 */
#ifndef BULKHEAD_CORE_MXU_REGIONS_H
#define BULKHEAD_CORE_MXU_REGIONS_H

#include "core/mxu_eviction.h"
#include "core/mxu_trie.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MXU_MOST_REGIONS 8u

/* How often an instruction may alternate between the same two faults before this counts as a live-lock. */
#define MXU_MOST_REPEATS 8u

/* Registers of a slot, in the order in which they are stored. */
struct mxu_slot {
    uint32_t rbar; /* with VALID set and the slot's number */
    uint32_t rasr;
};

/* 256 bytes if pointers have 4 bytes. */
struct mxu_regions {
    /* first member, because the kernel loads it with multi-register instructions */
    struct mxu_slot image[MXU_MOST_REGIONS];
    struct mxu_range *holder[MXU_MOST_REGIONS]; /* range in each slot, or null */
    uint8_t count;                              /* number of slots of the MPU */
    uint8_t system;                             /* number of the system's slots, 0 to system - 1 */
    uint8_t first_dynamic;                      /* first dynamic slot; static ones are before it */
    uint8_t policy;
    uint8_t turn;
    uint8_t watched; /* 1: an instruction may need more slots than there are */
    uint8_t repeats; /* number of times that the same two faults have alternated, up to the latest miss */
    uint8_t unused;
    uint32_t seed;
    uint32_t fault_pc[2]; /* of the two latest misses, if `watched`; the latest is at [0] */
    uint32_t fault_address[2];
    uint32_t refills; /* modulo 2^32 */
    struct mxu_turn ring[MXU_RING_TURNS];
};

/* Reason for a refused refill. */
enum mxu_refusal {
    MXU_VIOLATION, /* no range at the address, or it is loaded and forbids the access */
    MXU_LIVELOCK,  /* an instruction needs more ranges at once than the dynamic slots are certain to keep */
};

/* Initializes an image without static and dynamic ranges. `system` holds the `system_slots` slots of the
 * system (code, timer). Returns false if no dynamic slot would be left, the policy does not exist, or the
 * seed is 0. */
bool mxu_regions_init(struct mxu_regions *regions, uint32_t count, const struct mxu_slot *system,
                      uint32_t system_slots, enum mxu_policy policy, uint32_t seed);

/* Makes a range static. MXU_EBUSY, with nothing changed, if no dynamic slot would be left. On success all
 * dynamic slots are empty. */
enum mxu_status mxu_regions_pin(struct mxu_regions *regions, struct mxu_range *range);

/* Call this before a range is removed, split or changed: it removes the range from all slots. If it was
 * static, its slot becomes dynamic, and all dynamic slots are emptied. */
void mxu_regions_forget(struct mxu_regions *regions, struct mxu_range *range);

/* Empties all dynamic slots. Used at the start of a job, so that it misses each range at most once as long as
 * all fit (core/mxu_misses.h), and by an adversary in experiments. With MXU_RANDOM, a new ring is drawn. */
void mxu_regions_flush(struct mxu_regions *regions);

/* Handles a fault of a load or store at `address` by the instruction at `pc`. Returns the slot of the image
 * that has changed, which the caller writes to the MPU before it returns to the instruction; null if there is
 * no refill: mxu_regions_refusal() says why. Bounded: one look-up and no other loop. */
const struct mxu_slot *mxu_regions_refill(struct mxu_regions *regions, const struct mxu_trie *trie,
                                          uint32_t address, uint32_t pc);

/* The same for a fault of an instruction fetch. An instruction of 4 bytes may lie in two ranges; if the first
 * one is loaded, the second one is refilled. */
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
