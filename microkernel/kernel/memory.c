/* SPDX-License-Identifier: Apache-2.0
 *
 * The holders of a frame (core/mxu_frames.h) are the capabilities that name it. A frame changes its kind only
 * after the last of them is deleted.
 */
#include "microkernel/kernel/memory.h"
#include "microkernel/kernel/arch.h"
#include "microkernel/kernel/cap.h"
#include "microkernel/kernel/clear.h"
#include "microkernel/kernel/life.h"
#include <stddef.h>

#define CLEARING 0xFEu /* in place of a component's number: being cleared */

/* Bytes for each range of a component: the range itself, and the most nodes that a range can need. */
#define BYTES_PER_RANGE (sizeof(struct mxu_range) + MXU_TRIE_NODES((size_t)1) * sizeof(struct mxu_node))

static bool run_of(const struct cap *memory, struct mxu_run *run)
{
    return mxu_frames_of(&kernel.frames, memory->first, memory->last - memory->first + 1u, run);
}

/* Clears the next part of new memory. */
static enum sys_status clear_on(struct cap *memory, bool *again)
{
    uint32_t done = memory->object * CLEARED_AT_ONCE;
    uint32_t left = memory->last - memory->first + 1u - done;

    clear_words(arch_memory(memory->first + done), left < CLEARED_AT_ONCE ? left : CLEARED_AT_ONCE);
    memory->object++;
    *again = left > CLEARED_AT_ONCE;
    if (!*again) {
        memory->object = 0;
        memory->mapped = NO_COMPONENT;
    }
    return SYS_OK;
}

/* The capability that an earlier pass of the same call has created in this slot, if there is one. */
static struct cap *find_begun(struct component *caller, uint32_t slot, uint32_t first, uint32_t last,
                              uint8_t kind)
{
    enum sys_status status;
    struct cap *cap = cap_find(caller, slot, CAP_MEMORY, 0, &status);

    return cap != 0 && cap->mapped == CLEARING && cap->first == first && cap->last == last &&
                   cap->kind == kind
               ? cap
               : 0;
}

enum sys_status memory_retype(struct component *caller, struct cap *untyped, uint32_t first, uint32_t bytes,
                              uint32_t slot, bool *again)
{
    uint8_t kind = (bytes & KIND_KERNEL) != 0 ? MXU_FRAME_KERNEL : MXU_FRAME_USER;
    uint32_t size = bytes & ~(uint32_t)KIND_KERNEL;
    enum sys_status status;
    struct mxu_run run;
    struct cap *memory;

    *again = false;
    if (size == 0 || first < untyped->first || first > untyped->last || size - 1u > untyped->last - first ||
        !mxu_frames_of(&kernel.frames, first, size, &run)) {
        return SYS_EINVAL;
    }
    memory = find_begun(caller, slot, first, first + (size - 1u), kind);
    if (memory != 0) {
        return clear_on(memory, again);
    }
    memory = cap_empty(caller, slot, &status);
    if (memory == 0) {
        return status;
    }
    if (mxu_frames_claim(&kernel.frames, run, (enum mxu_frame_kind)kind) != MXU_OK) {
        return SYS_EKIND;
    }
    cap_insert(memory, untyped,
               &(struct cap){.type = CAP_MEMORY,
                             .rights = MXU_READ | MXU_WRITE | MXU_EXECUTE,
                             .kind = kind,
                             .mapped = CLEARING,
                             .first = first,
                             .last = first + (size - 1u)});
    return clear_on(memory, again);
}

enum sys_status memory_map(struct cap *memory, uint32_t number, uint32_t rights, uint32_t type,
                           uint32_t flags)
{
    struct component *component = &kernel.component[number];
    enum sys_status status;
    enum mxu_status inserted;
    int16_t range;

    if (memory->kind != MXU_FRAME_USER) {
        return SYS_EKIND;
    }
    if (memory->mapped != NO_COMPONENT) {
        return SYS_EBUSY;
    }
    if ((memory->rights & rights) != rights) {
        return SYS_ERIGHTS;
    }
    if (component->is_dead) {
        return SYS_EDEAD;
    }
    if (!component->has_ranges) {
        return SYS_ENOMEM;
    }
    inserted = mxu_trie_insert(&component->trie, memory->first, memory->last, &range);
    if (inserted != MXU_OK) {
        return inserted == MXU_ENOMEM ? SYS_ENOMEM : inserted == MXU_EEXIST ? SYS_EEXIST : SYS_EINVAL;
    }
    status = arch_map(component, range, rights, type, flags);
    if (status != SYS_OK) {
        mxu_trie_remove(&component->trie, range);
        return status;
    }
    memory->mapped = (uint8_t)number;
    return SYS_OK;
}

