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

#include "core/mxu_trie.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MXU_MOST_REGIONS 8u

enum mxu_policy {
    MXU_ROUND_ROBIN,
    MXU_RANDOM,   /* any dynamic slot but the one that was loaded last */
    MXU_BIT_PLRU, /* a bit a slot, set when it is loaded; the last one that is set clears all others */
};

/* How often the same two faults of one instruction may follow each other before it counts as a live-lock. */
#define MXU_MOST_REPEATS 8u

/* Registers of a slot, in the order in which they are stored. */
struct mxu_slot {
    uint32_t rbar; /* with VALID and the slot's number */
    uint32_t rasr;
};

struct mxu_regions {
    struct mxu_slot image[MXU_MOST_REGIONS]; /* first: the kernel loads it with multi-register instructions */
    int16_t range[MXU_MOST_REGIONS];         /* that a slot holds, or MXU_NONE */
    uint8_t count;                           /* slots of the MPU */
    uint8_t system;                          /* slots 0 to system - 1 are the system's */
    uint8_t first_dynamic;                   /* static ones are before it */
    uint8_t policy;
    uint8_t last;         /* slot that was loaded last */
    uint8_t repeats;      /* of the same two faults */
    uint8_t filled;       /* dynamic slots that were loaded since they were emptied; for MXU_RANDOM */
    uint8_t plru;         /* a bit for each slot */
    uint32_t random;      /* state of xorshift32, not 0 */
    uint32_t fault_pc[2]; /* of the two latest misses, the later one at [0] */
    uint32_t fault_address[2];
    uint32_t refills; /* since the start; wraps */
};

enum mxu_refill {
    MXU_REFILLED,
    MXU_VIOLATION, /* no range there, or it is loaded and forbids the access */
    MXU_LIVELOCK,  /* an instruction needs two ranges at once and there is one dynamic slot */
};

/* An image without static and dynamic ranges. `system` holds `system_slots` of them (code, timer). False if
 * no dynamic slot would be left, or the policy is none, or the seed is 0. */
bool mxu_regions_init(struct mxu_regions *regions, uint32_t count, const struct mxu_slot *system,
                      uint32_t system_slots, enum mxu_policy policy, uint32_t seed);

/* Makes a range of the trie static. MXU_EBUSY if no dynamic slot would be left: then nothing changes. All
 * dynamic slots are empty afterwards. */
enum mxu_status mxu_regions_pin(struct mxu_regions *regions, struct mxu_trie *trie, int16_t range);

/* Before a range is removed or changed: it is loaded nowhere afterwards, its static slot becomes dynamic. */
void mxu_regions_forget(struct mxu_regions *regions, struct mxu_trie *trie, int16_t range);

/* Empties all dynamic slots: at the start of a job, so that it misses each range at most once as long as all
 * fit (core/mxu_misses.h); by an adversary in experiments. */
void mxu_regions_flush(struct mxu_regions *regions, struct mxu_trie *trie);

/* A fault at `address` of the instruction at `pc`. MXU_REFILLED: image[*slot] is new, the caller writes it to
 * the MPU and returns to the instruction. Bounded: the look-up, and no loop beside it. */
enum mxu_refill mxu_regions_refill(struct mxu_regions *regions, struct mxu_trie *trie, uint32_t address,
                                   uint32_t pc, uint32_t *slot);

static inline uint32_t mxu_regions_dynamic(const struct mxu_regions *regions)
{
    return (uint32_t)regions->count - regions->first_dynamic;
}

#ifdef __cplusplus
}
#endif

#endif
