/* SPDX-License-Identifier: Apache-2.0
 *
 * Applies allocations in the kernel: each range of an allocation is one capability for its frames, which is
 * mapped in the component. Shared memory is retyped for the first component that attaches, and delegated to
 * the others.
 */
#include "microkernel/manager/manager.h"

#define BITS 32u

uint16_t slot_take(void)
{
    for (uint32_t slot = SLOTS_FREE; slot < MANAGER_SLOTS; slot++) {
        if ((books.taken[slot / BITS] >> slot % BITS & 1u) == 0) {
            books.taken[slot / BITS] |= 1u << slot % BITS;
            return (uint16_t)slot;
        }
    }
    return 0;
}

void slot_release(uint16_t slot)
{
    books.taken[slot / BITS] &= ~(1u << slot % BITS);
}

/* The slot of the same range in another component with the same shared memory, or 0. */
static uint16_t shared_slot(const struct mxu_allocation *allocation, uint32_t first)
{
    for (uint32_t i = 0; i < MOST_ALLOCATIONS && allocation->shared != MXU_NOT_SHARED; i++) {
        const struct mxu_allocation *other = &books.allocation[i];

        if (other != allocation && other->bytes != 0 && other->shared == allocation->shared) {
            int16_t range = mxu_trie_lookup(&books.component[other->component].trie, first);

            return range != MXU_NONE ? books.slot[other->component][range] : 0;
        }
    }
    return 0;
}

static enum sys_status get_frames(const struct mxu_allocation *allocation, const struct mxu_range *range,
                                  uint16_t slot)
{
    uint16_t source = shared_slot(allocation, range->first);

    if (source != 0) {
        return sys_do(SYS_DELEGATE, source, SLOT_COMPONENTS + MANAGER, RIGHTS_ALL, slot);
    }
    return sys_do(SYS_RETYPE, SLOT_UNTYPED, range->first, (range->last - range->first + 1u) | KIND_USER,
                  slot);
}

static bool apply_range(const struct mxu_allocation *allocation, int16_t number)
{
    const struct mxu_range *range = &books.component[allocation->component].trie.ranges[number];
    bool is_static =
        (allocation->spec & MXU_DETERMINISTIC) != 0 || allocation->answer.mechanism == MXU_BY_LOCKED_ENTRY;
    uint32_t place = allocation->answer.mechanism == MXU_BY_OCM          ? MAP_LOCAL
                     : allocation->answer.mechanism == MXU_BY_LOCKED_WAY ? MAP_WAY
                                                                         : 0u;
    uint16_t slot = slot_take();

    if (slot == 0) {
        return false;
    }
    if (get_frames(allocation, range, slot) != SYS_OK) {
        slot_release(slot);
        return false;
    }
    books.slot[allocation->component][number] = slot;
    return sys_do(SYS_MAP, slot, SLOT_COMPONENTS + allocation->component,
                  allocation->rights | (uint32_t)allocation->type << 8 |
                      ((is_static ? MAP_STATIC : 0u) | place) << 16,
                  0) == SYS_OK;
}

/* The first range of an allocation. */
static int16_t first_range(const struct mxu_allocation *allocation)
{
    return mxu_trie_lookup(&books.component[allocation->component].trie, allocation->first);
}

static bool is_of(const struct mxu_trie *trie, int16_t range, uint32_t number)
{
    return range != MXU_NONE && trie->ranges[range].allocation == number;
}

enum mxu_status withdraw_allocation(uint32_t number)
{
    const struct mxu_allocation *allocation = &books.allocation[number];
    const struct mxu_trie *trie = &books.component[allocation->component].trie;
    uint16_t *slots = books.slot[allocation->component];

    for (int16_t i = first_range(allocation); is_of(trie, i, number); i = trie->ranges[i].next) {
        if (slots[i] != 0 && sys_do(SYS_UNMAP, slots[i], 0, 0, 0) == SYS_EBUSY) {
            return MXU_EBUSY; /* a stack must be one range */
        }
    }
    for (int16_t i = first_range(allocation); is_of(trie, i, number); i = trie->ranges[i].next) {
        if (slots[i] != 0) {
            (void)sys_do(SYS_DELETE, slots[i], 0, 0, 0);
            slot_release(slots[i]);
            slots[i] = 0;
        }
    }
    return MXU_OK;
}

enum mxu_status apply_allocation(uint32_t number)
{
    const struct mxu_allocation *allocation = &books.allocation[number];
    const struct mxu_trie *trie = &books.component[allocation->component].trie;

    for (int16_t i = first_range(allocation); is_of(trie, i, number); i = trie->ranges[i].next) {
        if (!apply_range(allocation, i)) {
            (void)withdraw_allocation(number);
            return MXU_ENOMEM;
        }
    }
    return MXU_OK;
}

/* Kernel frames that a component needs for the largest number of ranges. */
static uint32_t kernel_frames(void)
{
    uint32_t bytes = MOST_RANGES * (uint32_t)(sizeof(struct mxu_range) + 4u * sizeof(struct mxu_node));

    return (bytes + (1u << books.frames.frame_bits) - 1u) >> books.frames.frame_bits;
}

bool give_frames(uint32_t component, enum sys_purpose purpose, uint32_t count)
{
    struct mxu_run *run = &books.kernel_run[component][purpose];
    uint16_t slot = slot_take();
    uint32_t first;

    if (slot == 0 || mxu_frames_find(&books.frames, count, 0, BITS, run) != MXU_OK) {
        return false;
    }
    first = books.frames.first + (run->at << books.frames.frame_bits);
    books.kernel_slot[component][purpose] = slot;
    return mxu_frames_claim(&books.frames, *run, MXU_FRAME_KERNEL) == MXU_OK &&
           sys_do(SYS_RETYPE, SLOT_UNTYPED, first, run->count << books.frames.frame_bits | KIND_KERNEL,
                  slot) == SYS_OK &&
           sys_do(SYS_GIVE, slot, SLOT_COMPONENTS + component, purpose, 0) == SYS_OK;
}

bool give_ranges(uint32_t component)
{
    return give_frames(component, GIVE_RANGES, kernel_frames());
}

void take_given(uint32_t component)
{
    for (uint32_t purpose = 0; purpose < GIVE_PURPOSES; purpose++) {
        uint16_t *slot = &books.kernel_slot[component][purpose];

        if (*slot != 0 && sys_do(SYS_DELETE, *slot, 0, 0, 0) == SYS_OK) {
            (void)mxu_frames_release(&books.frames, books.kernel_run[component][purpose]);
            slot_release(*slot);
            *slot = 0;
        }
    }
}