/* The next living thread, starting with number `from`, whose stack is in the memory; null if there is
 * none. */
static struct thread *stack_in(const struct cap *memory, uint32_t from)
{
    for (uint32_t i = from; i < kernel.component_count; i++) {
        struct thread *thread = &kernel.thread[i];

        if (i == memory->mapped && thread->state != THREAD_DEAD && thread->state != THREAD_NEW &&
            thread->stack_first <= memory->last && thread->stack_last >= memory->first) {
            return thread;
        }
    }
    return 0;
}

static void unmap(struct cap *memory)
{
    struct component *component = &kernel.component[memory->mapped];
    int16_t range = mxu_trie_lookup(&component->trie, memory->first);

    arch_unmap(component, range);
    mxu_trie_remove(&component->trie, range);
    memory->mapped = NO_COMPONENT;
}

enum sys_status memory_unmap(struct cap *memory)
{
    if (memory->kind != MXU_FRAME_USER || memory->mapped >= kernel.component_count) {
        return SYS_EINVAL;
    }
    if (stack_in(memory, 0) != 0) {
        return SYS_EBUSY;
    }
    unmap(memory);
    return SYS_OK;
}

/* Gives memory for nodes and ranges: nodes first, then as many ranges as fit. */
static enum sys_status give_ranges(struct component *component, uint32_t first, uint32_t bytes)
{
    uint32_t most = bytes / (uint32_t)BYTES_PER_RANGE;
    struct mxu_node *nodes = arch_memory(first);
    size_t node_count;

    if (component->has_ranges) {
        return SYS_EBUSY;
    }
    if (most == 0) {
        return SYS_EINVAL;
    }
    if (most > MXU_TRIE_MAX_NODES / MXU_TRIE_NODES(1u)) {
        most = MXU_TRIE_MAX_NODES / MXU_TRIE_NODES(1u);
    }
    node_count = MXU_TRIE_NODES((size_t)most);
    mxu_trie_init(&component->trie, nodes, (uint16_t)node_count,
                  (struct mxu_range *)(void *)(nodes + node_count), (uint16_t)most, MXU_PLACE_PLAIN);
    component->has_ranges = 1;
    return SYS_OK;
}

enum sys_status memory_give(struct cap *memory, uint32_t number, uint32_t purpose)
{
    struct component *component = &kernel.component[number];
    enum sys_status status;

    if (memory->kind != MXU_FRAME_KERNEL) {
        return SYS_EKIND;
    }
    if (memory->mapped != NO_COMPONENT) {
        return SYS_EBUSY;
    }
    status = purpose == GIVE_RANGES ? give_ranges(component, memory->first, memory->last - memory->first + 1u)
                                    : arch_give_tables(component, purpose, memory->first, memory->last);
    if (status == SYS_OK) {
        memory->mapped = (uint8_t)number;
        memory->object = (uint16_t)purpose;
    }
    return status;
}

/* Whether the kernel no longer needs the frames: the component is dead and has no mappings. */
static bool is_unused(const struct cap *memory)
{
    const struct component *component;

    if (memory->mapped >= kernel.component_count) {
        return true;
    }
    component = &kernel.component[memory->mapped];
    return component->is_dead && (!component->has_ranges || component->trie.used_ranges == 0);
}

/* Takes back what the frames were given for; it has to be given again. */
static void return_given(const struct cap *memory)
{
    struct component *component = &kernel.component[memory->mapped];

    if (memory->object == GIVE_RANGES) {
        component->has_ranges = 0;
    } else {
        arch_take_tables(component);
    }
}

enum sys_status memory_withdraw(struct cap *memory)
{
    struct mxu_run run;

    if (memory->kind == MXU_FRAME_KERNEL) {
        if (!is_unused(memory)) {
            return SYS_EBUSY;
        }
        if (memory->mapped < kernel.component_count) {
            return_given(memory);
        }
    } else if (memory->mapped < kernel.component_count) {
        for (struct thread *thread = stack_in(memory, 0); thread != 0; thread = stack_in(memory, 0)) {
            thread->component->is_dead = 1;
            thread_end(thread);
        }
        unmap(memory);
    }
    if (run_of(memory, &run)) {
        (void)mxu_frames_release(&kernel.frames, run);
    }
    return SYS_OK;
}

enum sys_status memory_share(const struct cap *memory)
{
    struct mxu_run run;

    if (memory->kind != MXU_FRAME_USER || memory->mapped == CLEARING || !run_of(memory, &run)) {
        return SYS_EKIND;
    }
    return mxu_frames_share(&kernel.frames, run) == MXU_OK ? SYS_OK : SYS_EBUSY;
}
